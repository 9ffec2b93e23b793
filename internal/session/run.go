package session

import (
	"reflect"

	"hermes"
)

// runOf returns the spec that a session runs with: what is stored of it, and the rest of
// what its opener asks for.
func runOf(asked hermes.RunSpec, row hermes.Session) hermes.RunSpec {
	run := row.StoredRun()
	if !hasRun(row) { // an earlier version did not store these
		run.Workspace.Backend, run.Workspace.Profile = asked.Workspace.Backend, asked.Workspace.Profile
		run.Tools, run.Prompt = asked.Tools, asked.Prompt
	}
	return asked.Resumed(row.ID, run)
}

// hasRun reports whether the spec of a session is stored.
func hasRun(row hermes.Session) bool { return !reflect.ValueOf(row.Run).IsZero() }

// unchanged refuses to open a session with other tools, another prompt or another backend than it has.
func unchanged(asked hermes.RunSpec, row hermes.Session) error {
	if !hasRun(row) {
		return nil
	}
	e := hermes.ErrFixed{Session: row.ID}
	compare := func(part string, asked, has reflect.Value) {
		for field, value := range asked.Fields() {
			empty := value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0
			if !empty && !reflect.DeepEqual(value.Interface(), has.FieldByIndex(field.Index).Interface()) {
				e.Parts = append(e.Parts, part+"."+field.Name)
			}
		}
	}
	if b := asked.Workspace.Backend; b != "" && b != row.Run.Workspace.StoredBackend() {
		e.Parts = append(e.Parts, "Workspace.Backend")
	}
	compare("Tools", reflect.ValueOf(asked.Tools), reflect.ValueOf(row.Run.Tools))
	compare("Prompt", reflect.ValueOf(asked.Prompt), reflect.ValueOf(row.Run.Prompt))
	if e.Parts == nil {
		return nil
	}
	return e
}

// adoptRun stores what an earlier version did not store of the spec, and takes the model that
// was asked for.
func (s *Session) adoptRun() error {
	row := &s.record.Row
	if c := s.run.Model; c.Ref != "" || c.Provider != "" {
		row.Model = c.Ref
	}
	if hasRun(*row) {
		return s.storePlan(row.Run.Plan || s.run.Rights.Mode == hermes.ModePlan)
	}
	row.Run = s.run.Stored()
	row.Run.Plan = s.run.Rights.Mode == hermes.ModePlan
	return s.record.Update(s.ctx, hermes.SessionChange{Run: &row.Run})
}

// steps returns how many model calls a turn may make; 0 or less means no limit.
func (s *Session) steps() int {
	if s.run.Budget.Steps != 0 {
		return s.run.Budget.Steps
	}
	return s.cfg.Steps
}

// ref describes the session to tools and hooks.
func (s *Session) ref(turn int64) hermes.SessionRef {
	ref := s.run.Ref()
	ref.ID, ref.Turn, ref.Dir, ref.Model, ref.Started = s.id, turn, s.run.Workspace.Dir, s.record.Row.Model, s.record.Row.Started
	ref.Attended, ref.Provenance, ref.Mode = s.attended(), s.record.Provenance(), s.callMode()
	return ref
}
