package script_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/internal/hook/script"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestEachFileThatALineNamesIsPartOfItsIdentity, however it is spelled.
func TestEachFileThatALineNamesIsPartOfItsIdentity(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(dir, "hooks", "a.sh"), filepath.Join(dir, "b c.py"), filepath.Join(home, "h.sh"), filepath.Join(dir, "out.log")} {
		write(t, path, "one")
	}
	a, b, h := filepath.Join(dir, "hooks", "a.sh"), filepath.Join(dir, "b c.py"), filepath.Join(home, "h.sh")
	for line, want := range map[string][]string{
		`hooks/a.sh --x`:                                {a},
		`"$CLAUDE_PROJECT_DIR"/hooks/a.sh`:              {a},
		`"${CLAUDE_PROJECT_DIR}/hooks/a.sh" | tee -a x`: {a},
		`python3 'b c.py'`:                              {b},
		`python3 b\ c.py && ~/h.sh`:                     {b, h},
		`$HOME/h.sh`:                                    {h},
		`bash -c "hooks/a.sh; $HOME/h.sh"`:              {a, h},
		`cd hooks && ./a.sh`:                            {a},
		`X=$HOME/h.sh; sh "$X"`:                         {h},
		`if true; then echo $(cat hooks/a.sh); fi`:      {a},
		`sh < hooks/a.sh`:                               {a},
		`echo x >> out.log`:                             nil, // what is written is no script
		`echo "~/h.sh"`:                                 nil,
		`jq -r .tool_name`:                              nil,
	} {
		entries, _, problems := parse(t, "PreToolUse: [{hooks: [{command: "+quoted(line)+"}]}]")
		if len(entries) != 1 {
			t.Fatalf("%s: %+v", line, problems)
		}
		id, err := entries[0].Identify(dir, home, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range id.Files {
			got = append(got, f.Path)
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: files %q, want %q", line, got, want)
		}
	}
	entries, _, _ := parse(t, `pre_tool_call: [{command: "~/h.sh '$HOME' | x"}]`)
	if id, err := entries[0].Identify(dir, home, nil); err != nil || len(id.Files) != 1 {
		t.Errorf("a line of words: %+v, %v", id, err)
	}
}

// TestAnIdentityChangesWithAllThatItCovers.
func TestAnIdentityChangesWithAllThatItCovers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.sh")
	write(t, path, "one")
	hash := func(text string) string {
		t.Helper()
		entries, _, problems := parse(t, text)
		if len(entries) != 1 {
			t.Fatalf("%+v", problems)
		}
		id, err := entries[0].Identify(dir, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		return id.Hash
	}
	const base = `pre_tool_call: [{command: ./a.sh}]`
	was := hash(base)
	if hash(base) != was || hash(`pre_tool_call: [{command: ./a.sh, timeout: 3, matcher: x}]`) != was {
		t.Error("the identity is not the same")
	}
	for _, other := range []string{`post_tool_call: [{command: ./a.sh}]`, `pre_tool_call: [{command: ./a.sh x}]`, `pre_tool_call: [{command: ./a.sh, write: [/]}]`, `pre_tool_call: [{command: ./a.sh, read: [/]}]`, `pre_tool_call: [{hooks: [{command: ./a.sh}]}]`} {
		if hash(other) == was {
			t.Errorf("%s has the same identity", other)
		}
	}
	different := []string{base}
	for _, other := range []string{`read: ["."]`, `read: ["."], write: []`, `read: [a, b]`, `read: ["a, b"]`, `write: [a]`, `read: [a], write: [b]`} {
		different = append(different, `pre_tool_call: [{command: ./a.sh, `+other+`}]`)
	}
	for i, a := range different {
		for _, b := range different[:i] {
			if hash(a) == hash(b) {
				t.Errorf("%s has the identity of %s", a, b)
			}
		}
	}
	write(t, path, "two")
	if hash(base) == was {
		t.Error("a changed script has the same identity")
	}
}

// TestAConsentIsForOneKindOfHook: a command with the text of a prompt or of a request is something else.
func TestAConsentIsForOneKindOfHook(t *testing.T) {
	t.Parallel()
	for what, other := range map[string]string{
		`type: prompt, prompt: rm -r x`:              `command: "ask a model: rm -r x"`,
		`type: prompt, prompt: rm -r x, model: m`:    `command: "ask a model of m: rm -r x"`,
		`type: http, url: "https://example.org/a.b"`: `command: "POST https://example.org/a.b"`,
	} {
		consents := script.NewConsents(filepath.Join(t.TempDir(), "c.json"), nil)
		var ids []script.Identity
		for _, keys := range []string{what, other} {
			entries, _, problems := parse(t, "PreToolUse: [{hooks: [{"+keys+"}]}]")
			if len(entries) != 1 {
				t.Fatalf("%+v", problems)
			}
			id, err := entries[0].Identify(t.TempDir(), "", nil)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		if ids[0].Line != ids[1].Line {
			t.Fatalf("the lines differ: %q, %q", ids[0].Line, ids[1].Line)
		}
		if err := consents.Agree(t.Context(), "user", ids[0]); err != nil {
			t.Fatal(err)
		}
		if ok, err := consents.Has(ids[0]); !ok || err != nil {
			t.Errorf("%s: agreed %t, %v", what, ok, err)
		}
		if ok, _ := consents.Has(ids[1]); ok {
			t.Errorf("who agrees to %s agrees to %s", what, other)
		}
	}
}

// TestAConsentToAWebhookIsForWhatItIsTold: its address, events and matcher.
func TestAConsentToAWebhookIsForWhatItIsTold(t *testing.T) {
	t.Parallel()
	c := script.NewConsents(filepath.Join(t.TempDir(), "c.json"), nil)
	id := func(row string) script.Identity {
		t.Helper()
		_, hooks, problems := parse(t, "outbound: [{url: 'https://example.org/"+row+"}]")
		if len(hooks) != 1 {
			t.Fatalf("%+v", problems)
		}
		return hooks[0].Identity()
	}
	if err := c.Agree(t.Context(), "user", id("', events: [post_tool_call, on_session_end], matcher: terminal")); err != nil {
		t.Fatal(err)
	}
	for row, want := range map[string]bool{
		"', events: [on_session_end, post_tool_call], matcher: terminal, name: other": true,
		"', events: [post_tool_call, on_session_end], matcher: '*'":                   false,
		"', events: [post_tool_call, on_session_end], matcher: 'terminal|write_file'": false,
		"', events: [post_tool_call], matcher: terminal":                              false,
		"', matcher: terminal": false,
		"x', events: [post_tool_call, on_session_end], matcher: terminal": false,
	} {
		if ok, err := c.Has(id(row)); ok != want || err != nil {
			t.Errorf("%s: agreed %t, %v", row, ok, err)
		}
	}
}

// quoted is a text in YAML.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(s) + `"`
}

// TestConsentsThatAreNotUnderstoodAgreeToNothing, and are not overwritten.
func TestConsentsThatAreNotUnderstoodAgreeToNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "hook-consents.json")
	c := script.NewConsents(path, nil)
	entries, _, _ := parse(t, `pre_tool_call: [{command: "true"}, {command: "false"}]`)
	yes, _ := entries[0].Identify("/", "", nil)
	no, _ := entries[1].Identify("/", "", nil)
	if err := c.Agree(t.Context(), "user", yes); err != nil {
		t.Fatal(err)
	}
	has := func(c *script.Consents) bool { ok, _ := c.Has(yes); return ok }
	if ok, err := c.Has(no); !has(c) || !has(script.NewConsents(path, nil)) || ok || err != nil {
		t.Fatal("the consent is not as it was given")
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"cut":      string(good[:len(good)-5]),
		"changed":  strings.Replace(string(good), `"true"`, `"rm -rf ~"`, 1),
		"version":  strings.Replace(string(good), `"version": 1`, `"version": 2`, 1),
		"unknown":  strings.Replace(string(good), `"version": 1`, `"version": 1, "all": true`, 1),
		"form":     strings.Replace(string(good), `"line"`, `"form": "shell", "line"`, 1),
		"upstream": `{"approvals":[{"event":"pre_tool_call","command":"true"}]}`,
	} {
		write(t, path, bad)
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		c := script.NewConsents(path, nil)
		if _, err := c.Has(yes); has(c) || err == nil {
			t.Errorf("%s: it agrees, %v", name, err)
		}
		if err := c.Agree(t.Context(), "user", no); err == nil {
			t.Errorf("%s: it was overwritten", name)
		}
	}
	write(t, path, string(good))
	if err := os.Chmod(path, 0o622); err != nil {
		t.Fatal(err)
	}
	if has(script.NewConsents(path, nil)) {
		t.Error("a file that others can write agrees")
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if gone, err := c.Revoke(t.Context(), func(o script.Consent) bool { return o.Line == "true" }); err != nil || len(gone) != 1 || has(c) {
		t.Errorf("revoked %+v, %v", gone, err)
	}
}
