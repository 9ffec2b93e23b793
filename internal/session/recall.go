package session

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"hermes"
	"hermes/internal/recallblock"
)

const (
	// recallTime is how long a turn waits for the memory at most.
	recallTime = 2 * time.Second
	// observeTime is how long a memory may work on one turn.
	observeTime = 30 * time.Second
	// observeGrace is how long the end of a session waits for its memory.
	observeGrace = 10 * time.Second
	// maxObserving is how many turns may wait for the memory; further ones are
	// not observed.
	maxObserving = 16
)

// memoryJobs are the background jobs of a session's memory. They belong to the
// actor, except for the goroutines that wg counts.
type memoryJobs struct {
	wg     sync.WaitGroup
	ctx    context.Context // created with the first goroutine
	cancel context.CancelFunc
	tail   chan struct{} // closed when the last turn so far was observed
	slots  chan struct{} // one for each turn that waits or runs
}

func (b *memoryJobs) start() {
	if b.ctx == nil {
		b.ctx, b.cancel = context.WithCancel(context.Background())
		b.slots = make(chan struct{}, maxObserving)
	}
}

// wait waits for running jobs and cancels those that take too long.
func (b *memoryJobs) wait() {
	if b.ctx == nil {
		return
	}
	late := time.AfterFunc(observeGrace, b.cancel)
	b.wg.Wait()
	late.Stop()
	b.cancel()
}

// recall adds what the memory knows to a user message, as a hidden first part
// in a recall block. It is stored with the message, so that the next request
// begins with the same bytes. A block that the transcript already has is not
// added again.
func (s *Session) recall(m *hermes.Message) {
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), Recalled) // a retried message has an old block
	said := strings.TrimSpace(m.Visible())
	if s.runtime.Recall == nil || m.Synthetic || said == "" {
		return
	}
	known := s.lookUp(s.ref(m.Turn), said)
	part := recallblock.Wrap(firstChars(known.Text, hermes.MaxRecall))
	if part == "" || s.carries(part) {
		return
	}
	m.Parts = slices.Insert(m.Parts, 0, hermes.Part{Text: part, Hidden: true})
	m.Provenance = hermes.AddProvenance(m.Provenance, known.Provenance)
}

// Recalled reports whether a part of a message is a recall block.
func Recalled(p hermes.Part) bool {
	return p.Hidden && p.Text != "" && strings.TrimSpace(recallblock.Strip(p.Text)) == ""
}

// lookUp asks the memory and waits for at most recallTime.
func (s *Session) lookUp(ref hermes.SessionRef, said string) hermes.Recalled {
	s.memoryJobs.start()
	ctx, cancel := context.WithTimeout(s.memoryJobs.ctx, recallTime)
	defer cancel()
	found := make(chan hermes.Recalled, 1)
	s.memoryJobs.wg.Go(func() {
		known, err := s.runtime.Recall(ctx, hermes.RecallQuery{Session: ref, Text: said})
		if err != nil {
			s.cfg.Log.Warn("recall memory", "session", s.id, "err", err)
		}
		found <- known
	})
	select {
	case known := <-found:
		return known
	case <-ctx.Done():
	case <-s.closing:
	}
	return hermes.Recalled{}
}

// carries reports whether the transcript already has a recalled part.
func (s *Session) carries(part string) bool {
	return slices.ContainsFunc(s.transcript, func(m hermes.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p hermes.Part) bool { return p.Hidden && p.Text == part })
	})
}

func firstChars(text string, n int) string {
	if len(text) <= n || utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n])
}

// observe passes a turn that ended successfully to the memory, in the
// background and one turn after another.
func (s *Session) observe(done hermes.TurnDone) {
	if s.runtime.Observe == nil || done.Outcome != hermes.OutcomeDone || done.Text == "" {
		return
	}
	said := s.saidIn(done.Turn)
	if said == "" {
		return
	}
	s.memoryJobs.start()
	select {
	case s.memoryJobs.slots <- struct{}{}:
	default:
		s.cfg.Log.Warn("the memory is too slow: it did not get a turn", "session", s.id, "turn", done.Turn)
		return
	}
	before, now := s.memoryJobs.tail, make(chan struct{})
	s.memoryJobs.tail = now
	turn := hermes.MemoryTurn{Session: s.ref(done.Turn), Said: said, Answer: recallblock.Strip(done.Text), At: s.cfg.Now()}
	s.memoryJobs.wg.Go(func() {
		defer close(now)
		defer func() { <-s.memoryJobs.slots }()
		if before != nil {
			<-before
		}
		ctx, cancel := context.WithTimeout(s.memoryJobs.ctx, observeTime)
		defer cancel()
		if err := s.runtime.Observe(ctx, turn); err != nil {
			s.cfg.Log.Warn("pass a turn to the memory", "session", s.id, "turn", turn.Session.Turn, "err", err)
		}
	})
}

// saidIn returns what the user said in a turn.
func (s *Session) saidIn(turn int64) string {
	var said []string
	for _, m := range slices.Backward(s.transcript) {
		if m.Turn < turn {
			break
		}
		if m.Turn == turn && m.Role == hermes.RoleUser && !m.Synthetic && m.Visible() != "" {
			said = append(said, m.Visible())
		}
	}
	slices.Reverse(said)
	return strings.Join(said, "\n")
}

// scrubbed is a model whose answers do not repeat recall blocks.
type scrubbed struct{ hermes.Model }

// Stream removes recall blocks from the answer's text.
func (u scrubbed) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		var scrub recallblock.Scrubber
		rest := func() bool {
			text := scrub.Flush()
			return text == "" || yield(hermes.Delta{Text: text}, nil)
		}
		for d, err := range u.Model.Stream(ctx, r) {
			switch {
			case err != nil, d.Call != nil, d.Finish != "":
				if !rest() {
					return
				}
			case d.Reset != "":
				scrub.Reset()
			case d.Text != "":
				if d.Text = scrub.Feed(d.Text); d.Text == "" {
					continue
				}
			}
			if !yield(d, err) {
				return
			}
		}
		rest()
	}
}
