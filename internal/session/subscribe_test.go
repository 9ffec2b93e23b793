package session

import (
	"strings"
	"testing"
	"testing/synctest"

	"hermes"
)

// TestASubscriberThatIsFarBehindLosesOnlyDeltas: its queue is bounded, and everything else
// stays in it.
func TestASubscriberThatIsFarBehindLosesOnlyDeltas(t *testing.T) {
	t.Parallel()
	const limit = 4096
	synctest.Test(t, func(t *testing.T) {
		var s subscribers
		events, cancel := s.add(0)
		defer cancel()
		s.publish(hermes.CallProgress{Text: "first"})
		synctest.Wait() // it is offered, and the queue is empty
		for range limit - 1 {
			s.publish(hermes.CallProgress{Text: "more"})
		}
		s.publish(hermes.TurnStarted{})
		for range 2 * limit {
			s.publish(hermes.CallProgress{Text: "too much"})
			s.publish(hermes.TextDelta{Text: "too much"})
		}
		s.publish(hermes.TurnDone{})
		s.close()
		var deltas, others int
		for e := range events {
			if isDelta(e) {
				deltas++
			} else {
				others++
			}
		}
		if deltas != 1+limit-1 || others != 2 {
			t.Errorf("it got %d deltas and %d other events", deltas, others)
		}
	})
}

// TestPiecesOfTextAreJoined: up to a size, and never across another event.
func TestPiecesOfTextAreJoined(t *testing.T) {
	t.Parallel()
	const pieces = 100_000
	synctest.Test(t, func(t *testing.T) {
		var s subscribers
		events, cancel := s.add(0)
		defer cancel()
		s.publish(hermes.TurnStarted{})
		synctest.Wait()
		for range pieces {
			s.publish(hermes.TextDelta{Text: "text"})
		}
		s.publish(hermes.ReasoningDelta{Text: "hm"})
		s.publish(hermes.ReasoningDelta{Text: "m"})
		s.publish(hermes.TextDelta{Text: "end"})
		s.close()
		var text, thinking strings.Builder
		n := 0
		for e := range events {
			n++
			switch e := e.(type) {
			case hermes.TextDelta:
				text.WriteString(e.Text)
			case hermes.ReasoningDelta:
				thinking.WriteString(e.Text)
			}
		}
		if text.String() != strings.Repeat("text", pieces)+"end" || thinking.String() != "hmm" || n != 1+(4*pieces+4095)/4096+2 {
			t.Errorf("%d events, %d bytes of text, thinking %q", n, text.Len(), thinking.String())
		}
	})
}
