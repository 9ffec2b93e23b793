package config_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestAPIIsAnotherNameOfBaseURL(t *testing.T) {
	t.Parallel()
	h := setup(t, "providers:\n  openai:\n    api: http://127.0.0.1:9/v1 # here\n    api_key: k\n", "")
	c := load(h)
	if got := c.Providers()["openai"].BaseURL; got != "http://127.0.0.1:9/v1" {
		t.Errorf("base URL is %q", got)
	}
	if got := texts(c.Check()); len(got) > 0 {
		t.Errorf("problems %q", got)
	}
	for _, path := range []string{"base_url", "api"} {
		if e := c.EntriesBelow("providers", "openai", path); len(e) != 1 || e[0].Value != "http://127.0.0.1:9/v1" {
			t.Errorf("%s: %v", path, e)
		}
	}
	// A change keeps the name that the file uses, so that the other program reads it too.
	for i, key := range []string{"providers.openai.base_url", "providers.openai.api"} {
		want := []string{"http://127.0.0.1:10", "http://127.0.0.1:11"}[i]
		if _, err := c.Set(t.Context(), key, want); err != nil {
			t.Fatal(err)
		}
		src, err := os.ReadFile(h.Config())
		must(t, err)
		if want := "    api: " + want + " # here\n"; !strings.Contains(string(src), want) || strings.Contains(string(src), "base_url") {
			t.Errorf("%s: the file is\n%s", key, src)
		}
	}
	if _, err := c.Set(t.Context(), "providers.box.api", "http://127.0.0.1:12"); err != nil {
		t.Fatal(err)
	}
	if got := load(h).Providers()["box"].BaseURL; got != "http://127.0.0.1:12" {
		t.Errorf("base URL is %q", got)
	}
	if _, err := c.Unset(t.Context(), "providers.openai.base_url"); err != nil {
		t.Fatal(err)
	}
	if got := load(h).Providers()["openai"].BaseURL; got != "" {
		t.Errorf("base URL is %q after it was unset", got)
	}
}

// TestAnUnknownAddressIsAFault lists how people and other programs spell the address.
func TestAnUnknownAddressIsAFault(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"url", "URL", "baseUrl", "base-url", "base_ulr", "api_base", "apiBase", "openai_api_base", "endpoint", "api_endpoint", "host", "hostname",
		"options: {apiKey: k, baseURL: 127.0.0.1:9} #", "options: {base: [1, {endpoint: x}]} #", "settings: [{x: http://127.0.0.1:9}] #",
		"a: &a {b: &b {c: *a}} #", "server", "address", "addr", "uri", "api_url", "BASE_URL", "proxy", "domain", "gateway", "where: http://127.0.0.1:9 #",
	} {
		entry := "{api_key: k}"
		value := "127.0.0.1:9"
		lines := "    " + name + ": " + value + "\n"
		for section, text := range map[string]string{
			"providers.openai":     "providers:\n  openai:\n    api_key: k\n" + lines,
			"model":                "model:\n    api_key: k\n" + lines,
			"model_aliases.fast":   "model_aliases:\n  fast:\n    api_key: k\n" + lines,
			"auxiliary.vision":     "auxiliary:\n  vision:\n    api_key: k\n" + lines,
			"fallback_providers.1": "fallback_providers:\n  - " + entry + "\n  - api_key: k\n" + lines,
			"providers.old":        "custom_providers:\n  - name: old\n    api_key: k\n" + lines,
		} {
			c := load(setup(t, text, ""))
			faults := c.AddressFaults()
			if got := slices.Collect(maps.Keys(faults)); len(got) != 1 || got[0] != section {
				t.Errorf("%s in %s: faults %v", name, section, faults)
				continue
			}
			if msg := faults[section].Error(); !strings.Contains(msg, "base_url") || !strings.Contains(msg, section+".") {
				t.Errorf("%s in %s: %q does not name the field and the fix", name, section, msg)
			}
			if len(c.Warnings()) == 0 {
				t.Errorf("%s in %s: no warning at start", name, section)
			}
		}
	}
}

// TestAnAddressOfAModelIsAFault: the key of the entry would go to the entry's address.
func TestAnAddressOfAModelIsAFault(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"base_url: http://127.0.0.1:9", "api: 127.0.0.1:9", "options: {baseURL: x}"} {
		c := load(setup(t, "providers:\n  openai:\n    api_key: k\n    models: {m: {context_length: 9, "+field+"}}\n", ""))
		if faults := c.AddressFaults(); len(faults) != 1 || faults["providers.openai"] == nil {
			t.Errorf("%s: faults %v", field, faults)
		}
	}
}

func TestAnAddressThatIsNotClearIsAFault(t *testing.T) {
	t.Parallel()
	for name, fields := range map[string]string{
		"two values": "base_url: http://a\n    api: http://b", "a list": "base_url: [http://a]", "a section": "api: {url: http://a}",
	} {
		c := load(setup(t, "providers:\n  openai:\n    api_key: k\n    "+fields+"\n", ""))
		if c.AddressFaults()["providers.openai"] == nil {
			t.Errorf("%s: no fault", name)
		}
		if len(c.Warnings()) == 0 {
			t.Errorf("%s: no warning", name)
		}
	}
}

// TestSomethingElseInPlaceOfAnEntryIsAFault: what it says is ignored, so the key would
// go to the address that the service has otherwise.
func TestSomethingElseInPlaceOfAnEntryIsAFault(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`providers: {openai: "http://127.0.0.1:9/v1"}`:                            "providers.openai",
		`providers: {openai: [{base_url: "http://127.0.0.1:9", api_key: k}]}`:     "providers.openai",
		`providers: [{name: openai, base_url: "http://127.0.0.1:9", api_key: k}]`: "providers",
		`providers: "http://127.0.0.1:9"`:                                         "providers",
		`model: [{base_url: "http://127.0.0.1:9"}]`:                               "model",
		`auxiliary: {vision: ["http://127.0.0.1:9"]}`:                             "auxiliary.vision",
	} {
		faults := load(setup(t, text+"\n", "")).AddressFaults()
		if err := faults[want]; len(faults) != 1 || err == nil || !strings.Contains(err.Error(), "hermes config set "+want+" ") {
			t.Errorf("%s: faults %v", text, faults)
		}
	}
	for _, text := range []string{"providers: null", "providers: []", "providers: 5", "model: 5", "model: []", "base_url: x", "providers: {openai: null}", "model: openai:gpt-5", "providers: {openai: {models: [m]}}", "auxiliary: {}"} {
		if faults := load(setup(t, text+"\n", "")).AddressFaults(); len(faults) > 0 {
			t.Errorf("%s: faults %v", text, faults)
		}
	}
}

func TestOtherFieldsAreNoAddress(t *testing.T) {
	t.Parallel()
	c := load(setup(t, `model: {api_mode: chat_completions, openai_runtime: x, baseline: 3}
providers:
  openai: {api: "http://a", base_url: "http://a", api_key: k, key_env: V, api_version: "2024", api_type: azure, base_model: m, api_key_name: n, url: null, host: ""}
  box: {default_model: m, note: text, options: {apiKey: k, timeout: 3, headers: {a: b}, base: 3}, models: {m: {cost: {input: "3"}}}}
auxiliary: {vision: {api_key: k, download_timeout: 3}}
`, ""))
	if got := c.AddressFaults(); len(got) > 0 {
		t.Errorf("faults %v", got)
	}
	if c.Broken() {
		t.Error("the file is broken")
	}
}
