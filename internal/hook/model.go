package hook

import (
	"context"
	"iter"
	"slices"

	"hermes"
)

// Model returns m with the hooks BeforeModel and AfterModel around each call. It is
// the outermost layer of the model chain, so that they are called once a step.
func (h *Hooks) Model(m hermes.Model, s hermes.SessionRef) hermes.Model {
	if !slices.ContainsFunc(h.all(), func(k hermes.Hook) bool { return k.BeforeModel != nil || k.AfterModel != nil }) {
		return m
	}
	return hooked{m, h, s}
}

type hooked struct {
	hermes.Model
	hooks   *Hooks
	session hermes.SessionRef
}

func (m hooked) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		if err := m.hooks.beforeModel(ctx, m.session, r); err != nil {
			yield(hermes.Delta{}, err)
			return
		}
		var answer hermes.Assembly
		var failed error
		defer func() { m.hooks.afterModel(ctx, m.session, answer.Message(), failed) }()
		for d, err := range m.Model.Stream(ctx, r) {
			if failed = err; err == nil {
				answer.Add(d)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// beforeModel calls the hooks of that name. The first error ends the turn.
func (h *Hooks) beforeModel(ctx context.Context, s hermes.SessionRef, r *hermes.Request) error {
	for _, k := range h.all() {
		if k.BeforeModel == nil {
			continue
		}
		theirs := *r
		theirs.Messages, theirs.Tools = slices.Clone(r.Messages), slices.Clone(r.Tools)
		if err := h.ask(ctx, k, "model call", func(ctx context.Context) error { return k.BeforeModel(ctx, s, theirs) }); err != nil {
			return err
		}
	}
	return nil
}

func (h *Hooks) afterModel(ctx context.Context, s hermes.SessionRef, answer hermes.Message, err error) {
	for _, k := range h.all() {
		if k.AfterModel != nil {
			h.tell(ctx, k, "answer", func(ctx context.Context) { k.AfterModel(ctx, s, answer, err) })
		}
	}
}
