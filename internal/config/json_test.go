package config_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func TestConfigMayBeJSON(t *testing.T) {
	t.Parallel()
	h := setup(t, "{\n\t\"model\": {\"default\": \"box:m\"},\n\t\"providers\": {\"box\": {\"api\": \"http:\\/\\/127.0.0.1:9\\/v1\", \"api_key\": \"\\ud83d\\ude00\"}}\n}\n", "")
	c := load(h)
	box := c.Providers()["box"]
	if box.BaseURL != "http://127.0.0.1:9/v1" || box.APIKey.Reveal() != "😀" || c.Model().Default != "box:m" {
		t.Errorf("got %+v, %+v", box, c.Model())
	}
	if got := texts(c.Check()); len(got) > 0 {
		t.Errorf("problems %q", got)
	}
	for _, set := range [][2]string{
		{"agent.max_turns", "7"}, {"model.default", "box:other"}, {"providers.box.base_url", "http://127.0.0.1:10/v1"},
		{"display.skin", "mono"}, {"providers.new", "{base_url: http://127.0.0.1:11, models: {a: {context_length: 5}}}"}, {"toolsets", "[file, terminal]"},
	} {
		if _, err := load(h).Set(t.Context(), set[0], set[1]); err != nil {
			t.Fatalf("%s: %v", set[0], err)
		}
	}
	if _, err := load(h).Unset(t.Context(), "display.skin"); err != nil {
		t.Fatal(err)
	}
	if _, err := load(h).Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(h.Config())
	must(t, err)
	if !json.Valid(src) {
		t.Errorf("the file is no longer JSON:\n%s", src)
	}
	c = load(h)
	if c.Agent().MaxTurns != 7 || c.Model().Default != "box:other" || c.Providers()["box"].BaseURL != "http://127.0.0.1:10/v1" ||
		c.Providers()["new"].Models["a"].ContextLength != 5 || strings.Join(c.General().Toolsets, " ") != "file terminal" {
		t.Errorf("the file is\n%s", src)
	}
}

func TestABrokenJSONFileMayHoldACap(t *testing.T) {
	t.Parallel()
	h := setup(t, `{"model": {"default": "m"}}`, "")
	load(h) // keeps a copy
	must(t, os.WriteFile(h.Config(), []byte(`{"model": {"default": "m"}, "spend": {"per_day": 1}`), 0o600))
	if got := load(h).SpendProblems(); len(got) == 0 {
		t.Error("a turn may start although the cap is not read")
	}
}
