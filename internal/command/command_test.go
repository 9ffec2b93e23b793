package command_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/command"
	"hermes/internal/session"
)

// fake is a session that records its ops.
type fake struct {
	state session.State
	ops   []hermes.Op
	err   error
	// rolled are the messages from which on Rollback removed some.
	rolled []int64
	// back are the messages that Rollback brought back, and undone those that it can.
	back   []int64
	undone []hermes.Message
	with   []string // what SayWith got: the model and the text
}

func (f *fake) ID() string { return f.state.Row.ID }

func (f *fake) Submit(_ context.Context, op hermes.Op) error {
	if f.err == nil {
		f.ops = append(f.ops, op)
		if t, ok := op.(hermes.SetTitle); ok {
			f.state.Row.Title = t.Title
		}
		if m, ok := op.(hermes.SetModel); ok {
			f.state.Row.Model = m.Ref
		}
	}
	return f.err
}

func (f *fake) SayWith(_ context.Context, text string, m hermes.Model) error {
	if f.err == nil {
		f.with = append(f.with, m.ID()+": "+text)
	}
	return f.err
}

func (f *fake) Undone(_ context.Context, ids []int64) ([]hermes.Message, error) {
	var out []hermes.Message
	for _, m := range f.undone {
		if slices.Contains(ids, m.ID) {
			out = append(out, m)
		}
	}
	if len(out) != len(ids) {
		return nil, hermes.ErrNotFound
	}
	return out, nil
}

func (f *fake) Rollback(ctx context.Context, from int64, back []int64, files func(context.Context) error) error {
	f.rolled = append(f.rolled, from)
	f.back = append(f.back, back...)
	if f.err != nil {
		return f.err
	}
	return files(ctx)
}

func (f *fake) State(context.Context) (session.State, error) { return f.state, nil }

func talk() []hermes.Message {
	return []hermes.Message{
		hermes.UserText("first question"),
		{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: "1", Name: "read_file", Arguments: "{}"}}},
		{Role: hermes.RoleTool, CallID: "1", Parts: []hermes.Part{{Text: "result"}}},
		{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "first answer"}}},
		hermes.UserText("second question"),
		{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "second answer"}}},
	}
}

func TestNamesAreUniqueAndHelpNamesThemAll(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	r, err := command.Run(t.Context(), "/help", command.Call{Where: command.Terminal})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range command.Table() {
		for _, n := range append([]string{c.Name}, c.Aliases...) {
			if seen[n] {
				t.Errorf("/%s is twice in the table", n)
			}
			seen[n] = true
		}
		if c.Help == "" || c.Where == 0 || c.Group == "" {
			t.Errorf("/%s lacks help, frontends or a group", c.Name)
		}
		if c.Where&command.Terminal != 0 && !strings.Contains(r.Text, "`/"+c.Name) {
			t.Errorf("help does not name /%s", c.Name)
		}
	}
	for _, name := range strings.Fields("help new model tools history retry undo title usage context stop queue steer quit") {
		if !seen[name] {
			t.Errorf("/%s is missing", name)
		}
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line, name, args string
		ok               bool
	}{
		{"/help", "help", "", true},
		{"  /Title  My Talk ", "title", "My Talk", true},
		{"/queue one\ntwo", "queue", "one\ntwo", true},
		{"/queue\r\none", "queue", "one", true},
		{"/title\u00a0My Talk", "title", "My Talk", true},
		{"/status@HermesBot\u3000now", "status", "now", true},
		{"/status@HermesBot", "status", "", true},
		{"/Title@hermes_bot My Talk", "title", "My Talk", true},
		{"/title me@example.org", "title", "me@example.org", true},
		{"/@HermesBot", "@hermesbot", "", true},
		{"/a@b@c", "a@b@c", "", true},
		{"/a@", "a@", "", true},
		{"/a@b-c", "a@b-c", "", true},
		{"/me@example.org", "", "", false},
		{"/etc/hosts is broken", "", "", false},
		{"/config.yaml", "", "", false},
		{"/", "", "", false},
		{"/ help", "", "", false},
		{"hello /help", "", "", false},
		{"", "", "", false},
	} {
		name, args, ok := command.Split(c.line)
		if name != c.name || args != c.args || ok != c.ok {
			t.Errorf("Split(%q) = %q, %q, %v", c.line, name, args, ok)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"help": "help", "HELP": "help", "?": "help", "he": "help", "reset": "new", "exit": "quit",
		"q": "queue", "st": "status", "sto": "stop", "ti": "title", "ctx": "context", "nope": "",
	} {
		if c, _ := command.Find(name, command.Terminal); c.Name != want {
			t.Errorf("Find(%q) = %q, want %q", name, c.Name, want)
		}
	}
	if c, ok := command.Find("quit", command.Messenger); ok {
		t.Errorf("a messenger was offered /%s", c.Name)
	}
}

func TestUnknownCommandSuggests(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"/hlep": "did you mean /help?", "/modle x": "did you mean /model?", "/xyzzy": "unknown command /xyzzy; use /help to list commands",
	} {
		_, err := command.Run(t.Context(), line, command.Call{Where: command.Terminal})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

func TestCommandsSubmitTheirOps(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]hermes.Op{
		"/retry":            hermes.Retry{},
		"/undo now":         hermes.Undo{},
		"/continue":         hermes.Continue{},
		"/title My talk":    hermes.SetTitle{Title: "My talk"},
		"/model a/b":        hermes.SetModel{Ref: "a/b"},
		"/queue do x":       hermes.Say{Parts: []hermes.Part{{Text: "do x"}}, Busy: hermes.BusyQueue},
		"/q do x":           hermes.Say{Parts: []hermes.Part{{Text: "do x"}}, Busy: hermes.BusyQueue},
		"/steer not that":   hermes.Steer{Text: "not that"},
		"/stop":             hermes.Stop{Processes: true},
		"/refine the build": hermes.StartReview{Focus: "the build"},
		"/STOP":             hermes.Stop{Processes: true},
		"/steer  two\nrows": hermes.Steer{Text: "two\nrows"},
	} {
		f := &fake{state: session.State{Transcript: talk()}}
		if _, err := command.Run(t.Context(), line, command.Call{Session: f, Where: command.Terminal}); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if diff := cmp.Diff([]hermes.Op{want}, f.ops); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

func TestActionsAndConfirmation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line      string
		confirmed bool
		empty     bool
		want      hermes.CommandAction
		arg       string
		asks      bool
	}{
		{line: "/new", asks: true},
		{line: "/new", confirmed: true, want: hermes.ActionNew},
		{line: "/new", empty: true, want: hermes.ActionNew},
		{line: "/new my plan now", want: hermes.ActionNew, arg: "my plan"},
		{line: "/new --yes", want: hermes.ActionNew},
		{line: "/clear -y", want: hermes.ActionClear},
		{line: "/clear", asks: true},
		{line: "/undo", asks: true},
		{line: "/quit", want: hermes.ActionQuit},
		{line: "/redraw", want: hermes.ActionRedraw},
		{line: "/copy", want: hermes.ActionCopy, arg: "second answer"},
		{line: "/copy 2", want: hermes.ActionCopy, arg: "first answer"},
	} {
		f := &fake{state: session.State{Transcript: talk()}}
		if c.empty {
			f.state.Transcript = nil
		}
		r, err := command.Run(t.Context(), c.line, command.Call{Session: f, Where: command.Terminal, Confirmed: c.confirmed})
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
		}
		if r.Action != c.want || r.Arg != c.arg || (r.Confirm != "") != c.asks {
			t.Errorf("%s: got %+v", c.line, r)
		}
		if c.asks && len(f.ops) > 0 {
			t.Errorf("%s acted before the answer", c.line)
		}
	}
}

func TestCommandsReportTheState(t *testing.T) {
	t.Parallel()
	f := &fake{state: session.State{
		Row: hermes.Session{
			ID: "20260102_030405_abc", Title: "a_b", Model: "x/y", Dir: "/home/p", System: "12345",
			Usage: hermes.Usage{Input: 12345, Output: 900, CacheRead: 2_500_000, Calls: 3},
		},
		Transcript: talk(),
		Last:       hermes.Usage{Input: 20_000}, Window: 100_000,
		Tools: []hermes.Spec{{Name: "read_file", Description: "Reads a file. More words."}},
	}}
	for line, want := range map[string][]string{
		"/status":    {"20260102_030405_abc", `a\_b`, "x/y", "/home/p", "20.0k of 100k tokens (20 %)"},
		"/usage":     {"| uncached input | 12.3k |", "| read from cache | 2.5M |", "| output | 900 |", "| model calls | 3 |"},
		"/context":   {"(20 %)", "| system prompt | 8 |", "| tools (1) |", "| tool results (1) | 8 |", "20.0k uncached (0 % cached)"},
		"/tools":     {"- `read_file` Reads a file\n"},
		"/model":     {"`x/y`", "/model PROVIDER:MODEL", "- `m/one`"},
		"/title":     {`a\_b`},
		"/history":   {"**You**\n\nfirst question", "**Hermes**\n\nsecond answer"},
		"/history 1": {"second answer"},
		"/help undo": {"`/undo [now]`"},
	} {
		models := func(context.Context) ([]string, error) { return []string{"m/one"}, nil }
		r, err := command.Run(t.Context(), line, command.Call{Session: f, Where: command.Terminal, Models: models})
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		for _, w := range want {
			if !strings.Contains(r.Text, w) {
				t.Errorf("%s: %q is missing in\n%s", line, w, r.Text)
			}
		}
	}
	if r, _ := command.Run(t.Context(), "/history 1", command.Call{Session: f, Where: command.Terminal}); strings.Contains(r.Text, "first") {
		t.Errorf("/history 1 showed more than one:\n%s", r.Text)
	}
}

func TestBadInputIsReportedInPlainWords(t *testing.T) {
	t.Parallel()
	taken := &fake{err: fmt.Errorf("update: %w", hermes.ErrTitleTaken)}
	other := &fake{err: errors.New("a turn is running; stop it first with /stop")}
	for line, c := range map[string]struct {
		session *fake
		want    string
	}{
		"/title x":   {taken, `another session has the title "x"`},
		"/copy zero": {&fake{}, `"zero" is not a whole number`},
		"/copy 9":    {&fake{}, "no such answer"},
		"/queue":     {&fake{}, "/queue PROMPT"},
		"/steer":     {&fake{}, "/steer PROMPT"},
		"/undo now":  {other, "stop it first"},
		"/help zzz":  {&fake{}, "no command matches"},
	} {
		_, err := command.Run(t.Context(), line, command.Call{Session: c.session, Where: command.Terminal})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", line, err, c.want)
		}
	}
}
