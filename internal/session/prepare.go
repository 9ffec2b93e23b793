package session

import (
	"fmt"

	"hermes"
)

// prepare makes sure that the session has its runtime, model, system prompt,
// row and lease.
func (s *Session) prepare() error {
	if err := s.loadRuntime(); err != nil {
		return err
	}
	if s.model == nil {
		m, err := s.chosenModel(s.ctx)
		if err != nil {
			return err
		}
		s.model = m
		s.row.Model = m.ID()
	}
	if s.row.System == "" {
		if err := s.fixPrefix(); err != nil {
			return err
		}
	}
	return s.persist()
}

// fixPrefix builds the system prompt and the list of tools. They never change
// afterwards.
func (s *Session) fixPrefix() error {
	tools, err := encodeSpecs(s.runtime.Tools.Specs())
	if err != nil {
		return err
	}
	specs, err := decodeSpecs(tools) // the same values that a resumed session reads
	if err != nil {
		return err
	}
	system, err := s.runtime.System(s.ctx, s.row, specs)
	if err != nil {
		return fmt.Errorf("build the system prompt: %w", err)
	}
	for _, w := range system.Warnings {
		s.publish(hermes.Notice{Level: hermes.NoticeWarning, Text: w})
	}
	provenance := hermes.AddProvenance(s.row.Provenance, system.Provenance)
	s.specs, s.row.Tools, s.row.System, s.row.Layers, s.row.Provenance = specs, tools, system.Text, system.Layers, provenance
	if !s.stored {
		return nil
	}
	return s.cfg.Store.UpdateSession(s.ctx, s.row.ID, hermes.SessionChange{System: &system.Text, Tools: &tools, Layers: &system.Layers, Provenance: &provenance})
}
