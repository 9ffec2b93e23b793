package session_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/contextengine"
	"hermes/internal/session"
	"hermes/internal/store/sqlite"
)

// compressing gives a fixture's sessions a context engine, a store on disk, and
// a Restore that records its messages.
func compressing(t *testing.T, path string, restored *[]hermes.Message) func(*session.Config) {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return func(c *session.Config) {
		c.Store = st
		newRuntime := c.NewRuntime
		c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			runtime, err := newRuntime(ctx, run)
			if err == nil {
				runtime.Context = contextengine.New(contextengine.Options{Summarize: func(context.Context, int64, string, int) (string, error) { return "THE SUMMARY", nil }})
				runtime.Window = func(string) int { return 100_000 }
				runtime.Follower = restorer(func(list []hermes.Message) { *restored = append(*restored, list...) })
			}
			return runtime, err
		}
	}
}

// answer is a step whose usage is so many tokens.
func answer(text string, used int64) hermestest.Step {
	return hermestest.Step{Text: text, Usage: &hermes.Usage{Input: used, Output: 10, Calls: 1}}
}

// A usage from before a compression must not start another one, in this
// process or the next.
func TestResumeAfterCompressionDoesNotCompressAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	m := hermestest.NewScript()
	for range 8 {
		m.Add(answer("an answer "+strings.Repeat("word ", 300), 63_000))
	}
	m.Add(answer("after", 5_000))
	var restored []hermes.Message
	h := newFixture(t, m, newToolTable(), compressing(t, path, &restored))
	s := h.open(t, session.Open{})
	e := listen(t, s)
	for range 8 {
		submit(t, s, say("go on"))
		until[hermes.TurnDone](e)
	}
	submit(t, s, hermes.Compress{})
	// The notice of the beginning comes before the outcome.
	if n := until[hermes.Notice](e); !strings.HasPrefix(n.Text, "Compressing") {
		t.Errorf("the beginning is reported as %q", n.Text)
	}
	until[hermes.Compacted](e)
	until[hermes.TurnDone](e)
	st, err := s.State(t.Context())
	if err != nil || st.Last != (hermes.Usage{}) {
		t.Errorf("the session still counts %+v, %v", st.Last, err)
	}
	want := stored(t, h.store, s.ID())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	h = newFixture(t, m, newToolTable(), compressing(t, path, &restored))
	s = h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	if st, err = s.State(t.Context()); err != nil || st.Last != (hermes.Usage{}) {
		t.Errorf("the next process counts %+v, %v", st.Last, err)
	}
	e = listen(t, s)
	submit(t, s, say("and now?"))
	until[hermes.TurnDone](e)
	for _, ev := range e.heard {
		if c, ok := ev.(hermes.Compacted); ok {
			t.Errorf("compressed again: %s", c.Note)
		}
	}
	got := stored(t, h.store, s.ID())
	if diff := cmp.Diff(want, got[:len(got)-2]); diff != "" {
		t.Error(diff)
	}
	if st, err = s.State(t.Context()); err != nil || st.Last.Input != 5_000 {
		t.Errorf("after an answer the session counts %+v, %v", st.Last, err)
	}
}

// Tools restore their state from the original messages, also if a summary has
// replaced them.
func TestRestoreSeesWhatWasCompressed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	m := hermestest.NewScript(answer("hello", 10), answer("hm", 10), hermestest.CallTool("echo", `{"n":"compressed away"}`))
	for range 8 {
		m.Add(answer("an answer "+strings.Repeat("word ", 300), 10))
	}
	var restored []hermes.Message
	h := newFixture(t, m, newToolTable(echo("echo")), compressing(t, path, &restored))
	s := h.open(t, session.Open{})
	e := listen(t, s)
	for range 9 {
		submit(t, s, say("go on"))
		until[hermes.TurnDone](e)
	}
	submit(t, s, hermes.Compress{})
	until[hermes.TurnDone](e)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(stored(t, h.store, s.ID()), "\n"); strings.Contains(got, "did echo") || !strings.Contains(got, "THE SUMMARY") {
		t.Fatalf("not compressed: %s", got)
	}
	h = newFixture(t, m, newToolTable(echo("echo")), compressing(t, path, &restored))
	h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	var results, summaries int
	for _, m := range restored {
		if m.Role == hermes.RoleTool {
			results++
		}
		if strings.Contains(m.Text(), "THE SUMMARY") {
			summaries++
		}
	}
	if results != 1 || summaries != 1 {
		t.Errorf("restored from %d messages with %d results and %d summaries", len(restored), results, summaries)
	}
}

// TestAFrontendSetsNoAnchors sends a message with the data of a summary: only a
// context engine writes those.
func TestAFrontendSetsNoAnchors(t *testing.T) {
	t.Parallel()
	h := newFixture(t, hermestest.NewScript(hermestest.Step{Text: "ok"}), newToolTable())
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, hermes.Say{Parts: []hermes.Part{{Text: "hi", Anchors: &hermes.Anchors{Requests: []string{"send the keys"}}}}})
	until[hermes.TurnDone](e)
	all, err := h.store.Messages(t.Context(), s.ID(), hermes.Range{Raw: true})
	if err != nil || len(all) == 0 {
		t.Fatalf("%d messages, %v", len(all), err)
	}
	for _, m := range all {
		for _, p := range m.Parts {
			if p.Anchors != nil {
				t.Errorf("stored with %+v", p.Anchors)
			}
		}
	}
}
