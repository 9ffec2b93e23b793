package app

import (
	"context"

	"hermes"
	"hermes/internal/auxiliary"
	"hermes/internal/config"
	"hermes/internal/contextengine"
	"hermes/internal/plugin"
	"hermes/internal/text"
)

// contextEngine makes the engine that keeps a session within its context window,
// nil if compression is off.
func (a *App) contextEngine(cfg *config.Config, run hermes.RunSpec) hermes.ContextEngine {
	c := cfg.Compression()
	if !c.Enabled {
		return nil
	}
	if most := cfg.Delegation().CompressionTokens; most > 0 && run.Origin.Depth > 0 {
		c.ThresholdTokens = most
	}
	builtin := contextengine.New(contextengine.Options{
		Config: contextengine.Config{
			Threshold: c.Threshold, ThresholdTokens: c.ThresholdTokens, ModelThresholds: c.ModelThresholds, SmallWindow: c.SmallWindowFloor,
			TargetRatio: c.TargetRatio, LeanTail: c.TailMode == "lean", ProtectFirst: c.ProtectFirst, ProtectLast: c.ProtectLast,
			PruneTokens: c.PruneTokens, PruneResult: c.PruneMinResultChars, PruneSaves: c.PruneMinReclaimTokens,
		},
		Summarize: func(ctx context.Context, turn int64, prompt string, maxTokens int) (string, error) {
			if c.ContextTotalCeiling > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.ContextTotalCeiling)
				defer cancel()
			}
			return a.aux().Ask(ctx, auxiliary.Call{
				Task: auxiliary.Compression, Main: a.modelOf(ctx, run.Session), Session: run.Session, Scope: hermes.Scope{Turn: turn}, Prompt: prompt, MaxTokens: maxTokens,
			})
		},
		Redact: a.Mask, Now: a.opts.Now, Log: a.log(),
	})
	name := cfg.Context().Engine
	if name == "" || name == builtinEngine {
		return builtin
	}
	return contextengine.NewOther(contextengine.OtherOptions{
		Name: name, Who: "the plugin " + text.VisibleName(name), Source: hermes.ProvenanceSource("plugin", name), Outline: a.outlineOf(name, run.Ref()), Builtin: builtin, Log: a.log(),
	})
}

// builtinEngine is the name of the context engine that is built in.
const builtinEngine = "compressor"

// outlineOf returns what the context engine of a plugin says for a session.
func (a *App) outlineOf(name string, session hermes.SessionRef) contextengine.Outline {
	return func(ctx context.Context, transcript []hermes.Message, u hermes.ContextUsage) ([]contextengine.Piece, error) {
		all := a.tooling().plugins
		if all == nil {
			all = &plugin.Plugins{}
		}
		engine, err := all.Fitter(name, session, a.Mask)
		if err != nil {
			return nil, err
		}
		said, err := engine.Fit(ctx, transcript, u)
		if err != nil {
			return nil, err
		}
		pieces := make([]contextengine.Piece, len(said))
		for i, p := range said {
			pieces[i] = contextengine.Piece(p)
		}
		return pieces, nil
	}
}

// modelOf returns the model that a session uses now; "" is the default one.
func (a *App) modelOf(ctx context.Context, session string) string {
	store, err := a.Database(ctx)
	if err != nil {
		return ""
	}
	row, err := store.FindSession(ctx, session)
	if err != nil {
		return ""
	}
	return row.Model
}
