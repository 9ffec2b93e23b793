package app

import (
	"cmp"
	"context"

	"hermes"
	"hermes/internal/prompt"
	"hermes/internal/session"
	"hermes/internal/store"
	"hermes/internal/store/sqlite"
	"hermes/internal/toolset"
)

// Measure builds the prompt and the tools of a new session, without calling a model or
// storing anything.
func (a *App) Measure(ctx context.Context, run hermes.RunSpec) (prompt.Prompt, []hermes.Spec, error) {
	cfg, err := a.config()
	if err != nil {
		return prompt.Prompt{}, nil, err
	}
	set, err := a.tooling().catalogue.Select(ctx, selection(cfg, run))
	if err != nil {
		return prompt.Prompt{}, nil, err
	}
	now := a.opts.Now()
	run.Session = session.NewID(now)
	if run.Workspace, err = a.workspace(run); err != nil {
		return prompt.Prompt{}, nil, err
	}
	env, end, err := a.environmentOf(run, walled{})
	if err != nil {
		return prompt.Prompt{}, nil, err
	}
	defer end()
	if err := reachable(ctx, run.Workspace, env); err != nil {
		return prompt.Prompt{}, nil, err
	}
	row := hermes.Session{ID: run.Session, Started: now, Model: cmp.Or(run.Model.Ref, a.opts.BaseModel, cfg.Model().Default)}
	return a.prompt(ctx, cfg, run, env, row, set.Specs(), set.Names()), set.Specs(), nil
}

// ModelFacts returns what is known offline about the model of a new session: its
// reference, its window in tokens and its price. Unknown values are empty, 0 and nil.
func (a *App) ModelFacts(run hermes.RunSpec) (ref string, window int, price *hermes.Price) {
	cfg, err := a.config()
	if err != nil {
		return "", 0, nil
	}
	ref = cmp.Or(run.Model.Ref, a.opts.BaseModel, cfg.Model().Default)
	if ref == "" {
		return "", 0, nil
	}
	if p, ok := a.prices(cfg).Of(ref); ok {
		price = &p
	}
	return ref, a.models.Window(ref), price
}

// Toolsets returns all toolsets of this program, and which of them a session would
// select.
func (a *App) Toolsets(run hermes.RunSpec) (*toolset.Catalogue, toolset.Selection, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, toolset.Selection{}, err
	}
	return a.tooling().catalogue, selection(cfg, run), nil
}

// Repair copies what can be read of a damaged database into a new one.
func (a *App) Repair(ctx context.Context) (store.Repaired, error) {
	cfg, err := a.config()
	if err != nil {
		return store.Repaired{}, err
	}
	return sqlite.Repair(ctx, StoreConfig(cfg))
}
