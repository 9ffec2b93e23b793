package session

import (
	"context"
	"fmt"
	"reflect"

	"hermes"
)

// runOf returns the spec that a session runs with: what is stored of it, and the rest of
// what its opener asks for.
func runOf(asked hermes.RunSpec, row hermes.Session) hermes.RunSpec {
	return asked.Resumed(row.ID, storedRun(asked, row))
}

// storedRun returns the stored part of a session's spec. Earlier versions stored only some of
// its fields, in the columns of the row; the others come from whoever opens it.
func storedRun(asked hermes.RunSpec, row hermes.Session) hermes.StoredRun {
	if row.Run.Origin.Platform != "" {
		return row.Run
	}
	run := asked.Stored()
	run.Origin = hermes.Origin{Platform: row.Platform, User: row.User, Parent: row.Parent, Provenance: row.Provenance}
	if row.Platform == childPlatform {
		run.Origin.Depth = 1
	}
	run.Workspace.Dir = row.Dir
	return run
}

// unchanged refuses to open a session with other tools or another prompt than it has: they hold
// for its life.
func unchanged(asked hermes.RunSpec, row hermes.Session) error {
	if row.Run.Origin.Platform == "" {
		return nil
	}
	other := func(a, b any) bool { return !reflect.ValueOf(a).IsZero() && !reflect.DeepEqual(a, b) }
	what := ""
	switch {
	case other(asked.Tools, row.Run.Tools):
		what = "its tools"
	case other(asked.Prompt.Skills, row.Run.Prompt.Skills):
		what = "the skills that it was started with"
	case other(asked.Prompt, row.Run.Prompt):
		what = "the settings of its prompt"
	default:
		return nil
	}
	return fmt.Errorf("session %s keeps %s for its life; resume it without that option, or start a new session", row.ID, what)
}

// adoptRun stores what an earlier version did not store of the spec, and takes the model that
// was asked for.
func (s *Session) adoptRun() error {
	choice := s.runSpec.Model
	if choice.Ref != "" || choice.Provider != "" {
		s.row.Model = choice.Ref
	}
	run := s.runSpec.Stored()
	if s.row.Run.Origin.Platform != "" || run.Origin.Platform == "" {
		return nil
	}
	s.row.Run = run
	return s.cfg.Store.UpdateSession(s.ctx, s.id, hermes.SessionChange{Run: &run})
}

// chosenModel makes the model that the spec or the row names.
func (s *Session) chosenModel(ctx context.Context) (hermes.Model, error) {
	choice := s.runSpec.Model
	choice.Ref = s.row.Model
	return s.cfg.Models.Model(ctx, choice)
}

// steps returns how many model calls a turn may make; 0 or less means no limit.
func (s *Session) steps() int {
	if s.runSpec.Budget.Steps != 0 {
		return s.runSpec.Budget.Steps
	}
	return s.cfg.Steps
}

// ref describes the session to tools and hooks.
func (s *Session) ref(turn int64) hermes.SessionRef {
	o := s.runSpec.Origin
	return hermes.SessionRef{
		ID: s.row.ID, Turn: turn, Platform: o.Platform, User: o.User, Dir: s.row.Dir, Depth: o.Depth,
		Attended: s.attended, IgnoreRules: s.runSpec.Prompt.IgnoreRules, Provenance: s.provenance(),
	}
}
