package hook

import (
	"context"
	"slices"

	"hermes"
)

// Engine returns e with the hook BeforeCompaction after each result that shortens the
// transcript. A nil engine stays nil.
func (h *Hooks) Engine(e hermes.ContextEngine, s hermes.SessionRef) hermes.ContextEngine {
	if e == nil || !slices.ContainsFunc(h.all(), func(k hermes.Hook) bool { return k.BeforeCompaction != nil }) {
		return e
	}
	return engine{e, h, s}
}

type engine struct {
	hermes.ContextEngine
	hooks   *Hooks
	session hermes.SessionRef
}

func (e engine) Fit(ctx context.Context, transcript []hermes.Message, p hermes.ContextUsage) (hermes.CompactResult, error) {
	f, err := e.ContextEngine.Fit(ctx, transcript, p)
	if err != nil || f.From == nil || ctx.Err() != nil {
		return f, err
	}
	kept := make([]bool, len(transcript))
	for _, o := range f.From {
		if o.Same {
			kept[o.Index] = true
		}
	}
	var leaving []hermes.Message
	for i, m := range transcript {
		if !kept[i] {
			leaving = append(leaving, m)
		}
	}
	if len(leaving) > 0 {
		e.hooks.BeforeCompaction(ctx, e.session, leaving)
	}
	return f, nil
}
