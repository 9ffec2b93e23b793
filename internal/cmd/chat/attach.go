package chat

import (
	"context"
	"strings"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/session"
)

// attaching is a session whose messages bring along what they point at with
// @file, @url, @diff and their kin.
type attaching struct {
	*session.Session
	app  *app.App
	dir  string
	tell func(string) // shows what takes time; nil shows nothing
}

// Submit hands an op on; a message of the person is expanded first.
func (a attaching) Submit(ctx context.Context, op session.Op) error {
	say, ok := op.(session.Say)
	if !ok || say.Synthetic {
		return a.Session.Submit(ctx, op)
	}
	parts, err := attach(ctx, a.app, a.dir, "", say.Parts, a.tell)
	if err != nil {
		return err
	}
	say.Parts = parts
	return a.Session.Submit(ctx, say)
}

// attach puts what the message points at below it: sent and stored, not
// shown. What could not be attached is said where model and person see it.
func attach(ctx context.Context, a *app.App, dir, model string, parts []hermes.Part, tell func(string)) ([]hermes.Part, error) {
	if len(parts) == 0 || !strings.Contains(parts[0].Text, "@") {
		return parts, nil
	}
	e, err := a.References(ctx, parts[0].Text, dir, model, tell)
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
