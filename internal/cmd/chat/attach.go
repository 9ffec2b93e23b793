package chat

import (
	"context"
	"strings"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/session"
)

// attaching is a session that attaches to messages what they refer to with
// @file, @url, @diff and similar references.
type attaching struct {
	*session.Session
	app  *app.App
	dir  string
	note func(string) // shows what takes time; nil shows nothing
}

// Submit passes an op on, after expanding the references of a user message.
func (a attaching) Submit(ctx context.Context, op session.Op) error {
	say, ok := op.(session.Say)
	if !ok || say.Synthetic {
		return a.Session.Submit(ctx, op)
	}
	parts, err := attach(ctx, a.app, a.dir, "", say.Parts, a.note)
	if err != nil {
		return err
	}
	say.Parts = parts
	return a.Session.Submit(ctx, say)
}

// attach adds what the message refers to: sent and stored, but not shown. What
// could not be attached is named in a part that the model and the user see.
func attach(ctx context.Context, a *app.App, dir, model string, parts []hermes.Part, note func(string)) ([]hermes.Part, error) {
	if len(parts) == 0 || !strings.Contains(parts[0].Text, "@") {
		return parts, nil
	}
	e, err := a.References(ctx, parts[0].Text, dir, model, note)
	if err != nil {
		return nil, err
	}
	if e.Attached != "" {
		parts = append(parts, hermes.Part{Text: e.Attached, Hidden: true, Provenance: e.Provenance})
	}
	if len(e.Warnings) > 0 {
		parts = append(parts, hermes.Part{Text: "[Not attached: " + strings.Join(e.Warnings, "; ") + "]"})
	}
	if len(e.Notes) > 0 {
		parts = append(parts, hermes.Part{Text: "[Attached: " + strings.Join(e.Notes, "; ") + "]"})
	}
	return parts, nil
}
