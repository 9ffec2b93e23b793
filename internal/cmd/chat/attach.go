package chat

import (
	"context"
	"strings"

	"hermes"

	"hermes/internal/app"
	"hermes/internal/tui"
)

// attaching is a session that attaches to messages what they refer to with
// @file, @url, @diff and similar references.
type attaching struct {
	tui.Session
	app  *app.App
	dir  string
	note func(string) // shows what takes time; nil shows nothing
}

// Submit passes an op on, after expanding the references of a user message.
func (a attaching) Submit(ctx context.Context, op hermes.Op) error {
	say, ok := op.(hermes.Say)
	if !ok || say.Synthetic || len(say.Parts) == 0 || !strings.Contains(say.Parts[0].Text, "@") {
		return a.Session.Submit(ctx, op)
	}
	e, err := a.app.References(ctx, say.Parts[0].Text, a.dir, "", a.note)
	if err != nil {
		return err
	}
	say.Parts = append(say.Parts, e.Parts()...)
	return a.Session.Submit(ctx, say)
}
