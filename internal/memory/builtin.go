package memory

import (
	"context"
	"errors"
	"strings"

	"hermes"
)

var (
	_ hermes.MemoryProvider = (*Builtin)(nil)
	_ hermes.Toolset        = (*Toolset)(nil)
)

// Builtin provides the two files. Their content is in the prompt, so it recalls
// and observes nothing.
type Builtin struct{ *File }

// Name is "builtin".
func (Builtin) Name() string { return "builtin" }

// SystemBlock returns the blocks of both targets. If one cannot be read, it returns the
// other with the error.
func (p Builtin) SystemBlock(ctx context.Context) (string, error) {
	var blocks []string
	var errs []error
	for _, t := range Targets() {
		block, err := p.Block(ctx, t)
		errs = append(errs, err)
		if block != "" {
			blocks = append(blocks, block)
		}
	}
	return strings.Join(blocks, "\n\n"), errors.Join(errs...)
}

// Recall finds nothing: the prompt has everything.
func (Builtin) Recall(context.Context, hermes.RecallQuery) (hermes.Recalled, error) {
	return hermes.Recalled{}, nil
}

// Observe does nothing: the model decides what is worth a note.
func (Builtin) Observe(context.Context, hermes.MemoryTurn) error { return nil }

// Tools returns the tool memory.
func (p Builtin) Tools() []hermes.Tool { return []hermes.Tool{p.tool()} }

// Toolset offers the tools of the built-in memory and of the external service,
// if there is one.
type Toolset struct{ providers []hermes.MemoryProvider }

// New makes the toolset of these providers. It skips nil ones.
func New(providers ...hermes.MemoryProvider) *Toolset {
	t := &Toolset{}
	for _, p := range providers {
		if p != nil {
			t.providers = append(t.providers, p)
		}
	}
	return t
}

// Name is "memory".
func (t *Toolset) Name() string { return "memory" }

// Available always returns "".
func (t *Toolset) Available(context.Context) string { return "" }

// Tools returns the tools of all providers.
func (t *Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	var tools []hermes.Tool
	for _, p := range t.providers {
		tools = append(tools, p.Tools()...)
	}
	return tools, nil
}
