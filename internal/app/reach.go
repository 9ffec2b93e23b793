package app

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"hermes"
	"hermes/internal/auxiliary"
	"hermes/internal/config"
	"hermes/internal/peer"
	"hermes/internal/tool/messaging"
	"hermes/internal/tool/moa"
	"hermes/internal/tool/sessions"
	"hermes/internal/toolset"
)

// UseMessenger makes send_message send with m. It is called before the first session is opened, which
// has the tool if m has a target by then.
func (a *App) UseMessenger(m hermes.Messenger) { a.messenger.Store(&m) }

// newMessaging makes the tool that sends messages to others.
func (a *App) newMessaging() *messaging.Toolset {
	return messaging.New(func() hermes.Messenger {
		if m := a.messenger.Load(); m != nil {
			return *m
		}
		return nil
	})
}

// newSessionTools makes the tools with which sessions ask each other.
func (a *App) newSessionTools() *sessions.Toolset {
	var once sync.Mutex
	var peers *peer.Peers
	return sessions.New(sessions.Config{Beyond: a.beyond, Now: a.opts.Now, Peers: func(ctx context.Context) (sessions.Peers, error) {
		once.Lock()
		defer once.Unlock()
		if peers != nil {
			return peers, nil
		}
		store, err := a.Database(ctx)
		if err != nil {
			return nil, err
		}
		peers = peer.New(peer.Config{Client: a.Client(nil), Store: store, Log: a.log()})
		a.closing(peers.Close)
		return peers, nil
	}})
}

// beyond returns the tools that a session with one stored run gets and one with another does not.
func (a *App) beyond(ctx context.Context, run, other hermes.StoredRun, calls func(tool string) bool) ([]string, error) {
	set, err := a.chosen(ctx, run)
	if err != nil {
		return nil, err
	}
	others, err := a.chosen(ctx, other)
	if err != nil {
		return nil, err
	}
	return set.Beyond(others, calls), nil
}

// chosen returns the tools of a stored session as it would get them now.
func (a *App) chosen(ctx context.Context, run hermes.StoredRun) (*toolset.Set, error) {
	all, sel, err := a.Toolsets(hermes.RunSpec{}.Resumed("", run))
	if err != nil {
		return nil, err
	}
	return all.Select(ctx, sel)
}

// newMixture makes the tool that asks several models.
func (a *App) newMixture(cfg *config.Config) *moa.Toolset {
	c := moa.Config{Default: cfg.MoA().DefaultPreset, Ask: func(ctx context.Context, q moa.Question) (answer, by string, err error) {
		return a.aux().AskNamed(ctx, auxiliary.Call{
			Task: q.Task, Main: cmp.Or(q.Slot.Model, q.Of.Model), Exact: q.Slot.Model != "", Effort: q.Slot.Effort,
			Session: q.Of.ID, Scope: hermes.Scope{Turn: q.Of.Turn}, System: q.System, Prompt: q.Prompt,
		})
	}}
	if a.opts.BaseURL == "" { // a run with its own service, such as the demo, uses no other
		c.Presets = presets(cfg)
	}
	return moa.New(c)
}

// presets returns the mixtures that the settings name. Without any, the default model and the fallbacks are
// one, if these are several.
func presets(cfg *config.Config) map[string]moa.Preset {
	all := map[string]moa.Preset{}
	for name, p := range cfg.MoA().Presets {
		preset := moa.Preset{Aggregator: slot(p.Aggregator)}
		for _, r := range p.References {
			preset.References = append(preset.References, slot(r))
		}
		all[name] = preset
	}
	if len(all) > 0 {
		return all
	}
	var models []moa.Slot
	add := func(provider, model string) {
		s := slot(config.MoASlot{Provider: provider, Model: model})
		if s.Model != "" && !slices.Contains(models, s) {
			models = append(models, s)
		}
	}
	if m := cfg.Model(); m.BaseURL == "" {
		add(m.Provider, m.Default)
	}
	for _, f := range cfg.Fallback() {
		if f.BaseURL == "" && f.APIKey == "" && f.KeyEnv == "" { // others have no name
			add(f.Provider, f.Model)
		}
	}
	if len(models) < 2 {
		return nil
	}
	return map[string]moa.Preset{"default": {References: models[:min(len(models), 4)]}}
}

func slot(s config.MoASlot) moa.Slot {
	c := auxiliary.Choice{Provider: s.Provider, Model: s.Model}
	if s.Model == "" {
		return moa.Slot{}
	}
	return moa.Slot{Model: c.Ref(), Effort: hermes.Effort(s.ReasoningEffort)}
}
