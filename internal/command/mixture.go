package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes"
)

// Mixture is what /moa needs.
type Mixture interface {
	// Names lists the presets, the default first.
	Names() []string
	// Model returns a model that answers the newest message with the default preset. main is the
	// session's own model.
	Model(main string) hermes.Model
}

const noMixture = "no mixture of models is set: name some under moa.presets in config.yaml, as docs/models.md shows"

// mixture has the default preset answer a prompt in a turn of the session, so that it can be stopped and is part of
// the conversation.
func mixture(ctx context.Context, c *Call) (Result, error) {
	var names []string
	if c.Mixture != nil {
		names = c.Mixture.Names()
	}
	switch {
	case len(names) == 0:
		return Result{}, errors.New(noMixture)
	case c.Args == "":
		return Result{Text: fmt.Sprintf("Presets: %s. The first one answers `/moa PROMPT`.", code(strings.Join(names, ", ")))}, nil
	}
	st, err := c.Session.State(ctx)
	if err != nil {
		return Result{}, err
	}
	return Result{}, c.Session.SayWith(ctx, c.Args, c.Mixture.Model(st.Row.Model))
}
