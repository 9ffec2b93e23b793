package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"hermes/internal/serverinfo"

	"hermes"
)

const (
	askTime   = 5 * time.Second // how long the user's own server may take to list its models
	mostNamed = 10              // models that an error names
)

// only completes a choice without a model: it asks the server for its models and
// takes the only one. A service that needs a key is not asked.
func (c *Catalogue) only(ctx context.Context, ch choice) (choice, error) {
	if ch.id != "custom" && ch.custom.BaseURL == "" && !ch.NoKey {
		return ch, fmt.Errorf("%w: provider %q is set without a model; use -m %s:MODEL, or set model.default in config.yaml", hermes.ErrNoModel, ch.id, ch.id)
	}
	names, err := c.served(ctx, ch.endpoint)
	switch {
	case err != nil:
		return ch, fmt.Errorf("%w: cannot list the models of the server at %s (%w); use -m %s:MODEL, or set model.default in config.yaml",
			hermes.ErrNoModel, ch.BaseURL, err, ch.id)
	case len(names) == 0:
		return ch, fmt.Errorf("%w: the server at %s has no chat model; load one there, then start again", hermes.ErrNoModel, ch.BaseURL)
	case len(names) > 1:
		return ch, fmt.Errorf("%w: the server at %s has several models: %s; choose one with -m %s, or set the default with `hermes model %s`",
			hermes.ErrNoModel, ch.BaseURL, shortened(names), names[0], ch.id+":"+names[0])
	}
	ch.model = names[0]
	c.note(fmt.Sprintf("using %s, the only model of %s", ch.ref(), ch.BaseURL))
	return ch, nil
}

// served asks a server for its chat models, once per run.
func (c *Catalogue) served(ctx context.Context, e endpoint) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if names, ok := c.asked[e.BaseURL]; ok {
		return names, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	list, err := c.list(ctx, e)
	if err != nil {
		if u, ok := errors.AsType[*unlisted](err); ok {
			err = errors.New(u.why())
		}
		return nil, err
	}
	names := serverinfo.Chatting(list)
	c.asked[e.BaseURL] = names
	return names, nil
}

func (c *Catalogue) note(text string) {
	c.mu.Lock()
	before := c.reported
	c.reported = true
	c.mu.Unlock()
	if c.cfg.Note != nil && !before {
		c.cfg.Note(text)
	}
}

func shortened(names []string) string {
	if more := len(names) - mostNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}
