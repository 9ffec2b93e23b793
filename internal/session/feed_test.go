package session

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/protocol"
)

func mustFeed() *feed { return newFeed("s", time.Now, nil) }

// drain reads what a subscriber has until its channel is closed or has nothing more.
func drain(t *testing.T, events <-chan protocol.Envelope, until int64) (list []protocol.Envelope, closed bool) {
	t.Helper()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return list, true
			}
			if list = append(list, e); e.Seq == until {
				return list, false
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("event %d did not come; got %+v", until, list)
		}
	}
}

// TestAttachMissesNothing attaches at any moment of a turn that goes on meanwhile: the snapshot
// and the events after it are the whole text, once.
func TestAttachMissesNothing(t *testing.T) {
	t.Parallel()
	for range 50 {
		f := mustFeed()
		f.publish(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")})
		f.publish(hermes.StepStarted{Step: 1})
		const pieces = 2000
		go func() {
			for i := range pieces {
				f.publish(hermes.TextDelta{Text: fmt.Sprintf("%d ", i)})
			}
			f.publish(hermes.Notice{Text: "end"})
		}()
		for range rand.IntN(200) {
			runtime.Gosched()
		}
		s, events := f.attach(t.Context(), hermes.From{}, protocol.After{}, protocol.Snapshot{})
		var list []protocol.Envelope
		if s.Seq < pieces+3 {
			list, _ = drain(t, events, pieces+3)
		}
		text := s.Turn.Text
		for _, e := range list {
			if d, ok := e.Event.(hermes.TextDelta); ok {
				text += d.Text
			}
		}
		var want strings.Builder
		for i := range pieces {
			fmt.Fprintf(&want, "%d ", i)
		}
		if text != want.String() {
			t.Fatalf("the text is not whole: %d bytes, want %d", len(text), want.Len())
		}
	}
}

// TestAPositionIsContinued: a frontend that attaches again with its position gets what it has
// missed, without a snapshot, as long as the ring has it.
func TestAPositionIsContinued(t *testing.T) {
	t.Parallel()
	f := mustFeed()
	notice := func(n int) { f.publish(hermes.Notice{Text: fmt.Sprint(n)}) }
	f.publish(hermes.TurnStarted{Turn: 1}) // at rest the ring is small
	for i := 2; i <= 10; i++ {
		notice(i)
	}
	for _, tt := range []struct {
		after protocol.After
		first int64 // 0 means that a snapshot is needed
	}{
		{protocol.After{}, 0},
		{protocol.After{Epoch: 1, Seq: 4}, 5},
		{protocol.After{Epoch: 1, Seq: 9}, 10},
		{protocol.After{Epoch: 1, Seq: 11}, 0}, // of another process
		{protocol.After{Epoch: 2, Seq: 4}, 0},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		s, events := f.attach(ctx, hermes.From{}, tt.after, protocol.Snapshot{State: protocol.StateIdle})
		if s.Continued != (tt.first > 0) {
			t.Errorf("%+v: the snapshot is %+v", tt.after, s)
		} else if tt.first > 0 {
			if list, _ := drain(t, events, 10); list[0].Seq != tt.first || len(list) != int(11-tt.first) {
				t.Errorf("%+v: got %+v", tt.after, list)
			}
		}
		cancel()
	}
	for i := range 2 * ringEvents {
		notice(i)
	}
	if s, _ := f.attach(t.Context(), hermes.From{}, protocol.After{Epoch: 1, Seq: 9}, protocol.Snapshot{}); s.Continued {
		t.Error("what is no longer in the ring is continued")
	}
	f.mu.Lock()
	at := f.dropped
	f.mu.Unlock()
	if s, events := f.attach(t.Context(), hermes.From{}, at, protocol.Snapshot{}); !s.Continued {
		t.Errorf("the oldest position %+v is not continued: %+v", at, s)
	} else if list, _ := drain(t, events, f.seq); len(list) != ringEvents {
		t.Errorf("%d events", len(list))
	}
	f.renumber(2)
	notice(1)
	if s, _ := f.attach(t.Context(), hermes.From{}, protocol.After{}, protocol.Snapshot{}); s.Epoch != 2 || s.Seq != 1 {
		t.Errorf("in the next epoch: %+v", s)
	}
}

// TestTheBeginningOfAnEpochIsAPosition: what came in the epoch before does not come again.
func TestTheBeginningOfAnEpochIsAPosition(t *testing.T) {
	t.Parallel()
	f := mustFeed()
	f.publish(hermes.Notice{Text: "before"})
	f.renumber(4)
	first, _ := f.attach(t.Context(), hermes.From{}, protocol.After{}, protocol.Snapshot{})
	for _, n := range []int64{1, 2} {
		f.publish(hermes.Notice{Text: "after"})
		s, events := f.attach(t.Context(), hermes.From{}, protocol.After{Epoch: first.Epoch, Seq: first.Seq}, protocol.Snapshot{})
		if list, _ := drain(t, events, n); !s.Continued || len(list) != int(n) || list[0].Epoch != 4 || list[0].Seq != 1 {
			t.Errorf("%+v, then %+v", s, list)
		}
	}
	for _, odd := range []protocol.After{{Epoch: 4, Seq: -1}, {Epoch: 4, Seq: 3}, {Epoch: 5}, {Epoch: -4, Seq: 1}, {Epoch: 1, Seq: 1}, {Seq: 1}} {
		if s, _ := f.attach(t.Context(), hermes.From{}, odd, protocol.Snapshot{}); s.Continued {
			t.Errorf("%+v is continued", odd)
		}
	}
}

// TestAFrontendThatStopsReadingCostsLittle: 100,000 events while it does not read take at most the
// ring, and it is told.
func TestAFrontendThatStopsReadingCostsLittle(t *testing.T) {
	t.Parallel()
	f := mustFeed()
	_, stuck := f.attach(t.Context(), hermes.From{}, protocol.After{}, protocol.Snapshot{})
	f.publish(hermes.TurnStarted{Turn: 1})
	for i := range 100_000 {
		f.publish(hermes.CallProgress{CallID: "c", Text: strings.Repeat("x", i%500)})
		if i%1000 != 0 {
			continue
		}
		f.mu.Lock()
		if f.bytes > ringBytes || len(f.list) > ringEvents || cap(f.list) > 4*ringEvents {
			t.Fatalf("the ring has %d events (room for %d) of %d bytes", len(f.list), cap(f.list), f.bytes)
		}
		f.mu.Unlock()
	}
	list, closed := drain(t, stuck, -1)
	if _, ok := list[len(list)-1].Event.(hermes.Lagged); !ok || !closed {
		t.Errorf("the last of %d events is %T, closed %v", len(list), list[len(list)-1].Event, closed)
	}
	f.publish(hermes.TurnDone{Turn: 1})
	if f.bytes > idleRing || cap(f.list) > 2*len(f.list)+64 {
		t.Errorf("at rest the ring has %d bytes, and room for %d events", f.bytes, cap(f.list))
	}
}

// TestTheViewIsTheSnapshot: what a frontend makes of the events is what a later snapshot says.
func TestTheViewIsTheSnapshot(t *testing.T) {
	t.Parallel()
	f := mustFeed()
	_, events := f.attach(t.Context(), hermes.From{}, protocol.After{}, protocol.Snapshot{})
	call := hermes.ToolCall{ID: "c1", Name: "terminal"}
	all := []hermes.Event{
		hermes.TurnStarted{Turn: 3, Message: hermes.Message{ID: 7, Role: hermes.RoleUser}, From: hermes.From{Name: "one"}},
		hermes.StepStarted{Step: 1}, hermes.ReasoningDelta{Text: "hm"}, hermes.TextDelta{Text: "I"}, hermes.TextDelta{Text: " run"},
		hermes.Reset{}, hermes.TextDelta{Text: "make"}, hermes.CallDeltaSeen{Name: "terminal", Bytes: 10},
		hermes.Appended{Message: hermes.Message{ID: 8, Role: hermes.RoleAssistant}},
		hermes.CallStarted{Call: call, Preview: "make"}, hermes.CallProgress{CallID: "c1", Text: "compiling"},
		hermes.Asked{ID: "1.1", Question: &hermes.Question{Text: "sure?"}}, hermes.Queued{Messages: []hermes.QueuedMessage{{Text: "later"}}},
		hermes.AnswerTaken{ID: "1.1", Answered: true}, hermes.CallDone{Call: call}, hermes.StepStarted{Step: 2}, hermes.TextDelta{Text: "done"},
		hermes.TurnDone{Turn: 3},
	}
	var view protocol.View
	for i, e := range all {
		f.publish(e)
		list, _ := drain(t, events, int64(i+1))
		for _, e := range list {
			view.Apply(e)
		}
		var got, want protocol.Snapshot
		view.Fill(&got)
		f.fill(&want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("after %T: -snapshot +view:\n%s", e, diff)
		}
		if _, ok := e.(hermes.CallProgress); ok {
			c := got.Turn.Calls
			if got.State != protocol.StateWorking || got.Last != 8 || got.Turn.ModelCalls != 1 || got.Turn.Text != "" || len(c) != 1 || c[0].Progress != "compiling" ||
				got.Activity.What != "terminal: make" || got.Progress(c[0].Began.Add(3*time.Minute+time.Second)) != "working for 3 min, terminal: make for 3 min, model call 1, no progress for 3 min" {
				t.Errorf("while a call runs: %+v, %s", got, got.Progress(c[0].Began.Add(3*time.Minute+time.Second)))
			}
		}
	}
}

// TestAViewAlwaysAgrees: whatever happens, and however texts were joined on the way, a view of
// the events has at each of them what a snapshot of that moment had.
func TestAViewAlwaysAgrees(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		f := mustFeed()
		child := newFeed("c", time.Now, &Session{feed: f})
		grandchild := newFeed("g", time.Now, &Session{feed: child})
		_, events := f.attach(t.Context(), hermes.From{}, protocol.After{}, protocol.Snapshot{})
		var want []protocol.Snapshot // by number of the event
		for range 300 {
			from := []*feed{f, f, f, child, grandchild}[r.IntN(5)]
			from.publish(anyEvent(r))
			for int64(len(want)) < f.seq { // not all of a child is shown above
				want = append(want, filled(f.fill))
			}
		}
		f.publish(hermes.Notice{})
		want = append(want, filled(f.fill))
		var view protocol.View
		list, _ := drain(t, events, f.seq)
		for _, e := range list {
			view.Apply(e)
			if diff := cmp.Diff(want[e.Seq-1], filled(view.Fill)); diff != "" {
				t.Fatalf("seed %d, after %T: -snapshot +view:\n%s", seed, e.Event, diff)
			}
		}
	}
}

func filled(fill func(*protocol.Snapshot)) (s protocol.Snapshot) {
	fill(&s)
	return s
}

// anyEvent returns one of all kinds, about few calls, questions and messages.
func anyEvent(r *rand.Rand) hermes.Event {
	id := fmt.Sprint(r.IntN(3))
	call := hermes.ToolCall{ID: id, Name: "tool"}
	list := []hermes.Event{
		hermes.TextDelta{Text: id}, hermes.TextDelta{Text: "more"}, hermes.TextDelta{Text: "text"}, hermes.ReasoningDelta{Text: id}, hermes.CallDeltaSeen{Name: id},
		hermes.TurnStarted{Turn: r.Int64N(3), Message: hermes.Message{ID: r.Int64N(99)}}, hermes.StepStarted{Step: 1}, hermes.Reset{}, hermes.Notice{Text: id},
		hermes.CallStarted{Call: call}, hermes.CallProgress{CallID: id, Text: "p"}, hermes.CallDone{Call: call}, hermes.UsageUpdated{Turn: hermes.Usage{Input: 1}},
		hermes.Appended{Message: hermes.Message{ID: r.Int64N(99), Role: hermes.RoleAssistant}}, hermes.TurnDone{Turn: 1}, hermes.Asked{ID: id}, hermes.AnswerTaken{ID: id},
		hermes.Escalated{ID: id}, hermes.Queued{Messages: make([]hermes.QueuedMessage, r.IntN(3))}, hermes.Rewound{ID: 1}, hermes.Closed{}, hermes.Titled{}, hermes.Configured{},
	}
	return list[r.IntN(len(list))]
}

// TestAFrontendThatLaggedKeepsNothing when the session rests: what it has not read is lost to it
// anyway.
func TestAFrontendThatLaggedKeepsNothing(t *testing.T) {
	t.Parallel()
	f := mustFeed()
	f.attach(t.Context(), hermes.From{}, protocol.After{}, protocol.Snapshot{})
	f.publish(hermes.TurnStarted{Turn: 1})
	for range 2 * ringEvents {
		f.publish(hermes.CallProgress{CallID: "c", Text: "working"})
	}
	f.publish(hermes.TurnDone{Turn: 1})
	if f.bytes > idleRing {
		t.Errorf("the ring of a session at rest has %d bytes, of %d at most", f.bytes, idleRing)
	}
}

// BenchmarkPublish is what a session pays for an event, with frontends that read and with one that
// does not.
func BenchmarkPublish(b *testing.B) {
	for _, bench := range []struct {
		name           string
		readers, stuck int
	}{{"no reader", 0, 0}, {"1 reader", 1, 0}, {"3 readers", 3, 0}, {"2 readers and a stuck one", 2, 1}} {
		b.Run(bench.name, func(b *testing.B) {
			f := mustFeed()
			f.publish(hermes.TurnStarted{Turn: 1})
			for i := range bench.readers + bench.stuck {
				_, events := f.attach(b.Context(), hermes.From{}, protocol.After{}, protocol.Snapshot{})
				if i < bench.readers {
					go func() {
						for range events {
						}
					}()
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				f.publish(hermes.CallProgress{CallID: "c", Text: "working"})
			}
		})
	}
}
