package contextengine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/contextengine"
)

// from are pieces that keep messages.
func from(indexes ...int) (list []contextengine.Piece) {
	for _, i := range indexes {
		list = append(list, contextengine.Piece{From: i})
	}
	return list
}

func insert(text string) []contextengine.Piece {
	return []contextengine.Piece{{From: -1, Text: text}}
}

// short is an outline of the first message, a text, and the newest exchange of the user, or the last
// steps of a long turn.
func short(_ context.Context, tr []hermes.Message, _ hermes.ContextUsage) ([]contextengine.Piece, error) {
	user, tail := 0, len(tr)-1
	for i, m := range tr {
		if m.Role == hermes.RoleUser && !m.Synthetic {
			user = i
		}
	}
	for tr[tail].Role == hermes.RoleTool {
		tail--
	}
	pieces := slices.Concat(insert("the other outline"), from(user))
	if user+1 < tail { // a long turn
		pieces = slices.Concat(from(user), insert("the other outline"))
	}
	for i := max(tail, user+1); i < len(tr); i++ {
		pieces = append(pieces, contextengine.Piece{From: i})
	}
	return pieces, nil
}

// other is an engine with an outline, and what it logs.
func other(outline contextengine.Outline, now func() time.Time) (*contextengine.Other, *bytes.Buffer) {
	var log bytes.Buffer
	return contextengine.NewOther(contextengine.OtherOptions{
		Name: "test", Who: "the plugin test", Source: "plugin test", Outline: outline, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Builtin: contextengine.New(contextengine.Options{Summarize: sums("the built-in summary"), Now: now, Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }}),
	}), &log
}

// TestAnotherOutlinePassesTheSuite without the help of the built-in engine.
func TestAnotherOutlinePassesTheSuite(t *testing.T) {
	t.Parallel()
	hermestest.RunContextEngine(t, func(t *testing.T) hermes.ContextEngine {
		e, log := other(short, nil)
		t.Cleanup(func() {
			if log.Len() > 0 {
				t.Error(log)
			}
		})
		return e
	})
}

// exchanges is a conversation whose last message is from the user: 0 is his, then six messages of 3
// for each exchange.
func exchanges() []hermes.Message {
	tr := []hermes.Message{user("Build the parser.")}
	for range 8 {
		tr = append(tr, act("terminal", `{"command":"make"}`, long(4000))...)
		tr = append(tr, assistant(long(5000)), user("go on with the next part, and never touch vendor.go"))
	}
	return tr
}

// TestAnOutlineThatBreaksAPromiseIsNotUsed: the built-in engine does the work, and says so once.
func TestAnOutlineThatBreaksAPromiseIsNotUsed(t *testing.T) {
	t.Parallel()
	tr := exchanges() // 33 messages: 1+4i is a call, 2+4i its result, 3+4i an answer, 4+4i a request
	last := len(tr) - 1
	cat := slices.Concat[[]contextengine.Piece]
	for want, pieces := range map[string][]contextengine.Piece{
		"leaves out the last message of the user": cat(from(0), insert("sum"), from(29, 30, 31)),
		"two texts":                              cat(from(0), insert("a"), from(29, 30, 31), insert("b"), from(last)),
		"names message 99, and there are 33":     cat(insert("a"), from(last, 99)),
		"changes the order":                      cat(insert("a"), from(last, 4)),
		"with no text in their place":            from(0, last),
		"a text where it leaves nothing out":     cat(from(0), from(5, 6, 7), from(last), insert("a")),
		"separates a call from its result":       cat(from(0), insert("a"), from(30, 31, last)),
		"separates a call from its results":      cat(from(0), insert("a"), from(29, 31, last)),
		"puts two messages of the user together": cat(from(0), from(4), insert("a"), from(last)),
		"begins with a message of the assistant": cat(from(3, 4), insert("a"), from(last)),
		"is not shorter":                         cat(from(0, 1, 2), insert(strings.Repeat("so many words ", 2000)), from(4), from(seq(5, last)...)),
		"the disk is full":                       nil,
	} {
		now := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
		e, log := other(func(context.Context, []hermes.Message, hermes.ContextUsage) ([]contextengine.Piece, error) {
			if pieces == nil {
				return nil, errors.New("the disk is full")
			}
			return pieces, nil
		}, func() time.Time { return now })
		f, err := e.Fit(t.Context(), tr, full(tr, 128_000))
		if err != nil {
			t.Fatal(err)
		}
		check(t, tr, f)
		why := strings.TrimSuffix(want, "s")
		if !strings.Contains(f.Note, why) || !strings.HasPrefix(f.Note, "The built-in engine shortens this conversation, because the plugin test did not: ") || f.From == nil || !strings.Contains(log.String(), why) {
			t.Errorf("%s: note %q, log %s", want, f.Note, log)
		}
		if strings.Contains(text(f.Messages), "so many words") {
			t.Errorf("%s: its text is used", want)
		}
		now = now.Add(time.Hour) // it is asked again
		tr := append(f.Messages, exchanges()[1:]...)
		if f, err = e.Fit(t.Context(), tr, full(tr, 128_000)); err != nil || f.From == nil || strings.Contains(f.Note, "because") {
			t.Errorf("%s: the second time %q, %v", want, f.Note, err)
		}
	}
}

func seq(first, last int) (list []int) {
	for i := first; i <= last; i++ {
		list = append(list, i)
	}
	return list
}

// TestAnOutlineHasTheAnchorsOfASummary: requests, files and open tasks of what it leaves out are
// beside its text, without secrets, and the next pass of either engine takes them over.
func TestAnOutlineHasTheAnchorsOfASummary(t *testing.T) {
	t.Parallel()
	tr := []hermes.Message{user("Build the parser with hunter2.")}
	tr = append(tr, act("write_file", `{"path":"parser.go","content":""}`, "written")...)
	tr = append(tr, act("todo", `{}`, `{"todos":[{"id":"1","content":"write tests","status":"pending"}]}`)...)
	tr = append(tr, assistant("yes"))
	tr = append(tr, exchanges()[4:]...)
	tr[1].Provenance = "read_file notes.md"
	e, log := other(short, nil)
	f, err := e.Fit(t.Context(), tr, full(tr, 128_000))
	if err != nil || log.Len() > 0 {
		t.Fatal(err, log)
	}
	check(t, tr, f)
	got := anchorsIn(t, f.Messages)
	want := hermes.Anchors{
		Words: "(the plugin test wrote this.)\nthe other outline", Requests: []string{"Build the parser with ***."}, Files: []string{"parser.go"},
		Open: []hermes.PlanItem{{ID: "1", Content: "write tests", Status: "pending"}},
	}
	got.Requests = got.Requests[:1]
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if m := f.Messages[0]; m.Provenance != "plugin test" || !strings.Contains(m.Text(), "parser.go") || !strings.Contains(m.Text(), "[END OF SUMMARY]") {
		t.Errorf("provenance %q: %s", m.Provenance, m.Text())
	}
	tr = append(stored(t, f.Messages), exchanges()[1:]...)
	if f, err = e.Fit(t.Context(), tr, full(tr, 128_000)); err != nil || log.Len() > 0 {
		t.Fatal(err, log)
	}
	got = anchorsIn(t, f.Messages) // one summary: the text takes the place of the one before
	if got.Requests[0] != want.Requests[0] || !cmp.Equal(got.Open, want.Open) || !cmp.Equal(got.Files, want.Files) || strings.Count(text(f.Messages), "the other outline") != 1 {
		t.Errorf("after another pass: %+v\n%s", got, text(f.Messages))
	}
	tr = append(stored(t, f.Messages), exchanges()[1:]...)
	builtin := contextengine.New(contextengine.Options{Summarize: sums("the built-in summary")})
	if f, err = builtin.Fit(t.Context(), tr, full(tr, 128_000)); err != nil {
		t.Fatal(err)
	}
	if got = anchorsIn(t, f.Messages); got.Requests[0] != want.Requests[0] || !cmp.Equal(got.Open, want.Open) {
		t.Errorf("after a pass of the built-in engine: %+v", got)
	}
}

// TestATextTakesThePlaceOfEarlierOnes that the outline keeps, alone or before a message, with their
// anchors; those are bounded, and have a plan that is older than what is left out.
func TestATextTakesThePlaceOfEarlierOnes(t *testing.T) {
	t.Parallel()
	earlier := hermes.Part{Text: "the earlier text", Hidden: true, Anchors: &hermes.Anchors{Words: "earlier", Requests: []string{"the first request"}}}
	for name, begin := range map[string][]hermes.Message{
		"before a message": {{Role: hermes.RoleUser, Parts: []hermes.Part{earlier, {Text: "go on"}}}},
		"alone":            {user("go on"), assistant("yes"), {Role: hermes.RoleUser, Synthetic: true, Parts: []hermes.Part{earlier}}},
	} {
		tr := slices.Concat(begin, act("todo", `{}`, `{"todos":[{"id":"1","content":"write tests","status":"pending"}]}`))
		kept := len(tr)
		for i := range 90 {
			tr = append(tr, assistant(long(1000)), user(fmt.Sprintf("the request %d is to build all of %s", i, long(100))))
		}
		e, log := other(func(context.Context, []hermes.Message, hermes.ContextUsage) ([]contextengine.Piece, error) {
			return slices.Concat(from(seq(0, kept-1)...), insert("the new text"), from(len(tr)-1)), nil
		}, nil)
		f, err := e.Fit(t.Context(), tr, full(tr, 128_000))
		if name == "alone" { // a call of the assistant would follow its answer
			if err != nil || !strings.Contains(log.String(), "puts two messages of the assistant together") {
				t.Error(name, err, log)
			}
			continue
		}
		if err != nil || log.Len() > 0 {
			t.Fatal(name, err, log)
		}
		check(t, tr, f)
		got := anchorsIn(t, f.Messages)
		if n := len(got.Requests); n > 60 || !slices.Contains(got.Requests, "the first request") || len(got.Open) != 1 || strings.Contains(text(f.Messages), "the earlier text") {
			t.Errorf("%s: %d requests, open %v\n%.3000s", name, n, got.Open, text(f.Messages))
		}
	}
}

// TestAnOutlineIsAskedForWhenItIsDue: not before, not at every step after it, not again for a
// refusal that it did not prevent, and not soon after a failure.
func TestAnOutlineIsAskedForWhenItIsDue(t *testing.T) {
	t.Parallel()
	asked, now := 0, time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	var fails error
	e, _ := other(func(ctx context.Context, tr []hermes.Message, u hermes.ContextUsage) ([]contextengine.Piece, error) {
		asked++
		if fails != nil {
			return nil, fails
		}
		return short(ctx, tr, u)
	}, func() time.Time { return now })
	fit := func(tr []hermes.Message, u hermes.ContextUsage, want int) hermes.CompactResult {
		t.Helper()
		asked = 0
		f, err := e.Fit(t.Context(), tr, u)
		if err != nil || asked != want {
			t.Fatalf("asked %d times, want %d: %v", asked, want, err)
		}
		return f
	}
	tr := exchanges()
	fit(tr, hermes.ContextUsage{Used: 60_000, Counted: len(tr), Window: 128_000}, 0)
	tr = fit(tr, full(tr, 128_000), 1).Messages
	over := full(tr, 128_000)
	if f := fit(tr, over, 0); f.From != nil { // the prompt is what is long
		t.Error("it is shortened at every step")
	}
	over.Overflow = true
	asked = 0
	if f, err := e.Fit(t.Context(), tr, over); err == nil || f.From != nil || asked > 0 {
		t.Errorf("after its own result was refused: asked %d times, %v", asked, err)
	}
	fails = errors.New("no")
	tr = append(tr, exchanges()[1:]...)
	fit(tr, full(tr, 128_000), 1)
	idle := full(tr, 128_000)
	idle.Idle = true
	if f := fit(tr, idle, 0); f.From != nil {
		t.Error("a session that is idle is shortened by the other engine")
	}
	fit(tr, full(tr, 128_000), 0) // soon after a failure
	demand := full(tr, 128_000)
	demand.Demand = true
	fit(tr, demand, 1)
	now = now.Add(time.Hour)
	fit(tr, full(tr, 128_000), 1)
}
