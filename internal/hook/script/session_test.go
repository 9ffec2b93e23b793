package script_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/hook"
	"hermes/internal/hook/script"
)

// said is what a script printed, and its exit status.
type said struct {
	out, errs string
	code      int
}

// stage is a place in which lines answer what a test wants.
type stage struct {
	mu      sync.Mutex
	answers map[string]said
	ran     []string
	inputs  []map[string]any
	closed  bool
	during  func() // while a line runs; may be nil
}

func (s *stage) Exec(_ context.Context, c hermes.Command) (hermes.Exit, error) {
	raw, err := io.ReadAll(c.Stdin)
	if err != nil {
		return hermes.Exit{}, err
	}
	var in map[string]any
	if err := json.Unmarshal(raw, &in); err != nil {
		return hermes.Exit{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	line := strings.Trim(c.Line, "'")
	s.ran, s.inputs = append(s.ran, line), append(s.inputs, in)
	if s.during != nil {
		s.during()
	}
	a, ok := s.answers[line]
	if !ok {
		return hermes.Exit{}, fmt.Errorf("no answer for %q", c.Line)
	}
	_, _ = io.WriteString(c.Stdout, a.out)
	_, _ = io.WriteString(c.Stderr, a.errs)
	return hermes.Exit{Code: a.code}, nil
}

func (s *stage) Close() error { s.closed = true; return nil }

// begin makes a session with hooks to which the user has agreed.
func begin(t *testing.T, text string, answers map[string]said, change ...func(*script.Config)) (*hook.Hooks, *stage, *script.Session) {
	t.Helper()
	entries, _, problems := parse(t, text)
	if len(problems) > 0 {
		t.Fatalf("%+v", problems)
	}
	at := &stage{answers: answers}
	c := script.Config{Dir: "/work", Consents: script.NewConsents(filepath.Join(t.TempDir(), "c.json"), nil), Accept: true}
	for _, f := range change {
		f(&c)
	}
	s := script.NewSession(c, script.Set{Entries: entries, Open: func(context.Context, script.Needs) (script.Place, error) { return at, nil }})
	if s == nil {
		t.Fatal("no session")
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil || len(at.ran) > 0 && !at.closed {
			t.Errorf("close: %v", err)
		}
	})
	return hook.New(nil, s.Hook()), at, s
}

func call(tool, arguments string) *hermes.Call {
	return &hermes.Call{ID: "c1", Name: tool, Arguments: json.RawMessage(arguments)}
}

// before runs the hooks before a call. Arguments are canonical as they are.
func before(t *testing.T, h *hook.Hooks, c *hermes.Call) (*hermes.Call, string) {
	t.Helper()
	c, r := h.BeforeTool(t.Context(), c, func(raw json.RawMessage) (json.RawMessage, error) { return raw, nil })
	if r == nil {
		return c, ""
	}
	return c, r.Text
}

// TestScriptsOfClaudeCodeReadTheirOwnNames of tools and arguments, and those of Hermes read Hermes' own.
func TestScriptsOfClaudeCodeReadTheirOwnNames(t *testing.T) {
	t.Parallel()
	const patch = "*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** Delete File: b.go\n*** End Patch"
	text, _ := json.Marshal(map[string]string{"mode": "patch", "patch": patch})
	for _, tt := range []struct {
		tool, arguments string
		name            string
		input           []map[string]any
	}{
		{"terminal", `{"command":"ls","timeout":5,"background":true}`, "Bash", []map[string]any{{"command": "ls", "timeout": 5000.0, "run_in_background": true}}},
		{"write_file", `{"path":"a","content":"b"}`, "Write", []map[string]any{{"file_path": "a", "content": "b"}}},
		{"patch", `{"path":"a","old_string":"b","new_string":"c","replace_all":true}`, "Edit", []map[string]any{{"file_path": "a", "old_string": "b", "new_string": "c", "replace_all": true}}},
		{"patch", string(text), "Edit", []map[string]any{{"file_path": "a.go", "old_string": "", "new_string": patch}, {"file_path": "b.go", "old_string": "", "new_string": patch}}},
		{"read_file", `{"path":"a","limit":3}`, "Read", []map[string]any{{"file_path": "a", "limit": 3.0}}},
		{"search_files", `{"pattern":"a","file_glob":"*.go"}`, "Grep", []map[string]any{{"pattern": "a", "glob": "*.go"}}},
		{"search_files", `{"pattern":"*.go","target":"files"}`, "Glob", []map[string]any{{"pattern": "*.go", "target": "files"}}},
		{"mcp__x__y", `{"a":1}`, "mcp__x__y", []map[string]any{{"a": 1.0}}},
	} {
		h, at, _ := begin(t, `PreToolUse: [{matcher: "`+tt.name+`", hooks: [{command: a}]}]
pre_tool_call: [{matcher: `+tt.tool+`, command: b}]`, map[string]said{"a": {}, "b": {}})
		if _, refused := before(t, h, call(tt.tool, tt.arguments)); refused != "" {
			t.Errorf("%s: %s", tt.tool, refused)
		}
		var got []map[string]any
		own := 0
		for i, in := range at.inputs {
			if at.ran[i] == "b" {
				own++
				if in["tool_name"] != tt.tool || in["hook_event_name"] != "pre_tool_call" || in["extra"] == nil {
					t.Errorf("%s in Hermes' form: %v", tt.tool, in)
				}
				continue
			}
			if in["tool_name"] != tt.name || in["hook_event_name"] != "PreToolUse" || in["permission_mode"] != "default" {
				t.Errorf("%s: %v", tt.tool, in)
			}
			got = append(got, in["tool_input"].(map[string]any))
		}
		if diff := cmp.Diff(tt.input, got); diff != "" || own != 1 {
			t.Errorf("%s: %d, %s", tt.tool, own, diff)
		}
	}
}

// TestVerdicts of both forms, before a call.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		own, claude   said
		refused, asks string
		arguments     string
	}{
		"nothing":               {own: said{out: " "}, claude: said{out: "some text"}},
		"own block":             {own: said{out: `{"action":"block","message":"no"}`}, refused: "no"},
		"decision block":        {own: said{out: `{"decision":"block","reason":"no"}`}, refused: "no"},
		"claude deny":           {claude: said{out: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`}, refused: "no"},
		"status 2, text":        {claude: said{errs: "not now", code: 2}, refused: "not now"},
		"status 2, own":         {own: said{out: "from stdout", errs: "x", code: 2}, refused: "from stdout"},
		"another status":        {own: said{errs: "x", code: 1}, claude: said{errs: "y", code: 3}},
		"own approve asks":      {own: said{out: `{"action":"approve","message":"sure?"}`}, asks: "sure?"},
		"claude ask":            {claude: said{out: `{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"sure?"}}`}, asks: "sure?"},
		"claude approve is old": {claude: said{out: `{"decision":"approve","reason":"fine"}`}},
		"allow":                 {own: said{out: `{"decision":"allow"}`}, claude: said{out: `{"hookSpecificOutput":{"permissionDecision":"allow"}}`}},
		"own modify":            {own: said{out: `{"action":"modify","args":{"content":"new"}}`}, arguments: `{"content":"new","path":"a"}`},
		"own tool_input":        {own: said{out: `{"decision":"modify","tool_input":{"path":"b"}}`}, arguments: `{"content":"x","path":"b"}`},
		"claude updatedInput":   {claude: said{out: `{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"file_path":"b","content":"x"}}}`}, arguments: `{"content":"x","path":"b"}`},
		"the same input":        {claude: said{out: `{"hookSpecificOutput":{"updatedInput":{"file_path":"a","content":"x"}}}`}},
		"ask and block":         {own: said{out: `{"decision":"block","reason":"no"}`}, claude: said{out: `{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"sure?"}}`}, refused: "no"},
		"ask and modify":        {own: said{out: `{"action":"modify","args":{"path":"b"}}`}, claude: said{out: `{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"sure?"}}`}, asks: "sure?", arguments: `{"content":"x","path":"b"}`},
		"stop":                  {claude: said{out: `{"continue":false,"stopReason":"enough"}`}, refused: "enough"},
		"broken JSON":           {own: said{out: `{"action":`}},
		"unknown decision":      {own: said{out: `{"decision":"perhaps"}`}},
		"block, and an unknown": {own: said{out: `{"action":"block","decision":"perhaps","message":"no"}`}, refused: "no"},
		"byte order mark":       {own: said{out: "\ufeff" + `{"action":"block","message":"no"}`}, refused: "no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, _, _ := begin(t, "PreToolUse: [{hooks: [{command: a}]}]\npre_tool_call: [{command: b}]", map[string]said{"a": tt.claude, "b": tt.own})
			const arguments = `{"content":"x","path":"a"}`
			c, refused := before(t, h, call("write_file", arguments))
			if (refused == "") != (tt.refused == "") || !strings.Contains(refused, tt.refused) {
				t.Fatalf("refused %q, want %q", refused, tt.refused)
			}
			if refused == "" && (c.Asks != tt.asks || string(c.Arguments) != strings.TrimSpace(tt.arguments+" ") && tt.arguments != "" || tt.arguments == "" && string(c.Arguments) != arguments) {
				t.Errorf("asks %q, arguments %s", c.Asks, c.Arguments)
			}
		})
	}
}

// TestAGuardThatFailsRefuses, whatever went wrong; another hook is skipped and the user told once.
func TestAGuardThatFailsRefuses(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]said{
		"status": {code: 1, errs: "oh"}, "JSON": {out: "{"}, "long": {out: strings.Repeat("x", 1<<20+1)}, "decision": {out: `{"decision":"perhaps"}`},
	} {
		for _, guard := range []bool{false, true} {
			h, _, s := begin(t, fmt.Sprintf("pre_tool_call: [{command: a, fail_closed: %t}]", guard), map[string]said{"a": answer})
			for range 3 {
				if _, refused := before(t, h, call("terminal", `{"command":"x"}`)); (refused != "") != guard {
					t.Errorf("%s, guard %t: refused %q", name, guard, refused)
				}
			}
			if told := s.Notices(); len(told) != 1 || !strings.Contains(told[0], "failed") {
				t.Errorf("%s: told %q", name, told)
			}
		}
	}
}

// TestEachHookSeesWhatTheOneBeforeWrote, and what one cannot change does not run.
func TestEachHookSeesWhatTheOneBeforeWrote(t *testing.T) {
	t.Parallel()
	h, at, _ := begin(t, "pre_tool_call: [{command: a}, {command: b}]", map[string]said{"a": {out: `{"action":"modify","args":{"path":"b"}}`}, "b": {}})
	before(t, h, call("write_file", `{"path":"a"}`))
	if in := at.inputs[1]["tool_input"].(map[string]any); in["path"] != "b" {
		t.Errorf("the second hook read %v", in)
	}
	h, _, _ = begin(t, "PreToolUse: [{hooks: [{command: a}]}]", map[string]said{"a": {out: `{"hookSpecificOutput":{"updatedInput":{"file_path":"z"}}}`}})
	text, _ := json.Marshal(map[string]string{"patch": "*** Begin Patch\n*** Delete File: b.go\n*** End Patch"})
	if _, refused := before(t, h, call("patch", string(text))); !strings.Contains(refused, "cannot change") {
		t.Errorf("refused %q", refused)
	}
}

// TestScriptsSeeWhatLaterOnesChange, once more and only then; one that asks does not ask twice, and scripts that never
// agree refuse the call.
func TestScriptsSeeWhatLaterOnesChange(t *testing.T) {
	t.Parallel()
	ask := said{out: `{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"sure?"}}`}
	set := func(path string) said { return said{out: `{"action":"modify","args":{"path":"` + path + `"}}`} }
	const rows = "PreToolUse: [{matcher: Write, hooks: [{command: guard}]}]\npre_tool_call: [{command: change}]"
	h, at, _ := begin(t, rows, map[string]said{"guard": ask, "change": set("b")})
	c, refused := before(t, h, call("write_file", `{"path":"a"}`))
	var paths []string
	for i, in := range at.inputs {
		input := in["tool_input"].(map[string]any)
		paths = append(paths, fmt.Sprintf("%s %v %v", at.ran[i], input["path"], input["file_path"]))
	}
	want := []string{"guard <nil> a", "change a <nil>", "guard <nil> b"}
	if diff := cmp.Diff(want, paths); diff != "" || refused != "" || c.Asks != "sure?" || string(c.Arguments) != `{"path":"b"}` {
		t.Errorf("%s, refused %q, asks %q, arguments %s", diff, refused, c.Asks, c.Arguments)
	}
	h, at, _ = begin(t, "pre_tool_call: [{command: one, fail_closed: true}, {command: two, fail_closed: true}]", map[string]said{"one": set("b"), "two": set("a")})
	if _, refused = before(t, h, call("write_file", `{"path":"a"}`)); !strings.Contains(refused, "do not agree") || len(at.ran) > 6 {
		t.Errorf("refused %q after %q", refused, at.ran)
	}
	h, at, _ = begin(t, "pre_tool_call: [{command: one}, {command: two}]", map[string]said{"one": set("b"), "two": set("a")})
	if c, refused = before(t, h, call("write_file", `{"path":"x"}`)); refused != "" || len(at.ran) != 2 || string(c.Arguments) != `{"path":"a"}` {
		t.Errorf("hooks that are no guards change a call more than once: %q, %s, %q", at.ran, c.Arguments, refused)
	}
}

// TestTextsOfHooksAreHidden below the next message, and a message can be refused.
func TestTextsOfHooksAreHidden(t *testing.T) {
	t.Parallel()
	h, _, _ := begin(t, `
SessionStart: [{matcher: startup, hooks: [{command: begin}]}, {matcher: resume, hooks: [{command: again}]}]
UserPromptSubmit: [{hooks: [{command: json}]}]
pre_llm_call: [{command: own}]`, map[string]said{
		"begin": {out: "from the start"}, "json": {out: `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"from the prompt"}}`}, "own": {out: `{"context":"from own"}`},
	})
	ctx, ref := t.Context(), hermes.SessionRef{ID: "s"}
	if err := h.SessionStart(ctx, ref); err != nil {
		t.Fatal(err)
	}
	ref.Turn = 1
	m := hermes.Message{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "Hello"}}}
	parts, err := h.TurnStart(ctx, ref, m)
	if err != nil {
		t.Fatal(err)
	}
	var texts string
	for _, p := range parts {
		if !p.Hidden || p.Provenance != "" {
			t.Errorf("part %+v", p)
		}
		texts += p.Text
	}
	for _, want := range []string{"from the start", "from the prompt", "from own"} {
		if !strings.Contains(texts, want) {
			t.Errorf("%q is missing in %q", want, texts)
		}
	}
	ref.Turn = 2
	if parts, err = h.TurnStart(ctx, ref, m); err != nil || len(parts) != 2 {
		t.Errorf("the second message has %+v, %v", parts, err)
	}
	m.Synthetic = true
	if parts, err = h.TurnStart(ctx, ref, m); err != nil || len(parts) != 0 {
		t.Errorf("a message of the program has %+v, %v", parts, err)
	}
	h, _, _ = begin(t, "UserPromptSubmit: [{hooks: [{command: a}]}]", map[string]said{"a": {code: 2, errs: "not like this"}})
	if _, err := h.TurnStart(ctx, ref, hermes.Message{Role: hermes.RoleUser}); err == nil || !strings.Contains(err.Error(), "not like this") {
		t.Errorf("got %v", err)
	}
}

// TestATurnGoesOnIfAHookWantsIt, but not one that was stopped.
func TestATurnGoesOnIfAHookWantsIt(t *testing.T) {
	t.Parallel()
	for text, answer := range map[string]said{
		"Stop: [{hooks: [{command: a}]}]": {out: `{"decision":"block","reason":"run the tests"}`}, "Stop: [{hooks: [{command: a }]}]": {code: 2, errs: "run the tests"},
		"pre_verify: [{command: a}]": {out: `{"action":"continue","message":"run the tests"}`},
	} {
		h, at, _ := begin(t, text, map[string]said{"a": answer})
		if got := h.TurnEnd(t.Context(), hermes.SessionRef{}, hermes.OutcomeDone, nil); !strings.Contains(got, "run the tests") {
			t.Errorf("%s: goes on with %q", text, got)
		}
		if got := h.TurnEnd(t.Context(), hermes.SessionRef{}, hermes.OutcomeInterrupted, nil); got != "" || len(at.ran) != 1 {
			t.Errorf("%s: after a stop it goes on with %q", text, got)
		}
	}
}

// TestResultsGetWhatHooksAdd, and are replaced by hooks for that.
func TestResultsGetWhatHooksAdd(t *testing.T) {
	t.Parallel()
	h, at, _ := begin(t, `
PostToolUse: [{hooks: [{command: a}]}]
PostToolUseFailure: [{hooks: [{command: failed}]}]
post_tool_call: [{command: b}]
transform_tool_result: [{command: c}]
transform_terminal_output: [{command: d}]`, map[string]said{
		"a": {code: 2, errs: "lint: line 3"}, "failed": {}, "b": {out: `{"context":"noted"}`}, "c": {out: `{"result":"shorter"}`}, "d": {},
	})
	same := func(_, now hermes.Result) hermes.Result { return now }
	r := h.AfterTool(t.Context(), call("write_file", `{"path":"a"}`), hermes.Result{Text: "long"}, same)
	if !strings.HasPrefix(r.Text, "shorter") || !strings.Contains(r.Text, "lint: line 3") || !strings.Contains(r.Text, "noted") || strings.Contains(r.Text, "long") {
		t.Errorf("result %q", r.Text)
	}
	if in := at.inputs[0]; in["tool_response"] == nil {
		t.Errorf("read %v", in)
	}
	if strings.Contains(strings.Join(at.ran, " "), "failed") || strings.Contains(strings.Join(at.ran, " "), "d") {
		t.Errorf("ran %q", at.ran)
	}
}

// TestNothingIsCalledWhereNoHookIs: only the points of the hooks have functions.
func TestNothingIsCalledWhereNoHookIs(t *testing.T) {
	t.Parallel()
	if s := script.NewSession(script.Config{}); s != nil {
		t.Error("a session without hooks")
	}
	_, _, s := begin(t, "post_tool_call: [{command: a}]", nil)
	h := s.Hook()
	if h.AfterTool == nil || h.BeforeTool != nil || h.TurnStart != nil || h.TurnEnd != nil || h.BeforeModel != nil || h.AfterModel != nil || h.SessionStart != nil || h.Guard {
		t.Errorf("%+v", h)
	}
}

// TestAGuardMustBeUnderstood: what it says that has no meaning is no consent; of another hook it is.
func TestAGuardMustBeUnderstood(t *testing.T) {
	t.Parallel()
	for _, out := range []string{"BLOCK", "loading\n{\"decision\":\"deny\"}", `["deny"]`, `{"permissionDecision":"deny"}`, `{"hookSpecificOutput":{"decision":"deny"}}`, `{"deny":true}`} {
		for _, guard := range []bool{false, true} {
			h, _, _ := begin(t, fmt.Sprintf("pre_tool_call: [{command: a, fail_closed: %t}]", guard), map[string]said{"a": {out: out}})
			if _, refused := before(t, h, call("terminal", `{"command":"x"}`)); (refused != "") != guard {
				t.Errorf("%s, guard %t: refused %q", out, guard, refused)
			}
		}
	}
	h, _, _ := begin(t, "pre_tool_call: [{command: a, fail_closed: true}]", map[string]said{"a": {out: ""}})
	if _, refused := before(t, h, call("terminal", `{"command":"x"}`)); refused != "" {
		t.Errorf("a guard that has nothing to say: %q", refused)
	}
}

// TestAScriptSeesAllFilesOfAPatch, also if the call names another one beside it.
func TestAScriptSeesAllFilesOfAPatch(t *testing.T) {
	t.Parallel()
	const patch = `"*** Begin Patch\n*** Update File: .env\n@@\n-a\n+b\n*** End Patch"`
	for _, arguments := range []string{`{"mode":"patch","patch":` + patch + `}`, `{"mode":"patch","path":"README.md","patch":` + patch + `}`, `{"path":"","patch":` + patch + `}`} {
		h, at, _ := begin(t, "PreToolUse: [{matcher: Edit, hooks: [{command: a}]}]", map[string]said{"a": {}})
		before(t, h, call("patch", arguments))
		seen := ""
		for _, r := range at.inputs {
			seen += fmt.Sprint(r)
		}
		if !strings.Contains(seen, ".env") {
			t.Errorf("%s: the script sees %s", arguments, seen)
		}
	}
}

// TestScriptsRunByThePathThatWasAgreedTo: the home of what runs may be another one.
func TestScriptsRunByThePathThatWasAgreedTo(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "g.py"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	entries, _, problems := parse(t, "PreToolUse: [{hooks: [{command: 'python3 \"$HOME/g.py\" ~/g.py'}]}]")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	at := &stage{}
	s := script.NewSession(script.Config{Dir: "/work", Home: home, Consents: script.NewConsents(filepath.Join(t.TempDir(), "c.json"), nil), Accept: true},
		script.Set{Entries: entries, Open: func(context.Context, script.Needs) (script.Place, error) { return at, nil }})
	before(t, hook.New(nil, s.Hook()), call("terminal", `{"command":"x"}`))
	want := "python3 '" + home + "/g.py' '" + home + "/g.py"
	if len(at.ran) != 1 || at.ran[0] != want {
		t.Errorf("ran %q, want %q", at.ran, want)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestAScriptThatIsExchangedAsItRunsSaysNothing: a guard refuses then, also if the script is back as it was. One that is
// exchanged before it starts does not.
func TestAScriptThatIsExchangedAsItRunsSaysNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.sh")
	exchange := func(text string) {
		write(t, path+".new", text)
		if err := os.Rename(path+".new", path); err != nil {
			t.Error(err)
		}
	}
	for name, tt := range map[string]struct {
		during, opening func()
		answer          said
		refused         string
		runs            int
	}{
		"not":          {runs: 1},
		"exchanged":    {during: func() { exchange("evil") }, refused: "counts for nothing", runs: 1},
		"and back":     {during: func() { exchange("evil"); exchange("one") }, refused: "counts for nothing", runs: 1},
		"it refuses":   {during: func() { exchange("evil") }, answer: said{code: 2, errs: "no"}, refused: "no", runs: 1},
		"at the start": {opening: func() { exchange("evil") }, refused: "was changed"},
	} {
		write(t, path, "one")
		entries, _, problems := parse(t, "pre_tool_call: [{command: ./a.sh, fail_closed: true}]")
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		at := &stage{answers: map[string]said{"./a.sh": tt.answer}, during: tt.during}
		s := script.NewSession(script.Config{Dir: dir, Consents: script.NewConsents(filepath.Join(t.TempDir(), "c.json"), nil), Accept: true},
			script.Set{Entries: entries, Open: func(context.Context, script.Needs) (script.Place, error) {
				if tt.opening != nil {
					tt.opening()
				}
				return at, nil
			}})
		_, refused := before(t, hook.New(nil, s.Hook()), call("terminal", `{"command":"x"}`))
		if (refused == "") != (tt.refused == "") || !strings.Contains(refused, tt.refused) || len(at.ran) != tt.runs {
			t.Errorf("%s: refused %q, ran %q", name, refused, at.ran)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAProjectNamesItsScriptsPlainly: one of which the name is known only when it runs could be another one than
// was trusted.
func TestAProjectNamesItsScriptsPlainly(t *testing.T) {
	t.Parallel()
	for _, line := range []string{`"$(git rev-parse --show-toplevel)"/.hermes/hooks/x.sh`, `sh .hermes/hooks/*.sh`, `"${DIR:-.}"/.hermes/hooks/x.py`} {
		entries, _, problems := parse(t, "PreToolUse: [{hooks: [{command: '"+strings.ReplaceAll(line, "'", "''")+"'}]}]")
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		at := &stage{}
		s := script.NewSession(script.Config{Dir: "/work", Consents: script.NewConsents(filepath.Join(t.TempDir(), "c.json"), nil)},
			script.Set{Entries: entries, Project: "/work", Open: func(context.Context, script.Needs) (script.Place, error) { return at, nil }})
		before(t, hook.New(nil, s.Hook()), call("terminal", `{"command":"x"}`))
		if len(at.ran) > 0 {
			t.Errorf("%s ran as %q", line, at.ran)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
