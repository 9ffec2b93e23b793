package session

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hermes"
	"hermes/internal/recallblock"
)

const (
	// recallTime is how long a turn waits for the memory at most.
	recallTime = 2 * time.Second
)

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
	found := make(chan hermes.Recalled, 1)
	s.jobs.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, recallTime)
		defer cancel()
		known, err := s.runtime.Recall(ctx, hermes.RecallQuery{Session: ref, Text: said})
		if err != nil {
			s.cfg.Log.Warn("recall memory", "session", s.id, "err", err)
		}
		found <- known
	})
	late := time.NewTimer(recallTime)
	defer late.Stop()
	select {
	case known := <-found:
		return known
	case <-late.C:
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
