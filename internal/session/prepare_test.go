package session_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
)

// slow gives a fixture's sessions of the platform slow a toolset that takes ten seconds to start
// and a memory that hangs.
func slow(begun chan<- string) func(*session.Config) {
	return func(c *session.Config) {
		newRuntime := c.NewRuntime
		c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			r, err := newRuntime(ctx, run)
			if err != nil || run.Origin.Platform != "slow" {
				return r, err
			}
			begun <- "runtime"
			select {
			case <-time.After(10 * time.Second):
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
			r.Memory = recaller(func(ctx context.Context, _ hermes.RecallQuery) (hermes.Recalled, error) {
				begun <- "memory"
				<-ctx.Done()
				return hermes.Recalled{}, ctx.Err()
			})
			return r, nil
		}
	}
}

// TestSlowPartsDelayNothingElse: while a toolset starts and a memory hangs, the session says
// how it is and can be stopped, and another session answers, all at once.
func TestSlowPartsDelayNothingElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan string, 8)
		h := newFixture(t, hermestest.NewScript(hermestest.Say("other"), hermestest.Say("other"), hermestest.Say("mine")), newToolTable(), slow(begun))
		s := h.open(t, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "slow"}}})
		e := listen(t, s)
		said := make(chan error, 2)
		check := func(part string) {
			t.Helper()
			if got := <-begun; got != part {
				t.Fatalf("began %s, want %s", got, part)
			}
			start := time.Now()
			if st, err := s.State(t.Context()); err != nil || !st.Running {
				t.Errorf("state beside the %s: %+v, %v", part, st, err)
			}
			other := h.open(t, session.Open{})
			heard := listen(t, other)
			submit(t, other, say("hello"))
			until[hermes.TurnDone](heard)
			submit(t, s, hermes.Stop{})
			if took := time.Since(start); took > 50*time.Millisecond {
				t.Errorf("beside the %s it took %v", part, took)
			}
			if err := <-said; !errors.Is(err, hermes.ErrInterrupted) {
				t.Errorf("the stopped message: %v", err)
			}
		}
		go func() { said <- s.Do(context.Background(), hermes.From{}, say("first")) }()
		check("runtime")
		go func() { said <- s.Do(context.Background(), hermes.From{}, say("second")) }()
		<-begun // the runtime
		check("memory")
		go func() { said <- s.Do(context.Background(), hermes.From{}, say("third")) }()
		if done := until[hermes.TurnDone](e); done.Text != "mine" {
			t.Errorf("done: %+v", done)
		}
		if diff := cmp.Diff([]string{"user: third", "assistant: mine"}, stored(t, h.store, s.ID())); diff != "" {
			t.Error(diff)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestOpsWaitWhileATurnIsPrepared: what comes while the first turn is prepared is done after
// it, in order, and nothing is lost.
func TestOpsWaitWhileATurnIsPrepared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan string, 8)
		h := newFixture(t, hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two")), newToolTable(), slow(begun), func(c *session.Config) { c.Busy = hermes.BusyQueue })
		s := h.open(t, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "slow"}}})
		e := listen(t, s)
		said := make(chan error, 4)
		go func() { said <- s.Do(context.Background(), hermes.From{}, say("first")) }()
		<-begun
		go func() { said <- s.Do(context.Background(), hermes.From{}, say("second")) }()
		go func() { said <- s.Do(context.Background(), hermes.From{}, hermes.SetEffort{Effort: hermes.EffortLow}) }()
		for range 3 {
			if err := <-said; err != nil {
				t.Error(err)
			}
		}
		until[hermes.TurnDone](e)
		until[hermes.TurnDone](e)
		want := []string{"user: first", "assistant: one", "user: second", "assistant: two"}
		if diff := cmp.Diff(want, stored(t, h.store, s.ID())); diff != "" {
			t.Error(diff)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestClosingBeginsNoTurn: a session that is closed while a turn is prepared begins no turn for
// what waited meanwhile.
func TestClosingBeginsNoTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan string, 8)
		m := hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two"))
		h := newFixture(t, m, newToolTable(), slow(begun))
		s := h.open(t, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "slow"}}})
		said := make(chan error, 2)
		go func() { said <- s.Do(context.Background(), hermes.From{}, say("first")) }()
		<-begun
		go func() { said <- s.Do(context.Background(), hermes.From{}, say("second")) }()
		synctest.Wait()
		start := time.Now()
		if err := s.Close(); err != nil || time.Since(start) > time.Second {
			t.Errorf("closing took %v, %v", time.Since(start), err)
		}
		for range 2 {
			if err := <-said; !errors.Is(err, hermes.ErrInterrupted) && !errors.Is(err, hermes.ErrClosed) {
				t.Errorf("a message: %v", err)
			}
		}
		if n := len(m.Requests()); n > 0 {
			t.Errorf("%d requests", n)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

// talked stores a session of so many messages, which read text from outside first.
func talked(t testing.TB, st hermes.Store, id string, messages int) []hermes.Message {
	t.Helper()
	if err := st.CreateSession(t.Context(), hermes.Session{ID: id, Platform: "test", System: "You are a test.", Started: time.Unix(1, 0)}); err != nil {
		t.Fatal(err)
	}
	l, err := st.Acquire(t.Context(), id, hermes.Owner{Name: "before"}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	var list []hermes.Message
	for i := range messages / 2 {
		list = append(list, hermes.Message{Role: hermes.RoleUser, Turn: int64(i + 1), Time: time.Unix(int64(i), 0), Parts: []hermes.Part{{Text: fmt.Sprintf("question %d", i)}}},
			hermes.Message{Role: hermes.RoleAssistant, Turn: int64(i + 1), Time: time.Unix(int64(i), 0), Parts: []hermes.Part{{Text: fmt.Sprintf("answer %d", i)}}})
	}
	list[0].Provenance = "a page"
	if _, err := st.Commit(t.Context(), l, hermes.Change{Append: list}); err != nil {
		t.Fatal(err)
	}
	if err := st.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	return list
}

// counting is a store that counts how often a transcript is read.
type counting struct {
	hermes.Store
	reads int
}

func (c *counting) Messages(ctx context.Context, id string, r hermes.Range) ([]hermes.Message, error) {
	c.reads++
	return c.Store.Messages(ctx, id, r)
}

// TestIdleSessionsSendTheWholeTranscript: a session that keeps only its newest messages in
// memory sends all of them, knows what it has read, shows all of them, and undoes and reviews
// as before.
func TestIdleSessionsSendTheWholeTranscript(t *testing.T) {
	t.Parallel()
	st := &counting{Store: hermestest.NewStore()}
	before := talked(t, st, "s1", 500)
	m := hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two"), hermestest.Say("three"))
	h := newFixture(t, m, newToolTable(), func(c *session.Config) { c.Store = st })
	s := h.open(t, session.Open{Run: hermes.RunSpec{Session: "s1"}})
	e := listen(t, s)
	for i, text := range []string{"go on", "and on"} {
		submit(t, s, say(text))
		until[hermes.TurnDone](e)
		sent := m.Requests()[i].Messages
		if len(sent) != len(before)+2*i+1 || sent[0].Text() != "question 0" || sent[499].Text() != "answer 249" {
			t.Fatalf("turn %d sent %d messages, the first %q", i, len(sent), sent[0].Text())
		}
	}
	state, err := s.State(t.Context())
	if err != nil || len(state.Transcript) != 504 {
		t.Errorf("state: %d messages, %v", len(state.Transcript), err)
	}
	submit(t, s, hermes.Undo{})
	submit(t, s, hermes.Undo{})
	submit(t, s, hermes.Undo{})
	reads := st.reads
	if state, err := s.State(t.Context()); err != nil || len(state.Transcript) != 498 || st.reads != reads+1 {
		t.Errorf("after the undo: %d messages, %d reads, %v", len(state.Transcript), st.reads-reads, err)
	}
	submit(t, s, say("again"))
	until[hermes.TurnDone](e)
	if sent := m.Requests()[2].Messages; len(sent) != 499 || sent[497].Text() != "answer 248" {
		t.Errorf("after the undo %d messages were sent", len(sent))
	}
}

// BenchmarkIdleSession measures what a live session of 500 messages costs in memory while
// nothing runs in it, beside the messages that it keeps.
func BenchmarkIdleSession(b *testing.B) {
	const sessions, each = 1000, 500
	st := hermestest.NewStore()
	for i := range sessions {
		talked(b, st, fmt.Sprintf("s%d", i), each)
	}
	manager := session.NewManager(session.Config{Store: st, Models: models{hermestest.NewScript()}, Owner: hermes.Owner{Name: "here"}, NewRuntime: func(context.Context, hermes.RunSpec) (*session.Runtime, error) {
		return &session.Runtime{Tools: newToolTable(echo("echo"))}, nil
	}})
	for b.Loop() {
		before := heap()
		var open []*session.Session
		for i := range sessions {
			s, err := manager.Open(b.Context(), session.Open{Run: hermes.RunSpec{Session: fmt.Sprintf("s%d", i)}})
			if err != nil {
				b.Fatal(err)
			}
			open = append(open, s)
		}
		after := heap()
		recent := uint64(0) // what a copy of 200 messages costs
		list, err := st.Messages(b.Context(), "s0", hermes.Range{Last: 200})
		if err != nil {
			b.Fatal(err)
		}
		copies := make([][]hermes.Message, 100)
		start := heap()
		for i := range copies {
			copies[i] = slices.Clone(list)
		}
		recent = (heap() - start) / uint64(len(copies))
		b.ReportMetric(float64(after-before)/sessions/1024-float64(recent)/1024, "KB/session")
		runtime.KeepAlive(copies)
		for _, s := range open {
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
