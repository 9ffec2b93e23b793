package app

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/prompt"
	"hermes/internal/services"
	"hermes/internal/session"
	"hermes/internal/tool/delegation"
	"hermes/internal/toolset"
)

// children says how child sessions are run.
func (a *App) children(cfg *config.Config, tools *tooling, trees *Worktrees) session.Children {
	d := cfg.Delegation()
	var redact func(string) string
	if cfg.Security().RedactSecrets {
		redact = a.Mask
	}
	return session.Children{
		Redact: redact,
		Depth:  d.MaxDepth, AtOnce: d.MaxConcurrent, Steps: int(d.MaxIterations), LeavesOnly: !d.Orchestrator,
		Model: services.ChildModel(cfg), Default: d.DefaultToolsets, Quiet: d.ChildTimeout,
		Toolsets: tools.catalogue.Narrowing, Worktree: trees.Child, WorktreeOf: trees.childOf,
		Changed: func(session string, transcript []hermes.Message) []string {
			return append(writtenFiles(transcript), tools.files.ChangedBy(session)...)
		},
		Cost: func(ctx context.Context, session string) hermes.Money {
			meter, err := a.meter()
			if err != nil {
				return 0
			}
			spent, _ := meter.Cost(ctx, session) // what is not known counts as nothing, as in other reports
			return spent.Money
		},
	}
}

// newDelegation makes the tool that starts child sessions.
func newDelegation(cfg *config.Config) hermes.Toolset {
	d := cfg.Delegation()
	return delegation.New(delegation.Limits{AtOnce: d.MaxConcurrent, Depth: d.MaxDepth, LeavesOnly: !d.Orchestrator})
}

// childIn adds to the prompt of a child session what it has to know, and leaves out SOUL.md.
func childIn(cfg *config.Config, in *prompt.Input, run hermes.RunSpec) {
	if run.Origin.Depth == 0 {
		return
	}
	in.Soul = ""
	text := delegation.Guide(in.Environment.Dir, run.Origin.Depth, cfg.Delegation().MaxDepth, run.Origin.Task.Role == hermes.RoleOrchestrator)
	in.Guides = append(in.Guides, prompt.Section{Name: "child", Tier: prompt.Context, Text: text})
}

// writtenFiles lists the files that calls of the file tools changed, as their results say.
func writtenFiles(transcript []hermes.Message) (files []string) {
	for _, m := range transcript {
		if m.Role != hermes.RoleTool || !slices.Contains([]string{"write_file", "patch"}, toolset.Canonical(m.ToolName)) {
			continue
		}
		var r struct {
			Modified []string `json:"files_modified"`
			Created  []string `json:"files_created"`
			Deleted  []string `json:"files_deleted"`
		}
		if json.NewDecoder(bytes.NewReader([]byte(m.Text()))).Decode(&r) == nil {
			files = append(files, slices.Concat(r.Modified, r.Created, r.Deleted)...)
		}
	}
	return files
}
