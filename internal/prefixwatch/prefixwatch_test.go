package prefixwatch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/prefixwatch"
)

func request(change ...func(*hermes.Request)) *hermes.Request {
	r := &hermes.Request{
		Session: "s1", System: "You are a test.",
		Tools: []hermes.Spec{{Name: "a", Description: "does a", Schema: json.RawMessage(`{}`)}, {Name: "b", Description: "does b", Schema: json.RawMessage(`{}`)}},
		Messages: []hermes.Message{
			hermes.UserText("hello there"),
			{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: "c1", Name: "a", Arguments: `{"x":1}`}}, Reasoning: []hermes.Reasoning{{Text: "hm"}}},
			{Role: hermes.RoleTool, CallID: "c1", ToolName: "a", Parts: []hermes.Part{{Text: "result of a"}}},
		},
	}
	for _, c := range change {
		c(r)
	}
	return r
}

func now() time.Time { return time.Unix(1, 0).UTC() }

func TestWhatBreaksAPrefix(t *testing.T) {
	t.Parallel()
	const tools = 2 * len(`adoes a{}`)
	const all = tools + len("You are a test.") + len("hello there") + len(`hmc1a{"x":1}`) + len("c1result of a")
	broken := func(section string, from, to, kept int) *hermes.PrefixBreak {
		return &hermes.PrefixBreak{At: now(), Request: 2, Section: section, From: from, To: to, Kept: kept, Lost: all - kept}
	}
	for name, tt := range map[string]struct {
		change func(*hermes.Request)
		want   *hermes.PrefixBreak
	}{
		"nothing":                {func(*hermes.Request) {}, nil},
		"a message more":         {func(r *hermes.Request) { r.Messages = append(r.Messages, hermes.UserText("more")) }, nil},
		"one taken from the end": {func(r *hermes.Request) { r.Messages = r.Messages[:2] }, nil},
		"what is not sent":       {func(r *hermes.Request) { r.Messages[0].ID, r.Messages[0].Time, r.WordsOnly = 7, now(), true }, nil},
		"the system prompt":      {func(r *hermes.Request) { r.System = "You are two tests." }, broken("system prompt", 8, 17, tools+8)},
		"a tool's words":         {func(r *hermes.Request) { r.Tools[1].Description = "does c" }, broken("tool b", 6, 7, tools/2+6)},
		"a tool more":            {func(r *hermes.Request) { r.Tools = append(r.Tools, hermes.Spec{Name: "z"}) }, broken("tool z", 0, 1, tools)},
		"a tool less":            {func(r *hermes.Request) { r.Tools = r.Tools[:1] }, broken("tool b (removed)", 0, 0, tools/2)},
		"a message":              {func(r *hermes.Request) { r.Messages[0] = hermes.UserText("hello, there") }, broken("message 1 (user)", 5, 6, tools+15+5)},
		"a message that grew":    {func(r *hermes.Request) { r.Messages[0] = hermes.UserText("hello there now") }, broken("message 1 (user)", 11, 15, tools+15+11)},
		"arguments": {func(r *hermes.Request) {
			r.Messages[1].Calls = []hermes.ToolCall{{ID: "c1", Name: "a", Arguments: `{"x":2}`}}
		}, broken("message 2 (answer)", 10, 11, tools+15+11+10)},
		"a result":  {func(r *hermes.Request) { r.Messages[2].Parts = []hermes.Part{{Text: "result of b"}} }, broken("message 3 (tool result)", 12, 13, tools+15+11+12+12)},
		"a failure": {func(r *hermes.Request) { r.Messages[2].Failed = true }, broken("message 3 (tool result)", 13, 19, tools+15+11+12+13)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := prefixwatch.New(nil, now)
			w.See("m", request())
			w.See("m", request(tt.change))
			got, count := w.Broken("s1")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if (count == 1) != (tt.want != nil) {
				t.Errorf("%d breaks", count)
			}
			w.See("m", request(tt.change)) // the next one is measured by this one
			if _, again := w.Broken("s1"); again != count {
				t.Errorf("%d breaks after an equal request", again)
			}
		})
	}
}

func TestAnotherModelAndExpectedBreaks(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := prefixwatch.New(slog.New(slog.NewTextHandler(&log, nil)), now)
	w.See("m", request())
	w.See("n", request())
	if b, _ := w.Broken("s1"); b == nil || b.Section != "model" || b.Kept != 0 || b.Cause != "another model" {
		t.Errorf("got %+v", b)
	}
	w.Expect("s1", "compression")
	w.See("n", request(func(r *hermes.Request) { r.Messages = []hermes.Message{hermes.UserText("in short")} }))
	if b, n := w.Broken("s1"); b == nil || b.Cause != "compression" || n != 2 {
		t.Errorf("got %+v, %d", b, n)
	}
	if text := log.String(); strings.Count(text, "level=INFO") != 2 || strings.Contains(text, "level=WARN") {
		t.Errorf("a known cause is logged as a warning: %s", text)
	}
	w.See("n", request())
	if text := log.String(); !strings.Contains(text, "level=WARN") || !strings.Contains(text, `section="message 1 (user)"`) {
		t.Errorf("not logged: %s", text)
	}
	w.Forget("s1")
	if b, n := w.Broken("s1"); b != nil || n != 0 {
		t.Errorf("kept %+v", b)
	}
}

func TestOnlyTheNewestSessionsAreKept(t *testing.T) {
	t.Parallel()
	w := prefixwatch.New(nil, now)
	for i := range 100 {
		w.See("m", request(func(r *hermes.Request) { r.Session = fmt.Sprint("s", i) }))
		w.See("n", request(func(r *hermes.Request) { r.Session = fmt.Sprint("s", i) }))
	}
	kept := 0
	for i := range 100 {
		if b, _ := w.Broken(fmt.Sprint("s", i)); b != nil {
			kept++
		}
	}
	if b, _ := w.Broken("s99"); kept != 32 || b == nil {
		t.Errorf("%d sessions are kept, the last: %v", kept, b)
	}
}

// silent is a model that counts its calls.
type silent struct{ asked int }

func (s *silent) ID() string { return "m" }
func (s *silent) Stream(context.Context, *hermes.Request) iter.Seq2[hermes.Delta, error] {
	s.asked++
	return func(func(hermes.Delta, error) bool) {}
}
func (s *silent) Model(context.Context, string) (hermes.Model, error) { return s, nil }

func TestAuxiliaryRequestsAreNotCompared(t *testing.T) {
	t.Parallel()
	w, m := prefixwatch.New(nil, now), &silent{}
	watched, err := w.Models(m).Model(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	watched.Stream(t.Context(), request())
	watched.Stream(t.Context(), request(func(r *hermes.Request) { r.Purpose, r.System = "title", "x" }))
	watched.Stream(t.Context(), request(func(r *hermes.Request) { r.Session, r.System = "", "x" }))
	watched.Stream(t.Context(), request())
	if b, _ := w.Broken("s1"); b != nil || m.asked != 4 {
		t.Errorf("%+v after %d calls", b, m.asked)
	}
}

// BenchmarkSee2000Messages is a step of a session of 2,000 messages, whose
// transcript is copied now and then, as a growing slice is.
func BenchmarkSee2000Messages(b *testing.B) {
	r := request()
	r.Messages = nil
	for i := range 1000 {
		r.Messages = append(r.Messages,
			hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: strings.Repeat("a", 300)}}, Calls: []hermes.ToolCall{{ID: fmt.Sprint(i), Name: "a", Arguments: strings.Repeat("x", 200)}}},
			hermes.Message{Role: hermes.RoleTool, CallID: fmt.Sprint(i), Parts: []hermes.Part{{Text: strings.Repeat("r", 1500)}}})
	}
	for name, every := range map[string]int{"copied": 1, "same": 1 << 30} {
		b.Run(name, func(b *testing.B) {
			w := prefixwatch.New(nil, now)
			copies := []*hermes.Request{r, {Session: "s1", System: r.System, Tools: r.Tools, Messages: append([]hermes.Message(nil), r.Messages...)}}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				w.See("m", copies[i/every%2])
			}
		})
	}
}
