package tui

import (
	"bytes"
	"context"
	"testing"
	"time"

	"hermes"
	"hermes/internal/protocol"
)

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
