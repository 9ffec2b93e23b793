package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"hermes"
)

// mode is how risky calls of one session are treated, without regard to the sessions above it.
// Only the session's goroutine changes it; calls of running turns read it at any time.
type mode struct {
	atomic.Value
	client atomic.Bool       // the turn is one that a client asked for
	shown  hermes.RightsMode // what was published last; only for the session's goroutine
}

func (m *mode) get() hermes.RightsMode { return m.Load().(hermes.RightsMode) }

// beginMode returns the mode in which a session begins: what its opener asks for, else what is
// configured, but plan mode if a user left it in that. A child has no mode of its own unless its
// spec says one: it has that of its parent.
func (m *Manager) beginMode(run hermes.RunSpec, row hermes.Session, child bool) hermes.RightsMode {
	switch {
	case row.Run.Plan:
		return hermes.ModePlan
	case child:
		return cmp.Or(run.Rights.Mode, hermes.ModeYolo)
	case m.cfg.Mode != nil:
		return m.cfg.Mode(run.Rights)
	}
	return cmp.Or(run.Rights.Mode, hermes.ModeAsk)
}

// Mode returns how risky calls are treated now: as the narrowest mode of the session and of those
// above it says.
func (s *Session) Mode() hermes.RightsMode {
	m := s.mode.get()
	for p := s.parent; p != nil; p = p.parent {
		m = m.Narrower(p.mode.get())
	}
	return m
}

// callMode returns how risky calls of the turn are treated now: as Mode says, but no wider than asking the
// user if a client asked for the turn, here or in a session above. So a message of a client that
// waited gains nothing by a change of the mode. A child session whose parent had heard of a client keeps to that, also while
// the parent has other turns.
func (s *Session) callMode() hermes.RightsMode {
	m := s.Mode()
	for p := s; p != nil && m != hermes.ModePlan; p = p.parent {
		if p.mode.client.Load() {
			return hermes.ModeAskUser
		}
	}
	return m
}

// fromClient reports whether a client asked for the turn of the newest message. What the program sent
// since, such as the end of a command, belongs to the turn before; but the result of a child in the background
// belongs to a client if one had a part in its session.
func fromClient(list []hermes.Message) bool {
	turn := int64(-1)
	for _, m := range slices.Backward(list) {
		if m.Role != hermes.RoleUser || m.Synthetic && !(turn < 0 && isResult(m) && hermes.FromClient(m.Provenance)) {
			continue
		}
		if turn >= 0 && m.Turn != turn {
			break
		}
		turn = m.Turn
		if hermes.FromClient(m.Provenance) || slices.ContainsFunc(m.Parts, func(p hermes.Part) bool { return hermes.FromClient(p.Provenance) }) {
			return true
		}
	}
	return false
}

// setMode changes the mode for a user. What runs holds to it from its next call on.
func (s *Session) setMode(op hermes.SetMode, from hermes.From) error {
	if err := cmp.Or(op.Mode, "none").Check(); err != nil {
		return err
	}
	if !from.Attends {
		return errors.New("only a user who can be asked may change the mode of a session")
	}
	if s.parent != nil {
		if above := s.parent.Mode(); op.Mode.Narrower(above) != op.Mode {
			return fmt.Errorf("the session that started this one is in the mode %s, and this one may do no more; change that one first", above)
		}
	}
	if s.cfg.RecordMode != nil && op.Mode != s.mode.get() {
		err := s.cfg.RecordMode(s.ctx, s.id, op.Mode, from)
		switch {
		case err != nil && op.Mode.Narrower(s.mode.get()) != op.Mode:
			return fmt.Errorf("the mode stays %s, since its change could not be recorded: %w", s.mode.get(), err)
		case err != nil:
			s.cfg.Log.Error("record a change of the mode", "session", s.id, "err", err)
		}
	}
	if op.Mode != hermes.ModePlan { // what cannot be stored must not widen anything
		if err := s.storePlan(false); err != nil {
			return err
		}
	}
	s.mode.Store(op.Mode)
	s.modeChanged(from)
	if op.Mode == hermes.ModePlan {
		if err := s.storePlan(true); err != nil {
			return fmt.Errorf("the session is in plan mode now, but that could not be stored: opened again it would not be: %w", err)
		}
	}
	return nil
}

// storePlan stores whether the session is opened in plan mode.
func (s *Session) storePlan(plan bool) error {
	row := &s.record.Row
	if row.Run.Plan == plan {
		return nil
	}
	run := row.Run
	run.Plan = plan
	if err := s.record.Update(s.ctx, hermes.SessionChange{Run: &run}); err != nil {
		return err
	}
	row.Run = run
	return nil
}

// modeChanged publishes the mode if it has changed, here and in the child sessions. In plan mode
// it refuses what waits for approval.
func (s *Session) modeChanged(by hermes.From) {
	m := s.Mode()
	if m == s.mode.shown {
		return
	}
	s.mode.shown = m
	s.publish(hermes.ModeChanged{Mode: m, By: by})
	if m == hermes.ModePlan {
		s.refuseApprovals(by)
	}
	for _, c := range s.manager.Live() {
		if c.parent == s {
			go c.post(context.WithoutCancel(s.ctx), func() { c.modeChanged(hermes.From{}) }) // ends with the child
		}
	}
}

// refuseApprovals refuses the open approvals, but those of tools that only read. A call whose
// approval is on its way meets the mode in the tool chain.
func (s *Session) refuseApprovals(by hermes.From) {
	for id, q := range s.questions.open {
		if q.asked.Approval == nil {
			continue
		}
		if spec, known := s.runtime.Tools.Spec(q.asked.Approval.Tool); known && spec.Effect == hermes.EffectNone {
			continue
		}
		refusal := hermes.Reply{ID: id, Approval: hermes.ApprovalAnswer{Decision: hermes.Deny, Reason: planMode}}
		if err := s.reply(refusal, by); err != nil {
			s.cfg.Log.Warn("refuse an approval in plan mode", "session", s.id, "question", id, "err", err)
		}
	}
}

const planMode = "plan mode: present a plan instead of changing anything"
