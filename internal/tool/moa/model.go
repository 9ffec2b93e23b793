package moa

import (
	"context"
	"errors"
	"iter"
	"strings"

	"hermes"
)

// Model returns a model that answers the newest message of the user with the mixture of the default
// preset. It calls no tools and reads nothing else of the conversation. main is the session's own model.
func (t *Toolset) Model(main string) hermes.Model { return mixed{t, main} }

type mixed struct {
	set  *Toolset
	main string
}

// ID names the preset.
func (m mixed) ID() string {
	return "moa:" + strings.Join(m.set.Names()[:min(1, len(m.set.Names()))], "")
}

// Stream asks the models. The answer comes as a whole.
func (m mixed) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		var asked hermes.Message
		for _, one := range r.Messages {
			if one.Role == hermes.RoleUser && !one.Synthetic {
				asked = one
			}
		}
		if asked.Visible() == "" {
			yield(hermes.Delta{}, errors.New("there is no message to answer"))
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		left := false
		a, err := m.set.Mix(ctx, hermes.SessionRef{ID: r.Session, Turn: asked.Turn, Model: m.main}, "", asked.Visible(), func(what string) {
			left = left || !yield(hermes.Delta{Notice: what}, nil)
			if left {
				cancel()
			}
		})
		switch {
		case left:
		case err != nil:
			yield(hermes.Delta{}, err)
		default:
			if len(a.Failed) > 0 && !yield(hermes.Delta{Warning: "these models gave no answer: " + strings.Join(a.Failed, "; ")}, nil) {
				return
			}
			yield(hermes.Delta{Text: a.Answer, Finish: hermes.FinishStop}, nil)
		}
	}
}
