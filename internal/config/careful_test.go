package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/config"
	"hermes/internal/home"
)

// managed loads a home below an administrator's file.
func managed(t *testing.T, h home.Dir, yaml string) *config.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "managed.yaml")
	must(t, os.WriteFile(path, []byte(yaml), 0o600))
	return config.Load(h, config.Options{Managed: path, LookupEnv: func(string) (string, bool) { return "", false }})
}

// TestInvalidValueIsCareful has a mistake in the administrator's file over a value of the user
// that is less careful: the default is used.
func TestInvalidValueIsCareful(t *testing.T) {
	t.Parallel()
	h := setup(t, "approvals: {mode: off, deny: [one]}\nsecurity: {redact_secrets: false, allow_private_urls: true}\nagent: {max_turns: 7}\n", "")
	c := managed(t, h, "approvals: {mode: manul, deny: {two: true}}\nsecurity: {redact_secrets: yess, allow_private_urls: nope, unknown: 1}\nagent: {max_turns: lots}\n")
	a, s := c.Approvals(), c.Security()
	got := []any{a.Mode, a.Deny, s.RedactSecrets, s.AllowPrivateURLs, c.Agent().MaxTurns}
	want := []any{"smart", []string{"one"}, true, false, config.Limit(7)}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, p := range c.Warnings() {
		if strings.HasSuffix(p.File, "managed.yaml") && !strings.Contains(p.Do, "administrator") {
			t.Errorf("the user cannot do this: %s", p)
		}
	}
	if n := len(c.Warnings()); n != 6 {
		t.Errorf("%d warnings: %q", n, texts(c.Warnings()))
	}
}

// TestUnknownKeysOfCarefulSectionsAreShown has them reported at every start, and elsewhere only
// by Check.
func TestUnknownKeysOfCarefulSectionsAreShown(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"approvals: {denny: [x]}":           "approvals.denny is not a known setting; it has no effect. Remove it with `hermes config unset approvals.denny`. Did you mean approvals.deny?",
		"security: {website: {}}":           "security.website is not a known setting; it has no effect. Remove it with `hermes config unset security.website`.",
		"privacy: {pii: 1}":                 "privacy.pii is not a known setting; it has no effect. Remove it with `hermes config unset privacy.pii`.",
		"secruity: {redact_secrets: false}": "secruity is not a known setting; it has no effect. Remove it with `hermes config unset secruity`. Did you mean security?",
		"agent: {max_turnz: 1}":             "",
		"colour: red":                       "",
	} {
		got := strings.TrimPrefix(strings.Join(texts(load(setup(t, yaml+"\n", "")).Warnings()), "\n"), "config.yaml, line 1: ")
		if got != want {
			t.Errorf("%s: got %q, want %q", yaml, got, want)
		}
	}
}

// TestBrokenFileAndItsSpendCaps has a file that cannot be read. The caps of the copy hold; it
// counts as a problem only if the broken file has others.
func TestBrokenFileAndItsSpendCaps(t *testing.T) {
	t.Parallel()
	const caps = "spend:\n  # a comment\n  day: {usd: 5}\n"
	for name, tt := range map[string]struct {
		good, broken string
		unclear      bool
	}{
		"no caps at all":         {"agent: {max_turns: 3}\n", "agent: [\n", false},
		"the same caps":          {caps + "agent: {max_turns: 3}\n", caps + "agent: [\n", false},
		"other caps":             {caps, strings.ReplaceAll(caps, "5", "2") + "agent: [\n", true},
		"new caps":               {"agent: {max_turns: 3}\n", caps + "agent: [\n", true},
		"misspelt":               {"agent: {max_turns: 3}\n", "spned: {day: {usd: 5}}\nagent: [\n", true},
		"quoted":                 {"agent: {max_turns: 3}\n", "\"spend\": {day: {usd: 5}}\nagent: [\n", true},
		"removed":                {caps, "agent: [\n", true},
		"no copy, no caps":       {"", "agent: [\n", false},
		"no copy, but caps":      {"", caps + "agent: [\n", true},
		"the caps are the fault": {caps, "spend:\n  day: {usd: 5\n", true},
	} {
		h := setup(t, tt.good, "")
		if c := load(h); len(c.SpendProblems()) > 0 {
			t.Fatalf("%s: %q", name, texts(c.SpendProblems()))
		}
		must(t, os.WriteFile(h.Config(), []byte(tt.broken), 0o600))
		must(t, os.Chtimes(h.Config(), time.Time{}, time.Unix(1, 0)))
		c := load(h)
		if got := len(c.SpendProblems()) > 0; got != tt.unclear || !c.Broken() {
			t.Errorf("%s: unclear %v, want %v: %q", name, got, tt.unclear, texts(c.SpendProblems()))
		}
	}
	c := managed(t, setup(t, "", ""), "spend: {day: {usd: 5}\n")
	if len(c.SpendProblems()) != 1 {
		t.Errorf("the administrator's file: %q", texts(c.SpendProblems()))
	}
}

// TestSetRefusesMistakesInCarefulSections has values that Set would save elsewhere.
func TestSetRefusesMistakesInCarefulSections(t *testing.T) {
	t.Parallel()
	h := setup(t, "approvals: {mdoe: off}\n", "")
	c := load(h)
	for key, text := range map[string]string{
		"approvals.modus": "off", "security.website": "x", "privacy.pii": "true", "spend.per_session": "5", "spend.day": "{euro: 5}",
		"approvals.deny": "{rm: true}", "security.website_blocklist": "{enabled: soon}", "spend.prices.m": "{input: 1}",
	} {
		if change, err := c.Set(t.Context(), key, text); err == nil {
			t.Errorf("%s: %s was saved: %v", key, text, change)
		}
	}
	for key, text := range map[string]string{
		"approvals.mode": "manual", "security.website_blocklist": "{enabled: true}", "privacy.redact_pii": "true", "spend.day": "{usd: 5, tokens: 10}",
		"spend.prices.m": "{input: 1, output: 2}", "approvals.deny": "[one, two]", "colour": "red",
	} {
		if _, err := c.Set(t.Context(), key, text); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if _, err := c.Unset(t.Context(), "approvals.mdoe"); err != nil {
		t.Error(err)
	}
	if problems := load(h).SpendProblems(); len(problems) > 0 {
		t.Errorf("got %q", texts(problems))
	}
}

// TestWrongRoutingIsStrict has values of provider_routing that cannot be read: the stricter one
// counts, and the file is named as its source.
func TestWrongRoutingIsStrict(t *testing.T) {
	t.Parallel()
	c := load(setup(t, "provider_routing: {data_collection: denny, zdr: yess, allow_fallbacks: nope, require_parameters: maybe}\n", ""))
	got := map[string]any{}
	for _, e := range c.EntriesBelow("provider_routing") {
		if e.Line == 1 {
			got[e.Key] = e.Value
		}
	}
	want := map[string]any{
		"provider_routing.data_collection": "deny", "provider_routing.zdr": true,
		"provider_routing.allow_fallbacks": false, "provider_routing.require_parameters": true,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestDenyIsNotSwitchedOff: what the user forbids is never left out because it is written wrongly.
func TestDenyIsNotSwitchedOff(t *testing.T) {
	for text, unclear := range map[string]bool{
		"approvals: {deny: ['rm *']}": false,
		"approvals: {deny: {a: rm}}":  true,
		"approvals: {deni: ['rm *']}": true,
		"approvels: {deny: ['rm *']}": true,
		"approvals: ['rm *']":         true,
		"approvals: {timeout: soon}":  false,
		"display: {compact: maybe}":   false,
	} {
		if fault := load(setup(t, text+"\n", "")).DenyFault(); (fault != nil) != unclear {
			t.Errorf("%s: %v", text, fault)
		}
	}
}

// TestARestrictionIsNotMisspelt at any place of its path.
func TestARestrictionIsNotMisspelt(t *testing.T) {
	for text, unclear := range map[string]bool{
		"security: {egress: {allow: [a.example]}}":   false,
		"security: {egress: {allow: {a: b}}}":        true,
		"security: {egress: {alow: [a.example]}}":    true,
		"security: {egres: {deny: [a.example]}}":     true,
		"securty: {egress: {deny: [a.example]}}":     true,
		"security: [a.example]":                      true,
		"security: {website_blocklist: {domain: x}}": false,
	} {
		if fault := load(setup(t, text+"\n", "")).RestrictionFault("security", "egress"); (fault != nil) != unclear {
			t.Errorf("%s: %v", text, fault)
		}
	}
}

// TestSettingsThatCannotBeReadAllowNothing: a command that closes the file and its copies must not
// get the built-in defaults in the place of what the user forbids.
func TestSettingsThatCannotBeReadAllowNothing(t *testing.T) {
	h := setup(t, "", "")
	must(t, os.Mkdir(h.Config(), 0o700)) // a folder cannot be read, by root neither
	if load(h).DenyFault() == nil {
		t.Error("a turn would start")
	}
}
