package chain

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"hermes"
	"hermes/internal/repetition"
)

// StopEndless returns the layer that ends an answer which repeats itself without end.
func StopEndless(now func() time.Time) Layer {
	return func(next hermes.Model) hermes.Model { return &endless{next, now} }
}

type endless struct {
	hermes.Model
	now func() time.Time
}

func (m *endless) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		var seen repetitions
		for d, err := range m.Model.Stream(ctx, r) {
			if !yield(d, err) || err != nil {
				return
			}
			if err := seen.take(d, m.now); err != nil {
				err.Provider, err.Model, _ = strings.Cut(m.ID(), ":")
				yield(hermes.Delta{}, err)
				return
			}
		}
	}
}

// repetitions looks for repetitions in the text, the thinking and the arguments
// of one answer, each for itself.
type repetitions struct {
	text, thinking repetition.Detector
	arguments      map[int]*repetition.Detector // by call
}

func (s *repetitions) take(d hermes.Delta, now func() time.Time) *hermes.ModelError {
	switch {
	case d.Reset != "":
		*s = repetitions{}
	case d.Text != "":
		s.text.Limits = repetition.Text
		return repeats("answer", &s.text, d.Text, now)
	case d.Reasoning != "":
		s.thinking.Limits = repetition.Text
		return repeats("thinking", &s.thinking, d.Reasoning, now)
	case d.Call != nil && d.Call.Arguments != "":
		a := s.arguments[d.Call.Index]
		if a == nil {
			if s.arguments == nil {
				s.arguments = map[int]*repetition.Detector{}
			}
			a = &repetition.Detector{Limits: repetition.Arguments}
			s.arguments[d.Call.Index] = a
		}
		return repeats("tool call", a, d.Call.Arguments, now)
	}
	return nil
}

func repeats(what string, in *repetition.Detector, text string, now func() time.Time) *hermes.ModelError {
	const shown = 40
	unit, times := in.Add(text, now)
	if times == 0 {
		return nil
	}
	if len(unit) > shown {
		unit = strings.ToValidUTF8(unit[:shown], "") + "…"
	}
	return &hermes.ModelError{
		Class: hermes.ClassRepetition, Fallback: true, Err: errEndless,
		Message: fmt.Sprintf("the %s was stopped because it repeated %q %d times; ask in another way, or choose another model with /model", what, unit, times),
	}
}
