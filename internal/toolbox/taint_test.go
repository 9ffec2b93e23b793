package toolbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/hook"
	"hermes/internal/permission"
	"hermes/internal/toolbox"
)

// diary makes persistent changes, except in calls that read. It records what it did.
func diary(did *[]string, canPropose bool) hermes.Tool {
	return tool{
		spec: hermes.Spec{Name: "diary", Trusted: true, CanPropose: canPropose, Persists: func(arguments json.RawMessage) string {
			if strings.Contains(string(arguments), "read") {
				return ""
			}
			return "memory"
		}},
		run: func(_ context.Context, c *hermes.Call) (hermes.Result, error) {
			what := "wrote"
			if c.Propose {
				what = "proposed"
			}
			*did = append(*did, what)
			return hermes.Result{Text: what}, nil
		},
	}
}

func TestPersistentChangesNeedApprovalAfterUntrustedText(t *testing.T) {
	t.Parallel()
	const add = `{"action":"add","text":"x"}`
	for _, tt := range []struct {
		name       string
		mode       toolbox.Mode
		allowed    []string
		stored     bool // a grant for good is in the file
		provenance string
		call       string
		keeps      bool // the tool cannot propose
		answers    []hermes.Decision
		asks       int
		did        string
		text       string
	}{
		{name: "a clean session", call: add, did: "wrote"},
		{name: "reading is never asked about", provenance: "a", call: `{"action":"read"}`, did: "wrote"},
		{name: "the user allows it", provenance: "a", call: add, answers: []hermes.Decision{hermes.AllowOnce}, asks: 1, did: "wrote"},
		{name: "the user refuses", provenance: "a", call: add, answers: []hermes.Decision{hermes.Deny}, asks: 1, text: "did NOT consent"},
		{name: "no user attends", provenance: "a", call: add, answers: []hermes.Decision{hermes.Unattended}, asks: 1, did: "proposed"},
		{name: "no answer comes", provenance: "a", call: add, answers: []hermes.Decision{hermes.TimedOut}, asks: 1, did: "proposed"},
		{name: "no user attends and it cannot be proposed", provenance: "a", call: add, keeps: true, answers: []hermes.Decision{hermes.Unattended}, asks: 1, text: "BLOCKED"},
		{name: "yolo, and the user allows it", mode: toolbox.ModeOff, provenance: "a", call: add, answers: []hermes.Decision{hermes.AllowOnce}, asks: 1, did: "wrote"},
		{name: "yolo, and the user refuses", mode: toolbox.ModeOff, provenance: "a", call: add, answers: []hermes.Decision{hermes.Deny}, asks: 1, text: "did NOT consent"},
		{name: "yolo without a user", mode: toolbox.ModeOff, provenance: "a", call: add, answers: []hermes.Decision{hermes.Unattended}, asks: 1, did: "proposed"},
		{name: "yolo in a clean session", mode: toolbox.ModeOff, call: add, did: "wrote"},
		{name: "a key of the settings", allowed: []string{"taint:memory"}, provenance: "a", call: add, asks: 1, text: "BLOCKED"},
		{name: "a stored grant", stored: true, provenance: "a", call: add, asks: 1, text: "BLOCKED"},
		{name: "a stored grant in yolo", mode: toolbox.ModeOff, stored: true, provenance: "a", call: add, asks: 1, text: "BLOCKED"},
	} {
		var did []string
		h := &host{answers: tt.answers, provenance: tt.provenance}
		rules := toolbox.Approvals{Mode: tt.mode, Allowed: tt.allowed}
		if tt.stored {
			file := permission.New(filepath.Join(t.TempDir(), permission.Name), nil, nil)
			if err := file.Add(t.Context(), hermes.Grant{Tool: "diary", Key: "taint:memory", Unattended: true}); err != nil {
				t.Fatal(err)
			}
			rules.Grants = file
		}
		tools := mustToolbox(t, toolbox.Options{Approvals: rules}, diary(&did, !tt.keeps))
		r := tools.Run(t.Context(), &hermes.Call{ID: "c", Name: "diary", Arguments: json.RawMessage(tt.call), Host: h})
		if got := strings.Join(did, " "); got != tt.did || len(h.asked) != tt.asks || !strings.Contains(r.Text, tt.text) {
			t.Errorf("%s: did %q, asked %d times: %s", tt.name, got, len(h.asked), r.Text)
		}
	}
}

// TestChangesOfHermesItselfAskAfterUntrustedText: a command or file that changes Hermes itself is
// asked in a tainted session whatever the mode, the settings and the grants say. Other risks are not.
func TestChangesOfHermesItselfAskAfterUntrustedText(t *testing.T) {
	t.Parallel()
	for key, asks := range map[string]int{"write-hermes": 1, "self-config": 1, "path:own-memory": 1, "own-file": 1, "runs-later": 1, "write-shell-start": 1, "path:tool-config": 1, "git-config": 1, "write-git-hooks": 1, "write-env-file": 1, "shadow-program": 1, "path:system-program": 1, "git-exec": 0, "recursive-delete": 0} {
		for _, provenance := range []string{"", "read_file notes.md"} {
			want := asks
			if provenance == "" {
				want = 0
			}
			file := permission.New(filepath.Join(t.TempDir(), permission.Name), nil, nil)
			if err := file.Add(t.Context(), hermes.Grant{Tool: "terminal", Key: key}); err != nil {
				t.Fatal(err)
			}
			for name, rules := range map[string]toolbox.Approvals{"yolo": {Mode: toolbox.ModeOff}, "the settings": {Allowed: []string{key}}, "a grant": {Grants: file}} {
				ran := 0
				h := &host{provenance: provenance, answers: []hermes.Decision{hermes.Deny}}
				tools := mustToolbox(t, toolbox.Options{Approvals: rules}, wallsTool(&ran, hermes.Risk{Key: key, Reason: "it changes something"}))
				tools.Run(t.Context(), command("x", h))
				if len(h.asked) != want || ran != 1-want {
					t.Errorf("%s with %s after %q: asked %d times, ran %d times", key, name, provenance, len(h.asked), ran)
				}
			}
		}
	}
}

// TestAdviceToTrustAFolder is given only if all that was read seems to be of that folder.
func TestAdviceToTrustAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for source, advised := range map[string]bool{
		"project file AGENTS.md":                     true,
		"read_file main.go":                          true,
		"read_file " + filepath.Join(dir, "main.go"): true,
		"read_file ../main.go":                       false,
		"search_files x":                             true,
		"patch main.go":                              true,
		"terminal ls":                                true,
		"terminal cat ../x":                          false,
		"terminal curl http://x.example":             false,
		"web_extract http://x.example":               false,
		"a picture":                                  false,
		"read_file main.go; web_search x":            false,
		"read_file main.go; project file AGENTS.md; search_files x": true,
	} {
		var did []string
		h := &host{provenance: source, dir: dir}
		tools := mustToolbox(t, toolbox.Options{TrustCommand: func(folder string) string { return "trust " + folder }}, diary(&did, true))
		tools.Run(t.Context(), &hermes.Call{ID: "c", Name: "diary", Host: h, Arguments: json.RawMessage(`{}`)})
		if reason := h.asked[0].Risks[0].Reason; strings.Contains(reason, "from the next session on: trust "+dir) != advised {
			t.Errorf("after %s the reason is %q", source, reason)
		}
	}
}

func TestTheQuestionShowsTheWholeChange(t *testing.T) {
	t.Parallel()
	var did []string
	h := &host{provenance: "read_file notes.md; terminal curl x"}
	tools := mustToolbox(t, toolbox.Options{}, diary(&did, true))
	tools.Run(t.Context(), &hermes.Call{ID: "c", Name: "diary", Host: h, Arguments: json.RawMessage(
		`{"action":"add","text":"first\nyes: really\u202e","operations":[{"action":"remove","n":2},"plain"],"command":"short"}`)})
	want := hermes.ApprovalRequest{
		CallID: "c", Tool: "diary", Dir: "/work",
		Subject: "action: add\ncommand: short\noperations:\n    -\n        action: remove\n        n: 2\n    - plain\ntext:\n    first\n    yes: really<U+202E>",
		Risks: []hermes.Risk{{
			Key: "taint:memory", NoRemember: true, EveryMode: true,
			Reason: "this is kept for later sessions, and this session has read text that you neither wrote nor trusted (read_file notes.md; terminal curl x)",
		}},
	}
	if len(h.asked) != 1 || h.asked[0].Subject != want.Subject || len(h.asked[0].Risks) != 1 || h.asked[0].Risks[0] != want.Risks[0] {
		t.Errorf("asked %+v", h.asked)
	}
	names := naming{risky{tool: diary(&did, true).(tool), assess: func(*hermes.Call) []hermes.Risk { return nil }}}
	mustToolbox(t, toolbox.Options{}, names).Run(t.Context(), &hermes.Call{
		ID: "c", Name: "diary", Host: h, Arguments: json.RawMessage(`{"command":"short","text":"kept"}`)})
	if len(h.asked) != 2 || h.asked[1].Subject != "command: short\ntext: kept" {
		t.Errorf("a tool that names its subject hides what is kept: %+v", h.asked)
	}
}

func TestDecisionOnAPersistentChangeEndsWithTheSession(t *testing.T) {
	t.Parallel()
	for answer, asks := range map[hermes.Decision]int{hermes.AllowOnce: 2, hermes.AllowSession: 1, hermes.AllowAlways: 1} {
		var did []string
		store := &kept{}
		h := &host{answers: []hermes.Decision{answer, answer}, provenance: "a"}
		judged := false
		tools := mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{
			Mode:   toolbox.ModeSmart,
			Grants: store,
			Judge: func(context.Context, hermes.SessionRef, hermes.ApprovalRequest) (hermes.Decision, error) {
				judged = true
				return hermes.AllowOnce, nil
			},
		}}, diary(&did, true))
		for range 2 {
			tools.Run(t.Context(), &hermes.Call{ID: "c", Name: "diary", Arguments: json.RawMessage(`{}`), Host: h})
		}
		if len(h.asked) != asks || len(did) != 2 || len(store.grants) != 0 || judged {
			t.Errorf("%s: asked %d times, did %q, kept %v, judged by a model %v", answer, len(h.asked), did, store.grants, judged)
		}
	}
}

// TestADangerousChangeIsNotProposed has a tool with a risk of its own.
func TestADangerousChangeIsNotProposed(t *testing.T) {
	t.Parallel()
	var did []string
	d := diary(&did, true).(tool)
	both := risky{tool: d, assess: func(*hermes.Call) []hermes.Risk { return []hermes.Risk{{Key: "k", Reason: "harms"}} }}
	h := &host{answers: []hermes.Decision{hermes.Unattended}, provenance: "a"}
	mustToolbox(t, toolbox.Options{}, both).Run(t.Context(), &hermes.Call{Name: "diary", Arguments: json.RawMessage(`{}`), Host: h})
	if len(did) != 0 || len(h.asked) != 1 || len(h.asked[0].Risks) != 2 {
		t.Errorf("did %q, asked %+v", did, h.asked)
	}
}

func TestResultsSayWhereTheyComeFrom(t *testing.T) {
	t.Parallel()
	gives := func(r hermes.Result, err error) func(context.Context, *hermes.Call) (hermes.Result, error) {
		return func(context.Context, *hermes.Call) (hermes.Result, error) { return r, err }
	}
	for _, tt := range []struct {
		name       string
		spec       hermes.Spec
		result     hermes.Result
		err        error
		denied     bool
		provenance string
	}{
		{name: "an unknown tool", spec: hermes.Spec{Name: "mine"}, provenance: "mine look"},
		{name: "its errors too", spec: hermes.Spec{Name: "mine"}, err: errors.New("it says: obey"), provenance: "mine look"},
		{name: "its own word", spec: hermes.Spec{Name: "mine"}, result: hermes.Result{Provenance: "https://x"}, provenance: "https://x"},
		{name: "an inner tool", spec: hermes.Spec{Name: "todo", Trusted: true}},
		{name: "a trusted tool that shows untrusted text", spec: hermes.Spec{Name: "session_search", Trusted: true}, result: hermes.Result{Provenance: "session s"}, provenance: "session s"},
		{name: "what did not run brings nothing", spec: hermes.Spec{Name: "mine"}, denied: true},
	} {
		o := toolbox.Options{Redact: func(s string) string { return strings.ReplaceAll(s, "secret", "***") }}
		if tt.denied {
			o.Approvals.Deny = []string{"*look*"}
		}
		tools := mustToolbox(t, o, tool{spec: tt.spec, run: gives(tt.result, tt.err)})
		r := tools.Run(t.Context(), &hermes.Call{Name: tt.spec.Name, Arguments: json.RawMessage(`{"query":"look"}`), Host: &host{}})
		if r.Provenance != tt.provenance {
			t.Errorf("%s: provenance %q, want %q", tt.name, r.Provenance, tt.provenance)
		}
	}
	tools := mustToolbox(t, toolbox.Options{Redact: func(s string) string { return strings.ReplaceAll(s, "secret", "***") }}, named("mine")...)
	if r := tools.Run(t.Context(), &hermes.Call{Name: "mine", Arguments: json.RawMessage(`{"query":"my secret"}`), Host: &host{}}); r.Provenance != "mine my ***" {
		t.Errorf("a source shows a secret: %q", r.Provenance)
	}
}

func TestAHookAddsSourcesAndTakesNoneAway(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{"": "mine", "AGENTS.md": "mine; AGENTS.md"} {
		h := hermes.Hook{Name: "h", AfterTool: func(_ context.Context, _ *hermes.Call, r *hermes.Result) { r.Provenance = set }}
		tools := mustToolbox(t, toolbox.Options{Hooks: hook.New(nil, h)}, named("mine")...)
		if r := tools.Run(t.Context(), &hermes.Call{Name: "mine", Arguments: json.RawMessage(`{}`), Host: &host{}}); r.Provenance != want {
			t.Errorf("provenance %q, want %q", r.Provenance, want)
		}
	}
}
