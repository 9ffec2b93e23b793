// Package promptsize holds the command `hermes prompt-size`: the bytes, tokens,
// share of the window and cost of each section of the system prompt and of each
// tool. It works offline and calls no model.
//
// It does not know how a prompt is composed; the app does. Start at NewCmd; print.go
// formats the report.
package promptsize

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
	"hermes/internal/prompt"
	"hermes/internal/tokens"
)

// Measure builds the prompt and tools of a new session on a platform.
type Measure func(ctx context.Context, platform string) (Measured, error)

// Measured is the prompt and tools of a session, with facts about its model.
type Measured struct {
	Prompt prompt.Prompt
	Tools  []hermes.Spec
	Model  string        // empty if none is set
	Window int           // tokens, 0 if unknown
	Price  *hermes.Price // nil if unknown
}

// NewCmd makes the command; measure replaces that of the app in tests.
func NewCmd(f *factory.Factory, measure Measure) *cobra.Command {
	if measure == nil {
		measure = measureWith(f)
	}
	var platform string
	var asJSON bool
	c := &cobra.Command{
		Use:   "prompt-size",
		Short: "Show the size of each part of the prompt",
		Long: "Show what every request of a new session begins with: the bytes and tokens of each section of the\n" +
			"system prompt and of each tool, their share of the model's window, and their cost. It works offline;\n" +
			"tokens are estimated. Stable sections are always the same, context sections depend on the folder\n" +
			"and your files, volatile ones on the day or the session.",
		Example: "  hermes prompt-size\n  hermes prompt-size --platform telegram",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := measure(c.Context(), platform)
			if err != nil {
				return fmt.Errorf("measure the prompt: %w", err)
			}
			r, err := weigh(platform, m)
			if err != nil {
				return err
			}
			if asJSON {
				return factory.WriteJSON(c.OutOrStdout(), r)
			}
			return r.write(c.OutOrStdout())
		},
	}
	c.Flags().StringVar(&platform, "platform", "cli", "measure this platform: cli, telegram, cron, …")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// measureWith measures with the app.
func measureWith(f *factory.Factory) Measure {
	return func(ctx context.Context, platform string) (Measured, error) {
		run, err := f.RunOn(platform)
		if err != nil {
			return Measured{}, err
		}
		p, specs, err := f.App().Measure(ctx, run)
		m := Measured{Prompt: p, Tools: specs}
		m.Model, m.Window, m.Price = f.App().ModelFacts(run)
		return m, err
	}
}

// report is the result, as --json prints it. All sizes are in bytes.
type report struct {
	Platform string         `json:"platform"`
	System   system         `json:"system"`
	Tools    tools          `json:"tools"`
	Tiers    map[string]int `json:"tiers"`
	Total    int            `json:"total_bytes"`
	Tokens   int            `json:"estimated_tokens"`
	Model    string         `json:"model,omitempty"`
	Window   int            `json:"window_tokens,omitempty"`
	// Fresh and Cached are the cost in dollars with none and with all of this in
	// the service's cache. They are absent if the price is unknown.
	Fresh    *float64 `json:"usd_fresh,omitempty"`
	Cached   *float64 `json:"usd_cached,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

type system struct {
	Bytes    int       `json:"bytes"`
	Tokens   int       `json:"estimated_tokens"`
	Sections []section `json:"sections"`
}

type section struct {
	Name   string `json:"name"`
	Tier   string `json:"tier"`
	Bytes  int    `json:"bytes"`
	Tokens int    `json:"estimated_tokens"`
	// Was is the size before the section was shortened, Why the reason.
	Was int    `json:"bytes_before,omitempty"`
	Why string `json:"why,omitempty"`
}

type tools struct {
	Bytes  int    `json:"bytes"`
	Tokens int    `json:"estimated_tokens"`
	Count  int    `json:"count"`
	Tools  []tool `json:"tools"`
}

type tool struct {
	Name        string `json:"name"`
	Bytes       int    `json:"bytes"`
	Tokens      int    `json:"estimated_tokens"`
	Description int    `json:"description_bytes"`
	Schema      int    `json:"schema_bytes"`
}

func weigh(platform string, m Measured) (report, error) {
	r := report{Platform: platform, Tiers: map[string]int{}, Warnings: m.Prompt.Warnings, Model: m.Model, Window: m.Window}
	r.System.Bytes, r.System.Tokens = len(m.Prompt.Text()), tokens.Text(m.Prompt.Text())
	for _, s := range m.Prompt.Sections {
		r.System.Sections = append(r.System.Sections, section{s.Name, string(s.Tier), len(s.Text), tokens.Text(s.Text), s.Was, s.Why})
		r.Tiers[string(s.Tier)] += len(s.Text)
	}
	r.Tools.Count = len(m.Tools)
	for _, s := range m.Tools {
		n, err := wireSize(s)
		if err != nil {
			return report{}, fmt.Errorf("measure the tool %s: %w", s.Name, err)
		}
		r.Tools.Tools = append(r.Tools.Tools, tool{s.Name, n, (n + 3) / 4, len(s.Description), len(s.Schema)})
		r.Tools.Bytes += n
	}
	r.Tools.Tokens = (r.Tools.Bytes + 3) / 4
	r.Total = r.System.Bytes + r.Tools.Bytes
	r.Tokens = r.System.Tokens + r.Tools.Tokens
	r.cost(m.Price)
	return r, nil
}

// cost sets Fresh and Cached, if the price is known.
func (r *report) cost(p *hermes.Price) {
	if p == nil {
		return
	}
	n := int64(r.Tokens)
	if m, ok := p.Cost(hermes.Usage{Input: n}, false); ok {
		usd := m.Dollars()
		r.Fresh = &usd
	}
	if m, ok := p.Cost(hermes.Usage{CacheRead: n}, false); ok {
		usd := m.Dollars()
		r.Cached = &usd
	}
}

// wireSize is the size of a tool in the Chat Completions format.
func wireSize(s hermes.Spec) (int, error) {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}{"function", function{s.Name, s.Description, s.Schema}})
	return len(bytes.TrimSpace(b.Bytes())), err
}
