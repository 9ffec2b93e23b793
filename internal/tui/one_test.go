package tui

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/protocol"
)

// overSession is a client for one session of a test.
type overSession struct {
	protocol.Client
	s Session
}

func (c overSession) Attach(ctx context.Context, id string, _ hermes.From, _ protocol.After) (protocol.Snapshot, <-chan protocol.Envelope, error) {
	events, cancel := c.s.Subscribe(0)
	out := make(chan protocol.Envelope)
	go func() {
		defer close(out)
		defer cancel()
		for {
			select {
			case e := <-events:
				select {
				case out <- protocol.Envelope{Session: id, Event: e}:
				case <-ctx.Done():
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return protocol.Snapshot{}, out, nil
}

func (c overSession) Do(ctx context.Context, _ string, _ hermes.From, op hermes.Op) error {
	return c.s.Submit(ctx, op)
}

// lagging is a client that loses events in the middle of a turn.
type lagging struct {
	protocol.Client
	snapshots []protocol.Snapshot
	events    [][]hermes.Event
	history   []hermes.Message
}

func (c *lagging) Attach(context.Context, string, hermes.From, protocol.After) (protocol.Snapshot, <-chan protocol.Envelope, error) {
	if len(c.snapshots) == 0 { // Ask has its answer
		return protocol.Snapshot{}, nil, protocol.ErrConnection
	}
	s, list := c.snapshots[0], c.events[0]
	c.snapshots, c.events = c.snapshots[1:], c.events[1:]
	out := make(chan protocol.Envelope, len(list)+1)
	for _, e := range list {
		out <- protocol.Envelope{Session: "s", Event: e}
	}
	out <- protocol.Envelope{Session: "s", Event: hermes.Lagged{}}
	close(out)
	return s, out, nil
}

func (c *lagging) Do(context.Context, string, hermes.From, hermes.Op) error { return nil }

func (c *lagging) History(context.Context, string, hermes.Range) ([]hermes.Message, error) {
	list := c.history
	c.history = nil
	return list, nil
}

// TestAskPrintsWhatItMissed: a pipe that was not read for a while gets every word once.
func TestAskPrintsWhatItMissed(t *testing.T) {
	t.Parallel()
	done := hermes.TurnDone{Turn: 1, Outcome: hermes.OutcomeDone, Text: "And now the rest."}
	first := hermes.Message{ID: 5, Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "I look at it."}}}
	for name, c := range map[string]*lagging{
		"in one step": {
			snapshots: []protocol.Snapshot{{}, {Turn: &protocol.Turn{Text: "I look at it, no"}}, {Done: &done, Last: 6}},
			events:    [][]hermes.Event{{hermes.TextDelta{Text: "I look"}}, {hermes.TextDelta{Text: "w."}}, nil},
			history:   []hermes.Message{{ID: 6, Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "I look at it, now."}}}},
		},
		"over steps": {
			snapshots: []protocol.Snapshot{{}, {Turn: &protocol.Turn{Text: "And now"}, Last: 5}, {Done: &done, Last: 5}},
			events:    [][]hermes.Event{{hermes.TextDelta{Text: "I look"}}, {hermes.TextDelta{Text: " the rest."}, done}, nil},
			history:   []hermes.Message{first},
		},
	} {
		want := map[string]string{"in one step": "I look at it, now.\nAnd now the rest.\n", "over steps": "I look at it.\n\nAnd now the rest.\n"}[name]
		var out bytes.Buffer
		got, err := Ask(t.Context(), c, "s", hermes.From{}, []hermes.Part{{Text: "hi"}}, NewPrinter(&out, &bytes.Buffer{}, Display{Plain: true}, 80, time.Now))
		if err != nil || got.Text != done.Text || out.String() != want {
			t.Errorf("%s: %+v, %v, printed %q, want %q", name, got, err, out.String(), want)
		}
	}
}

// TestAMissedQuestionIsAskedAndOneThatIsGoneIsClosed after events were lost.
func TestAMissedQuestionIsAskedAndOneThatIsGoneIsClosed(t *testing.T) {
	t.Parallel()
	var got []hermes.Event
	o := &one{p: recorder{&got}}
	o.event(hermes.Asked{ID: "1.1"})
	o.event(hermes.Asked{ID: "1.2"})
	got = nil
	o.take(protocol.Update{Snapshot: &protocol.Snapshot{
		Session: protocol.SessionInfo{ID: "s"}, Turn: &protocol.Turn{},
		Questions: []protocol.OpenQuestion{{Session: "s", Asked: hermes.Asked{ID: "1.2"}}, {Session: "s", Asked: hermes.Asked{ID: "1.3"}}, {Session: "child", Asked: hermes.Asked{ID: "2.1"}}},
	}})
	want := []hermes.Event{hermes.AnswerTaken{ID: "1.1"}, hermes.Asked{ID: "1.3"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// recorder keeps events.
type recorder struct{ list *[]hermes.Event }

func (r recorder) Event(e hermes.Event) { *r.list = append(*r.list, e) }
func (recorder) Err() error             { return nil }
