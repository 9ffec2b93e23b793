package hermestest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"unicode/utf8"

	"hermes"
)

// Step is one answer of a [Script], for one call. The fields are yielded in the
// order of their declaration.
type Step struct {
	// Check checks the request before the answer. If it returns an error, the
	// call fails with it.
	Check func(*hermes.Request) error
	// Wait, if set, delays the answer until it is closed or the call's context
	// ends.
	Wait <-chan struct{}
	// Deltas are yielded as they are.
	Deltas []hermes.Delta
	// Reasoning and Text are yielded in pieces of a few characters; Calls
	// with their arguments in two pieces. Missing ids are generated.
	Reasoning string
	Text      string
	Calls     []hermes.ToolCall
	// Hang blocks after the fields above until the context ends.
	Hang bool
	// Err ends the answer with this error instead of a finish.
	Err error
	// Usage and Finish end the answer; they have defaults.
	Usage  *hermes.Usage
	Finish hermes.Finish
}

// Say is a step that answers with text.
func Say(text string) Step { return Step{Text: text} }

// CallTool is a step that asks for one tool call. Arguments is JSON.
func CallTool(name, arguments string) Step {
	return Step{Calls: []hermes.ToolCall{{Name: name, Arguments: arguments}}}
}

// Fail is a step that fails at once.
func Fail(err error) Step { return Step{Err: err} }

// Script is a [hermes.Model] that plays steps in order, one for each call, and
// records the requests. It may be called concurrently; concurrent calls get
// steps in the order in which their iterations begin. After the last step, a
// call fails with ErrScriptEnded.
type Script struct {
	id string

	mu       sync.Mutex
	steps    []Step
	played   int
	requests []hermes.Request
	loop     bool
}

// ErrScriptEnded is returned by a Script that has no step left.
var ErrScriptEnded = errors.New("the script has no step left")

// NewScript returns a model with the id "script:test".
func NewScript(steps ...Step) *Script { return &Script{id: "script:test", steps: steps} }

// Named sets the id and returns the script.
func (s *Script) Named(id string) *Script {
	s.id = id
	return s
}

// Forever makes the script start again after its last step, and returns it.
func (s *Script) Forever() *Script {
	s.loop = true
	return s
}

// Add appends steps. It may be called while the script plays.
func (s *Script) Add(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// Requests returns copies of the requests so far, in order.
func (s *Script) Requests() []hermes.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Left returns how many steps were not played yet.
func (s *Script) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, len(s.steps)-s.played)
}

// ID returns the id of the model.
func (s *Script) ID() string { return s.id }

// Stream plays the next step.
func (s *Script) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		step, n, err := s.next(r)
		if err == nil {
			err = step.begin(ctx, r)
		}
		if err != nil {
			yield(hermes.Delta{}, err)
			return
		}
		for _, d := range step.deltas(n) {
			if ctx.Err() != nil {
				yield(hermes.Delta{}, context.Cause(ctx))
				return
			}
			if !yield(d, nil) {
				return
			}
		}
		if step.Hang {
			<-ctx.Done()
			yield(hermes.Delta{}, context.Cause(ctx))
			return
		}
		if step.Err != nil {
			yield(hermes.Delta{}, step.Err)
		}
	}
}

func (s *Script) next(r *hermes.Request) (Step, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := *r
	seen.Messages = slices.Clone(r.Messages)
	seen.Tools = slices.Clone(r.Tools)
	s.requests = append(s.requests, seen)
	if s.loop && s.played == len(s.steps) {
		s.played = 0
	}
	if s.played >= len(s.steps) {
		return Step{}, 0, fmt.Errorf("%w (asked %d times)", ErrScriptEnded, len(s.requests))
	}
	s.played++
	return s.steps[s.played-1], len(s.requests), nil
}

func (st Step) begin(ctx context.Context, r *hermes.Request) error {
	if st.Check != nil {
		if err := st.Check(r); err != nil {
			return err
		}
	}
	if st.Wait == nil {
		return nil
	}
	select {
	case <-st.Wait:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// deltas returns the deltas of the step; n makes the ids of calls unique.
func (st Step) deltas(n int) []hermes.Delta {
	ds := slices.Clone(st.Deltas)
	for _, piece := range pieces(st.Reasoning) {
		ds = append(ds, hermes.Delta{Reasoning: piece})
	}
	for _, piece := range pieces(st.Text) {
		ds = append(ds, hermes.Delta{Text: piece})
	}
	for i, c := range st.Calls {
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d_%d", n, i)
		}
		half := len(c.Arguments) / 2
		ds = append(ds,
			hermes.Delta{Call: &hermes.CallDelta{Index: i, ID: c.ID, Name: c.Name, Arguments: c.Arguments[:half], Signature: c.Signature}},
			hermes.Delta{Call: &hermes.CallDelta{Index: i, Arguments: c.Arguments[half:]}})
	}
	if st.Hang || st.Err != nil {
		return ds
	}
	return append(ds, st.ending()...)
}

func (st Step) ending() []hermes.Delta {
	usage, finish := st.Usage, st.Finish
	if usage == nil {
		usage = &hermes.Usage{Input: 100, Output: 10, Calls: 1}
	}
	if finish == "" {
		finish = hermes.FinishStop
		if len(st.Calls) > 0 {
			finish = hermes.FinishCalls
		}
	}
	return []hermes.Delta{{Usage: usage}, {Finish: finish}}
}

// pieces cuts text as a stream would, never inside a character.
func pieces(text string) []string {
	const size = 7
	var out []string
	for len(text) > size {
		n := size
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		out, text = append(out, text[:n]), text[n:]
	}
	if text != "" {
		out = append(out, text)
	}
	return out
}
