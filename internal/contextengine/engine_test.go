package contextengine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hermes"
	"hermes/internal/contextengine"
)

func user(text string) hermes.Message { return hermes.UserText(text) }

func assistant(text string) hermes.Message {
	return hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: text}}}
}

var ids atomic.Int64

// act is a call and its result.
func act(tool, arguments, result string) []hermes.Message {

	id := fmt.Sprint("c", ids.Add(1))
	return []hermes.Message{
		{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: id, Name: tool, Arguments: arguments}}},
		{Role: hermes.RoleTool, CallID: id, ToolName: tool, Parts: []hermes.Part{{Text: result}}},
	}
}

// long is a text of about n tokens.
func long(n int) string { return strings.Repeat("word ", n*4/5) }

// full is the usage of a window that the transcript has filled.
func full(tr []hermes.Message, window int) hermes.ContextUsage {
	return hermes.ContextUsage{Used: window, Counted: len(tr), Window: window}
}

func sums(text string) contextengine.Summarize {
	return func(context.Context, int64, string, int) (string, error) { return text, nil }
}

// check checks what must always be true of a shortened transcript.
func check(t *testing.T, old []hermes.Message, f hermes.CompactResult) {
	t.Helper()
	if f.From != nil && len(f.From) != len(f.Messages) {
		t.Fatalf("%d origins for %d messages", len(f.From), len(f.Messages))
	}
	last := -1
	for i, o := range f.From {
		if o.Index < last || o.Index >= len(old) {
			t.Errorf("message %d comes from %d after %d", i, o.Index, last)
		}
		last = o.Index
		if o.Same && !reflect.DeepEqual(old[o.Index], f.Messages[i]) {
			t.Errorf("message %d is marked the same but differs", i)
		}
	}
	open := map[string]bool{}
	for i, m := range f.Messages {
		if i > 0 && m.Role == f.Messages[i-1].Role && m.Role != hermes.RoleTool && !(m.Role == hermes.RoleAssistant && len(f.Messages[i-1].Calls) > 0) {
			t.Errorf("two messages of %s in a row at %d", m.Role, i)
		}
		for _, c := range m.Calls {
			open[c.ID] = true
			if !json.Valid([]byte(c.Arguments)) {
				t.Errorf("arguments of %s are not JSON: %s", c.ID, c.Arguments)
			}
		}
		if m.Role == hermes.RoleTool {
			if !open[m.CallID] {
				t.Errorf("a result without its call at %d", i)
			}
			delete(open, m.CallID)
		}
	}
	if len(open) > 0 {
		t.Errorf("calls without a result: %v", open)
	}
	if want, got := lastUser(old), lastUser(hermesMessages(f)); !strings.HasSuffix(got, want) {
		t.Errorf("the last message of the user is %q, want %q", got, want)
	}
	if f.Messages[0].Role != hermes.RoleUser {
		t.Errorf("the transcript begins with %s", f.Messages[0].Role)
	}
}

func hermesMessages(f hermes.CompactResult) []hermes.Message { return f.Messages }

func lastUser(tr []hermes.Message) string {
	for i := len(tr) - 1; i >= 0; i-- {
		if tr[i].Role == hermes.RoleUser && !tr[i].Synthetic {
			return tr[i].Text()
		}
	}
	return ""
}

func text(tr []hermes.Message) string {
	var b strings.Builder
	for _, m := range tr {
		b.WriteString(m.Text() + "\n")
	}
	return b.String()
}

// talk is a conversation of n exchanges of about size tokens each.
func talk(n, size int) []hermes.Message {
	tr := []hermes.Message{user("Build the parser."), assistant("I will.")}
	for i := range n {
		tr = append(tr, user(fmt.Sprintf("request %d", i)))
		tr = append(tr, act("terminal", `{"command":"make"}`, fmt.Sprintf("run %d %s", i, long(size)))...)
		tr = append(tr, assistant(fmt.Sprintf("answer %d %s", i, long(size/4))))
	}
	return append(tr, user("the newest request"))
}

func TestThresholdStartsCompression(t *testing.T) {
	t.Parallel()
	tr := talk(40, 2000)
	for name, tt := range map[string]struct {
		window, used int
		cap          int
		want         bool
	}{
		"half the window is not reached": {200_000, 99_999, 0, false},
		"reaching it counts":             {200_000, 100_000, 0, true},
		"never under 64,000":             {100_000, 63_999, 0, false},
		"64,000 of a small window":       {100_000, 64_000, 0, true},
		"a window hardly larger":         {64_000, 55_000, 0, true},
		"a cap in tokens":                {1_000_000, 90_000, 80_000, true},
		"no count yet":                   {200_000, 0, 0, false},
		"an unknown window":              {0, 64_000, 0, true},
	} {
		e := contextengine.New(contextengine.Options{Summarize: sums("sum"), Config: contextengine.Config{ThresholdTokens: tt.cap}})
		f, err := e.Fit(t.Context(), tr, hermes.ContextUsage{Used: tt.used, Counted: len(tr), Window: tt.window})
		if err != nil {
			t.Fatal(err)
		}
		if got := f.From != nil; got != tt.want {
			t.Errorf("%s: compressed is %v", name, got)
		}
		check(t, tr, f)
	}
}

func TestWhatCameAfterTheCountIsAdded(t *testing.T) {
	t.Parallel()
	tr := talk(40, 2000)
	e := contextengine.New(contextengine.Options{Summarize: sums("sum")})
	f, err := e.Fit(t.Context(), append(tr[:len(tr):len(tr)], act("read_file", "{}", long(60_000))...), hermes.ContextUsage{Used: 60_000, Counted: len(tr), Window: 200_000})
	if err != nil || f.From == nil {
		t.Errorf("not compressed: %v", err)
	}
}

func TestHeadTailAndLastWordsStay(t *testing.T) {
	t.Parallel()
	tr := talk(60, 2000)
	e := contextengine.New(contextengine.Options{Summarize: sums("MIDDLE")})
	f, err := e.Fit(t.Context(), tr, full(tr, 200_000))
	if err != nil {
		t.Fatal(err)
	}
	check(t, tr, f)
	if f.Messages[0].Text() != "Build the parser." || f.Messages[1].Text() != "I will." {
		t.Error("the head is gone")
	}
	if got := text(f.Messages); !strings.Contains(got, "MIDDLE") || !strings.Contains(got, "answer 59") {
		t.Error("summary or tail is missing")
	}
	if len(f.Messages) > len(tr)/2 {
		t.Errorf("%d of %d messages are left", len(f.Messages), len(tr))
	}
}

func TestShortTranscriptIsReturnedUntouched(t *testing.T) {
	t.Parallel()
	tr := []hermes.Message{user("hi"), assistant("hello"), user("bye")}
	e := contextengine.New(contextengine.Options{Summarize: sums("sum")})
	if f, err := e.Fit(t.Context(), tr, full(tr, 200_000)); err != nil || f.From != nil {
		t.Errorf("%v, %v", f, err)
	}
	p := full(tr, 200_000)
	p.Overflow = true
	if _, err := e.Fit(t.Context(), tr, p); err == nil || !strings.Contains(err.Error(), "/new") {
		t.Errorf("an overflow that cannot be shortened: %v", err)
	}
}

func TestOldResultsArePrunedFirst(t *testing.T) {
	t.Parallel()
	same := long(3000)
	tr := []hermes.Message{user("go"), assistant("ok"), user("look")}
	tr = append(tr, act("read_file", `{"path":"a.go"}`, same)...)
	tr = append(tr, act("read_file", `{"path":"a.go"}`, same)...)
	tr = append(tr, act("terminal", `{"command":"go test ./..."}`, `{"output":"`+long(3000)+`","exit_code":1}`)...)
	tr = append(tr, act("write_file", `{"path":"b.go","content":"`+long(3000)+`"}`, `{"bytes_written":3}`)...)
	tr = append(tr, act("search_files", `{"pattern":"foo","path":"src"}`, long(60_000))...)
	tr = append(tr, assistant("found"), user("go on"), assistant(long(16_000)), user("next"))
	asked := false
	e := contextengine.New(contextengine.Options{Summarize: func(context.Context, int64, string, int) (string, error) {
		asked = true
		return "sum", nil
	}})
	f, err := e.Fit(t.Context(), tr, hermes.ContextUsage{Used: 100_000, Counted: len(tr), Window: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	check(t, tr, f)
	if asked {
		t.Error("a model was asked although pruning was enough")
	}
	got := text(f.Messages)
	for _, want := range []string{
		"[read_file a.go:", "[terminal ran `go test ./...`", "exit code 1", `[search_files for "foo" in src`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(got, "again below") {
		t.Error("both results were shortened, and one says that it appears below")
	}
	for _, m := range f.Messages {
		for _, c := range m.Calls {
			if c.Name == "write_file" && (len(c.Arguments) > 1000 || !strings.Contains(c.Arguments, "b.go")) {
				t.Errorf("arguments: %d bytes", len(c.Arguments))
			}
		}
	}
}

func TestFailedSummaryKeepsTheTranscript(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	asked := 0
	fails := errors.New("down")
	e := contextengine.New(contextengine.Options{Now: func() time.Time { return now }, Summarize: func(context.Context, int64, string, int) (string, error) {
		asked++
		return "sum", fails
	}})
	tr := talk(60, 2000)
	for range 3 {
		f, err := e.Fit(t.Context(), tr, full(tr, 200_000))
		if err != nil || f.From != nil {
			t.Fatalf("the transcript was changed: %v", err)
		}
	}
	if asked != 1 {
		t.Errorf("a model was asked %d times within the cool-down", asked)
	}
	now = now.Add(2 * time.Minute)
	fails = nil
	f, err := e.Fit(t.Context(), tr, full(tr, 200_000))
	if err != nil || f.From == nil || asked != 2 {
		t.Errorf("after the cool-down: asked %d, %v", asked, err)
	}
	check(t, tr, f)
}

func TestFailuresInARowOrARefusalEndInANote(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	e := contextengine.New(contextengine.Options{Now: func() time.Time { return now }, Summarize: func(context.Context, int64, string, int) (string, error) {
		return "", errors.New("down")
	}})
	tr := talk(60, 2000)
	p := full(tr, 200_000)
	p.Overflow = true
	f, err := e.Fit(t.Context(), tr, p)
	if err != nil || f.From == nil {
		t.Fatalf("refused by the provider: %v", err)
	}
	check(t, tr, f)
	if got := text(f.Messages); !strings.Contains(got, "without a summary") || !strings.Contains(got, "request 0") {
		t.Error("the note does not replace the dropped turns")
	}
	now = now.Add(time.Hour)
	if f, err = e.Fit(t.Context(), tr, full(tr, 200_000)); err != nil || f.From == nil {
		t.Errorf("the second failure: %v", err)
	}
}

func TestCompressionThatDoesNotHelpStops(t *testing.T) {
	t.Parallel()
	asked := 0
	e := contextengine.New(contextengine.Options{Summarize: func(context.Context, int64, string, int) (string, error) {
		asked++
		return long(100_000), nil // as long as what it replaces
	}})
	tr := append(talk(3, 500), user(long(80_000))) // little of it can be summed up
	for range 5 {
		if _, err := e.Fit(t.Context(), tr, full(tr, 200_000)); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times, want 2", asked)
	}
	p := full(tr, 200_000)
	p.Demand = true
	if _, err := e.Fit(t.Context(), tr, p); err != nil || asked != 3 {
		t.Errorf("on demand: asked %d, %v", asked, err)
	}
}

// TestASummaryThatIsLongerIsNotTaken is about short conversations: the frame of
// a summary alone may be longer than their text.
func TestASummaryThatIsLongerIsNotTaken(t *testing.T) {
	t.Parallel()
	e := contextengine.New(contextengine.Options{
		Summarize: func(context.Context, int64, string, int) (string, error) {
			return strings.Repeat("Much was said. ", 50), nil
		},
	})
	f, err := e.Fit(t.Context(), talk(6, 4), hermes.ContextUsage{Demand: true, Window: 200_000})
	if err != nil || f.From != nil || !strings.Contains(f.Note, "nothing was compressed") {
		t.Errorf("changed: %v, note %q, %v", f.From != nil, f.Note, err)
	}
}

func TestDemandKeepsExchangesAndFocus(t *testing.T) {
	t.Parallel()
	var prompt string
	e := contextengine.New(contextengine.Options{
		Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") },
		Summarize: func(_ context.Context, _ int64, p string, _ int) (string, error) {
			prompt = p
			return "<think>hm</think>```\nThe password is hunter2\n```", nil
		},
	})
	tr := talk(20, 200)
	tr[6].Parts[0].Text = "the password is hunter2"
	f, err := e.Fit(t.Context(), tr, hermes.ContextUsage{Demand: true, Focus: "the lexer", Keep: 3, Window: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	check(t, tr, f)
	if !strings.Contains(prompt, "the lexer") || strings.Contains(prompt, "hunter2") {
		t.Error("the prompt has no focus, or a secret")
	}
	got := text(f.Messages)
	if !strings.Contains(got, "The password is [secret]") || strings.Contains(got, "hm</think>") {
		t.Errorf("summary: %.300s", got)
	}
	for _, want := range []string{"answer 19", "answer 18", "the newest request"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q was not kept", want)
		}
	}
}

func TestStoppingIsNotAFailure(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	e := contextengine.New(contextengine.Options{Summarize: func(context.Context, int64, string, int) (string, error) {
		cancel()
		return "", ctx.Err()
	}})
	tr := talk(60, 2000)
	f, err := e.Fit(ctx, tr, full(tr, 200_000))
	if !errors.Is(err, context.Canceled) || f.From != nil {
		t.Errorf("%v", err)
	}
}

func BenchmarkMillionTokens(b *testing.B) {
	tr := talk(400, 2000)
	e := contextengine.New(contextengine.Options{Summarize: sums("sum")})
	p := full(tr, 1_000_000)
	p.Demand = true
	for b.Loop() {
		if _, err := e.Fit(b.Context(), tr, p); err != nil {
			b.Fatal(err)
		}
	}
}
