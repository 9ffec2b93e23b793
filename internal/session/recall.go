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
	// recallTime is how long a turn waits for what is known; a slow service
	// delays it by no more.
	recallTime = 2 * time.Second
	// observeTime bounds what a memory does with one turn.
	observeTime = 30 * time.Second
	// observeGrace is how long the end of a session waits for all of it.
	observeGrace = 10 * time.Second
	// maxObserving bounds the turns that wait for a memory; further ones are
	// not told.
	maxObserving = 16
)

// memoryJobs is what a session's memory does beside its turns. It belongs to the
// actor, but for the goroutines that wg counts.
type memoryJobs struct {
	wg     sync.WaitGroup
	ctx    context.Context // made with the first goroutine
	cancel context.CancelFunc
	tail   chan struct{} // closed when the last turn so far was observed
	slots  chan struct{} // one for each turn under way
}

func (b *memoryJobs) start() {
	if b.ctx == nil {
		b.ctx, b.cancel = context.WithCancel(context.Background())
		b.slots = make(chan struct{}, maxObserving)
	}
}

// wait waits for what runs, and cuts it off when that takes too long.
func (b *memoryJobs) wait() {
	if b.ctx == nil {
		return
	}
	late := time.AfterFunc(observeGrace, b.cancel)
	b.wg.Wait()
	late.Stop()
	b.cancel()
}

// recall joins what is known to a message of the person, as a hidden part in
// a fence before the rest. It is stored with the message, so that the next
// request begins with the bytes of this one. What an earlier message of the
// transcript carries already is not said again.
func (s *Session) recall(m *hermes.Message) {
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), Recalled) // of a message that is asked again
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

// Recalled reports that a part of a message is what a memory knew of it.
func Recalled(p hermes.Part) bool {
	return p.Hidden && p.Text != "" && strings.TrimSpace(recallblock.Strip(p.Text)) == ""
}

// lookUp asks the memory, within its time.
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

// carries reports whether the transcript holds a recalled part already.
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

// observe tells the memory of a turn that has ended well, one turn after
// another, beside the session.
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
		s.cfg.Log.Warn("the memory is too slow: a turn was not told to it", "session", s.id, "turn", done.Turn)
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
			s.cfg.Log.Warn("tell the memory of a turn", "session", s.id, "turn", turn.Session.Turn, "err", err)
		}
	})
}

// saidIn is what the person said in a turn.
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

// unfenced is a model whose answers do not repeat recalled memory.
type unfenced struct{ hermes.Model }

// Stream takes memory-context blocks out of the text before anyone sees it.
func (u unfenced) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
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
