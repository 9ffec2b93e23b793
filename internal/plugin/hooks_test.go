package plugin_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/hook"
	"hermes/internal/plugin"
)

// before has the hooks of the plugins look at a call, as a session does. It returns the call as
// they left it, and the text of a refusal.
func (f *fixture) before(h *host, tool, arguments string) (c *hermes.Call, refused string) {
	f.t.Helper()
	c = &hermes.Call{ID: "c", Name: tool, Arguments: json.RawMessage(arguments), Host: h}
	c, r := hook.New(nil, f.all.Hooks()...).BeforeTool(f.t.Context(), c, func(a json.RawMessage) (json.RawMessage, error) {
		if !json.Valid(a) {
			return nil, errors.New("no JSON")
		}
		return a, nil
	})
	if r != nil {
		refused = r.Text
	}
	return c, refused
}

func TestAHookBlocksChangesAndHasTheUserAsked(t *testing.T) {
	t.Parallel()
	f := begin(t, "plain")
	if _, why := f.before(&host{}, "terminal", `{"command":"forbidden"}`); !strings.Contains(why, "the plugin test refuses it: that word is forbidden") {
		t.Error("block:", why)
	}
	if c, why := f.before(&host{}, "terminal", `{"command":"typo"}`); why != "" || string(c.Arguments) != `{"command":"type"}` {
		t.Error("modify:", string(c.Arguments), why)
	}
	if c, why := f.before(&host{}, "read_file", `{"path":"forbidden"}`); why != "" || c.Asks != "" {
		t.Error("another tool:", why)
	}
	if c, why := f.before(&host{}, "write_file", `{"path":"careful"}`); why != "" || c.Asks != "the plugin test wants you to look at it: careful was said" {
		t.Error("approve:", c.Asks, why)
	}
}

// TestAGuardThatFailsRefuses: its program is lost, answers what no one knows, or cannot be used.
func TestAGuardThatFailsRefuses(t *testing.T) {
	t.Parallel()
	lost := begin(t, "lost-guard")
	odd := begin(t, "plain")
	changed := begin(t, "plain")
	changed.put("new.txt", "")
	reloaded := begin(t, "plain")
	reloaded.put("new.txt", "")
	reloaded.load()
	gone := begin(t, "plain")
	if err := os.RemoveAll(filepath.Join(gone.folder, "test")); err != nil {
		t.Fatal(err)
	}
	gone.load()
	for name, f := range map[string]*fixture{"lost": lost, "odd": odd, "changed": changed, "reloaded": reloaded, "gone": gone} {
		if _, why := f.before(&host{}, "terminal", `{"command":"odd"}`); !strings.Contains(why, "since a guard failed") {
			t.Errorf("%s: %s", name, why)
		}
	}
	if len(reloaded.all.Toolsets()) > 0 || slices.ContainsFunc(reloaded.all.Hooks(), func(h hermes.Hook) bool { return !h.Guard }) {
		t.Error("a plugin that has changed does more than refuse")
	}
}

// TestGuardsRefuseIfPinsCannotBeRead: a pin that is damaged costs its plugin only, and enabling that
// repairs it; a file that cannot be read has every call refused.
func TestGuardsRefuseIfPinsCannotBeRead(t *testing.T) {
	t.Parallel()
	f := begin(t, "plain")
	file := filepath.Join(f.folder, ".enabled.json")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other := func(pin string) {
		write(strings.Replace(string(good), `"plugins": {`, `"plugins": {"other": `+pin+`,`, 1))
	}

	other(`{"digest": 5}`)
	if f.load(); f.err != nil || len(f.all.Toolsets()) != 1 {
		t.Error("the pin of a plugin that is not enabled:", f.err)
	}
	for pin, refuses := range map[string]bool{
		`{"digest": 5}`: true, `null`: true,
		`{"digest": "x", "offer": {"tools": [{"name": "A B"}]}}`:                                                       false,
		`{"digest": "x", "offer": {"tools": [{"name": "A B"}], "hooks": [{"event": "pre_tool_call", "guard": true}]}}`: true,
	} {
		other(pin)
		all, err := plugin.New(f.config, f.folder, []string{"other", "test"}, nil)
		if f.all = all; err == nil || !strings.Contains(err.Error(), "hermes plugins enable other") || len(all.Toolsets()) != 1 {
			t.Errorf("%s: %v", pin, err)
		}
		if _, why := f.before(&host{}, "read_file", `{}`); strings.Contains(why, "hermes plugins enable other") != refuses {
			t.Errorf("%s: refused with %q", pin, why)
		}
		_ = all.Close() // it has no error
	}

	other(`{"digest": 5}`)
	f.enable()
	if data, err := os.ReadFile(file); err != nil || !strings.Contains(string(data), `"other"`) {
		t.Error("enabling one plugin drops the damaged pin of another:", err)
	}
	write(string(good[:len(good)/2]))
	if f.load(); f.err == nil {
		t.Error("half a file is read")
	}
	if _, why := f.before(&host{}, "read_file", `{}`); !strings.Contains(why, "since a guard failed") || !strings.Contains(why, "remove it and enable your plugins again") {
		t.Error("half a file:", why)
	}
	write(strings.Replace(string(good), `"digest": "`, `"digest": 1, "x": "`, 1))
	f.enable()
	if f.load(); f.err != nil || len(f.all.Toolsets()) != 1 {
		t.Error("enabled again:", f.err)
	}
}

// TestTheTextOfARefusalIsThePlugins: it is marked as other text of the plugin is, whether it refuses or
// fails as a guard, whose program may say anything as it ends.
func TestTheTextOfARefusalIsThePlugins(t *testing.T) {
	t.Parallel()
	for kind, arguments := range map[string]string{"plain": `{"command":"forbidden"}`, "lost-guard": `{}`} {
		f := begin(t, kind)
		call := &hermes.Call{ID: "c", Name: "terminal", Arguments: json.RawMessage(arguments), Host: &host{}}
		_, r := hook.New(nil, f.all.Hooks()...).BeforeTool(t.Context(), call, func(a json.RawMessage) (json.RawMessage, error) { return a, nil })
		if r == nil || !r.Failed || r.Provenance != "plugin test" {
			t.Errorf("%s: %+v", kind, r)
		}
	}
}

func TestAHookAddsToAMessageAndChangesAResult(t *testing.T) {
	t.Parallel()
	f := begin(t, "plain")
	hooks := hook.New(nil, f.all.Hooks()...)
	parts, err := hooks.TurnStart(t.Context(), hermes.SessionRef{ID: "s"}, hermes.Message{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "go"}}})
	if err != nil || len(parts) != 1 || parts[0].Text != "[From the plugin test, not from the user]\nThe weather is fine, go" || parts[0].Provenance != "plugin test" {
		t.Errorf("%+v %v", parts, err)
	}
	r := hermes.Result{Text: "quiet", Provenance: "read_file a"}
	r = hooks.AfterTool(t.Context(), &hermes.Call{Name: "read_file", Arguments: json.RawMessage(`{}`), Host: &host{}}, r, func(_, now hermes.Result) hermes.Result { return now })
	if r.Text != "QUIET" || !strings.Contains(r.Provenance, "plugin test") {
		t.Errorf("%+v", r)
	}
}

func TestManifestsAreRead(t *testing.T) {
	t.Parallel()
	m, notes, err := plugin.ParseManifest([]byte("name: a\nprogram: [python3, ./main.py]\nkinds: [tools, platform]\nflavour: mild\ncapabilities:\n  hosts: [api.example.org]\n  secrets: [{name: A_KEY, hosts: [\"api.example.org:443\"]}]\n  spoon: x\n"))
	if err != nil || m.Timeouts.Call != 300 || len(notes) != 3 || !strings.Contains(notes[0], "flavour") || !strings.Contains(notes[1], "spoon") || !strings.Contains(notes[2], "platform") {
		t.Error(m, notes, err)
	}
	for text, want := range map[string]string{
		"name: A\nprogram: [x]\nkinds: [tools]":                                                              "name",
		"name: ..\nprogram: [x]\nkinds: [tools]":                                                             "name",
		"name: a\nkinds: [tools]":                                                                            "program",
		"name: a\nprogram: [x]":                                                                              "kinds",
		"name: a\nprogram: [x]\nkinds: [spells]":                                                             "not known",
		"name: a\nprogram: [./../x]\nkinds: [tools]":                                                         "not in the folder",
		"name: a\nprogram: [/bin/sh]\nkinds: [tools]":                                                        "neither a file",
		"name: a\nprotocol: 2\nprogram: [x]\nkinds: [tools]":                                                 "update Hermes",
		"name: a\nprogram: [x]\nkinds: [tools]\ncapabilities: {read: [notes]}":                               "not absolute",
		"name: a\nprogram: [x]\nkinds: [tools]\ncapabilities: {hosts: [\"*\"]}":                              "not a name",
		"name: a\nprogram: [x]\nkinds: [tools]\ncapabilities: {secrets: [{name: A}]}":                        "names no hosts",
		"name: a\nprogram: [x]\nkinds: [tools]\ncapabilities: {secrets: [{name: A, hosts: [evil.example]}]}": "not among the hosts",
		"name: a\nprogram: [x]\nkinds: [tools]\ncapabilities: {tools: [\"a\\n  reaches nothing\"]}":          "not the name of a tool",
		"name: a\nprogram: [x]\nkinds: [tools]\ntimeouts: {call: 99999}":                                     "at most 3600",
		"name: a\nprogram: [x]\nkinds: [tools]\ncapabilities: {complete: {max_tokens: 99999}}":               "at most 8192",
		"name: a\nprogram: [x]\nkinds: [tools]\ndescription: " + strings.Repeat("x", 70_000):                 "larger than",
	} {
		if _, _, err := plugin.ParseManifest([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, want %q", text, err, want)
		}
	}
}

// TestALinkOutOfThePluginIsRefused: what it leads to could change unnoticed.
func TestALinkOutOfThePluginIsRefused(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"/etc/hosts", "../../x"} {
		dir := t.TempDir()
		if err := os.Symlink(to, filepath.Join(dir, "link")); err != nil {
			t.Skip(err)
		}
		if d, err := plugin.Digest(dir); err == nil {
			t.Error(to, d)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	without, _ := plugin.Digest(dir)
	if err := os.Symlink("a", filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	if with, err := plugin.Digest(dir); err != nil || with == without {
		t.Error(with, err)
	}
}
