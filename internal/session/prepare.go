package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/session/turn"
)

const (
	// recallTime is how long a turn waits for the memory at most.
	recallTime = 2 * time.Second
	// surroundingsTime is how long Runtime.Surroundings may take.
	surroundingsTime = 500 * time.Millisecond
)

// preparation is what a turn needs before its first request. It is made in a goroutine of its
// own, from copies: a slow tool server, prompt or memory delays the turn and nothing else.
type preparation struct {
	session *Session // only what does not belong to its goroutine is used
	run     hermes.RunSpec
	row     hermes.Session
	ref     hermes.SessionRef
	from    hermes.From     // who sent the message
	message *hermes.Message // of the user or the program; nil if the turn goes on with the transcript
	// replaces is the id of the stored message that a retry repeats, else 0.
	replaces int64

	runtime *Runtime // made if it is nil
	model   hermes.Model
	system  *hermes.SystemPrompt // of a session without one
	tools   json.RawMessage
	offer
	read       func(context.Context) ([]hermes.Message, error) // the whole transcript; nil if it is in memory
	transcript []hermes.Message
	background func(func(context.Context))
}

// prepare returns what the next turn needs, to be made.
func (s *Session) prepare(m *hermes.Message) *preparation {
	number := s.record.LastTurn()
	replaces := int64(0)
	if m != nil {
		number++
		replaces, m.ID = m.ID, 0
	}
	p := &preparation{
		session: s, run: s.run, row: s.record.Row, ref: s.ref(number), message: m, replaces: replaces,
		runtime: s.runtime, model: s.model.model, offer: s.offer, background: s.jobs.Go,
	}
	if s.record.Whole() {
		p.transcript = s.record.Messages()
	} else {
		p.read = s.record.Reader()
	}
	return p
}

// make does the slow work. What it made stays in the preparation also after an error.
func (p *preparation) make(ctx context.Context) error {
	if err := p.makeRuntime(ctx); err != nil {
		return err
	}
	if err := p.makePrefix(ctx); err != nil {
		return err
	}
	if p.read != nil {
		var err error
		if p.transcript, err = p.read(ctx); err != nil {
			return err
		}
	}
	return p.complete(ctx)
}

// makeRuntime builds the session's runtime, once.
func (p *preparation) makeRuntime(ctx context.Context) error {
	if p.runtime != nil {
		return nil
	}
	cfg := p.session.cfg
	runtime, err := cfg.NewRuntime(ctx, p.run)
	if err != nil {
		return err
	}
	if err := runtime.Hooks.SessionStart(ctx, p.ref); err != nil {
		if runtime.Close != nil {
			err = errors.Join(err, runtime.Close())
		}
		return err
	}
	p.runtime = runtime
	return nil
}

// makePrefix finds the model, and builds the system prompt and the list of tools of a session
// that has none. They never change afterwards, but for the list of tools by [hermes.RenewTools].
func (p *preparation) makePrefix(ctx context.Context) (err error) {
	if p.model == nil {
		c := p.run.Model
		c.Ref = p.row.Model
		if p.model, err = p.session.cfg.Models.Model(ctx, c); err != nil {
			return err
		}
		p.row.Model = p.model.ID()
	}
	if p.row.System != "" && !p.remake {
		return nil
	}
	if r, ok := p.runtime.Tools.(hermes.RenewableTools); ok && p.remake {
		if err := r.Renew(ctx); err != nil {
			return err
		}
	}
	if p.tools, err = turn.EncodeSpecs(p.runtime.Tools.Specs()); err != nil {
		return err
	}
	if p.specs, err = turn.DecodeSpecs(p.tools); err != nil { // the same values that a resumed session reads
		return err
	}
	if p.row.System != "" {
		return nil
	}
	system, err := p.runtime.Prompt.Prompt(ctx, p.row, p.specs)
	if err != nil {
		return fmt.Errorf("build the system prompt: %w", err)
	}
	p.system = &system
	return nil
}

// complete adds to the message what the model should read with it.
func (p *preparation) complete(ctx context.Context) error {
	m := p.message
	if m == nil {
		return nil
	}
	m.Turn = p.ref.Turn
	before := p.transcript
	if i := slices.IndexFunc(before, func(b hermes.Message) bool { return b.ID == p.replaces }); i >= 0 {
		before = before[:i]
	}
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), turn.Recalled) // a retried message has an old block
	if said := strings.TrimSpace(m.Visible()); p.runtime.Memory != nil && !m.Synthetic && said != "" {
		turn.AddRecalled(m, p.recall(ctx, said), before)
	}
	if p.runtime.Follower != nil && !m.Synthetic {
		limited, cancel := context.WithTimeout(ctx, surroundingsTime)
		defer cancel()
		turn.AddSurroundings(m, p.runtime.Follower.Surroundings(limited))
	}
	turn.AddToolNews(m, p.runtime.Tools, p.specs, before)
	turn.AddPlan(m, p.session.Mode() == hermes.ModePlan, before)
	parts, err := p.runtime.Hooks.TurnStart(ctx, p.ref, *m)
	if err != nil {
		return refused{err}
	}
	turn.AddParts(m, parts)
	return nil
}

// refused is the error of a message that a hook refused.
type refused struct{ error }

func (e refused) Unwrap() error { return e.error }

// recall asks the memory and waits for at most recallTime. A memory that hangs is left to the
// end of the session.
func (p *preparation) recall(ctx context.Context, said string) hermes.Recalled {
	found := make(chan hermes.Recalled, 1)
	memory, log := p.runtime.Memory, p.session.cfg.Log
	p.background(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, recallTime)
		defer cancel()
		known, err := memory.Recall(ctx, hermes.RecallQuery{Session: p.ref, Text: said})
		if err != nil {
			log.Warn("recall memory", "session", p.ref.ID, "err", err)
		}
		found <- known
	})
	late := time.NewTimer(recallTime)
	defer late.Stop()
	select {
	case known := <-found:
		return known
	case <-late.C:
	case <-ctx.Done():
	}
	return hermes.Recalled{}
}

// adopt makes what was prepared the session's.
func (s *Session) adopt(p *preparation) error {
	if s.runtime == nil && p.runtime != nil {
		s.runtime = p.runtime
		s.jobs.Add(p.runtime.Jobs...)
	}
	if p.model == nil || p.row.System == "" && p.system == nil {
		return nil // it came no further
	}
	row := &s.record.Row
	s.model.model, row.Model = p.model, p.row.Model
	if p.system != nil {
		for _, w := range p.system.Warnings {
			s.publish(hermes.Notice{Level: hermes.NoticeWarning, Text: w})
		}
		from := hermes.AddProvenance(row.Provenance, p.system.Provenance)
		change := hermes.SessionChange{System: &p.system.Text, Tools: &p.tools, Layers: &p.system.Layers, Provenance: &from}
		if err := s.record.Update(s.ctx, change); err != nil {
			return err
		}
		s.specs, row.Tools, row.System, row.Layers, row.Provenance = p.specs, p.tools, p.system.Text, p.system.Layers, from
	}
	if p.remake && p.system == nil && p.tools != nil {
		if err := s.record.Update(s.ctx, hermes.SessionChange{Tools: &p.tools}); err != nil {
			return err
		}
		s.specs, row.Tools = p.specs, p.tools
	}
	if p.tools != nil {
		s.remake = false
	}
	if p.read != nil && len(p.transcript) > 0 {
		return s.record.Fill(p.transcript)
	}
	return nil
}
