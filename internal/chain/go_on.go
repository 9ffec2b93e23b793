package chain

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"hermes"
)

// Why an answer is of no use, although the model worked on it. The same request
// would most likely end the same way.
var (
	errOnlyThought = errors.New("the model only sent its thinking")
	errUsedUp      = errors.New("the output limit was used up by thinking")
	errEndless     = errors.New("the answer repeated itself without end")
)

// Texts for the model. They are sent once and not stored.
const (
	goOnText  = "[You have not answered yet: nothing but your thinking arrived. Go on from there: give your answer or make your next tool call.]"
	thinkLess = "[Your last attempt reached the output limit before you answered. Think briefly now, then answer or make your next tool call.]"
	noRepeat  = "[Your last attempt was stopped because it repeated the same text without end. Answer or make your next tool call without that.]"
)

// maxGoOn is how often the model is asked to go on. Thinking that used up its
// limit, and endless repetitions, cost as much as an answer can.
var maxGoOn = map[error]int{errOnlyThought: 3, errUsedUp: 1, errEndless: 1}

// GoOn is the layer that goes on after an answer which is only thinking, or which
// was stopped because it repeated itself: it appends the thinking and a note,
// instead of sending the same request again. What it appends is not stored; the
// thinking is part of the answer.
func GoOn(next hermes.Model) hermes.Model { return &goingOn{next} }

type goingOn struct{ hermes.Model }

// Stream reports that it goes on (Notice).
func (m *goingOn) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		var a attempt
		left := maps.Clone(maxGoOn)
		for asked := *r; ; {
			thoughts := listen(m.Model.Stream(ctx, &asked))
			if !a.run(thoughts.answer, yield) {
				return
			}
			note, why := useless(a.err)
			if why == nil || left[why] == 0 || ctx.Err() != nil {
				yield(hermes.Delta{}, a.err)
				return
			}
			left[why]--
			a.shown = thoughts.discard
			if !a.again(yield, why.Error(), fmt.Sprintf("%s: %s; asking it to go on", m.ID(), why)) {
				return
			}
			asked.Messages = append(slices.Clip(asked.Messages),
				hermes.Message{Role: hermes.RoleAssistant, Reasoning: thoughts.blocks, Synthetic: true},
				hermes.Message{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: note}}, Synthetic: true})
		}
	}
}

// thoughts is an answer that is passed on, with what is needed to go on after it.
type thoughts struct {
	answer iter.Seq2[hermes.Delta, error]
	blocks []hermes.Reasoning
	// discard says that text or calls were passed on, which must be withdrawn.
	discard bool
}

func listen(answer iter.Seq2[hermes.Delta, error]) *thoughts {
	t := &thoughts{}
	t.answer = func(yield func(hermes.Delta, error) bool) {
		for d, err := range answer {
			switch {
			case d.Reset != "":
				*t = thoughts{answer: t.answer}
			case d.Block != nil:
				t.blocks = append(t.blocks, *d.Block)
			case d.Text != "", d.Call != nil:
				t.discard = true
			}
			if !yield(d, err) {
				return
			}
		}
	}
	return t
}

// useless says why an answer is of no use, and what to tell the model. It returns
// nil for every other failure.
func useless(err error) (note string, why error) {
	switch {
	case errors.Is(err, errOnlyThought):
		return goOnText, errOnlyThought
	case errors.Is(err, errUsedUp):
		return thinkLess, errUsedUp
	case errors.Is(err, errEndless):
		return noRepeat, errEndless
	}
	return "", nil
}
