// Package promptsize is the command hermes prompt-size: how many bytes every
// request of a new session begins with, section by section of the system
// prompt and tool by tool. It works offline and asks no model.
//
// What is measured is handed in as a func, so that the command knows neither
// configuration nor composition. Start at New.
package promptsize

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/prompt"
)

// Measure builds what a new session on a platform would begin with.
type Measure func(ctx context.Context, platform string) (prompt.Prompt, []hermes.Spec, error)

// New makes the command.
func New(measure Measure) *cobra.Command {
	var platform string
	var asJSON bool
	c := &cobra.Command{
		Use:   "prompt-size",
		Short: "Show how many bytes each part of the prompt takes",
		Long: "Show, offline, what every request of a new session begins with: the bytes of each section of the\n" +
			"system prompt and of each tool. Tokens are an estimate of four bytes each.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, specs, err := measure(c.Context(), platform)
			if err != nil {
				return fmt.Errorf("measure the prompt: %w", err)
			}
			r, err := weigh(platform, p, specs)
			if err != nil {
				return err
			}
			if asJSON {
				return r.writeJSON(c.OutOrStdout())
			}
			return r.write(c.OutOrStdout())
		},
	}
	c.Flags().StringVar(&platform, "platform", "cli", "the platform to measure: cli, telegram, cron, …")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// report is the outcome, as --json prints it. All sizes are bytes.
type report struct {
	Platform string         `json:"platform"`
	System   system         `json:"system"`
	Tools    tools          `json:"tools"`
	Tiers    map[string]int `json:"tiers"`
	Total    int            `json:"total_bytes"`
	Tokens   int            `json:"estimated_tokens"`
	Warnings []string       `json:"warnings,omitempty"`
}

type system struct {
	Bytes    int       `json:"bytes"`
	Sections []section `json:"sections"`
}

type section struct {
	Name  string `json:"name"`
	Tier  string `json:"tier"`
	Bytes int    `json:"bytes"`
}

type tools struct {
	Bytes int    `json:"bytes"`
	Count int    `json:"count"`
	Tools []tool `json:"tools"`
}

type tool struct {
	Name        string `json:"name"`
	Bytes       int    `json:"bytes"`
	Description int    `json:"description_bytes"`
	Schema      int    `json:"schema_bytes"`
}

func weigh(platform string, p prompt.Prompt, specs []hermes.Spec) (report, error) {
	r := report{Platform: platform, Tiers: map[string]int{}, Warnings: p.Warnings}
	r.System.Bytes = len(p.Text())
	for _, s := range p.Sections {
		r.System.Sections = append(r.System.Sections, section{s.Name, string(s.Tier), len(s.Text)})
		r.Tiers[string(s.Tier)] += len(s.Text)
	}
	r.Tools.Count = len(specs)
	for _, s := range specs {
		n, err := wireSize(s)
		if err != nil {
			return report{}, fmt.Errorf("measure the tool %s: %w", s.Name, err)
		}
		r.Tools.Tools = append(r.Tools.Tools, tool{s.Name, n, len(s.Description), len(s.Schema)})
		r.Tools.Bytes += n
	}
	r.Total = r.System.Bytes + r.Tools.Bytes
	r.Tokens = (r.Total + 3) / 4
	return r, nil
}

// wireSize is a tool's size as Chat Completions carries it.
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

func (r report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// write prints the report for a person, the largest tools first.
func (r report) write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "System prompt (%s)\t\tbytes\n", r.Platform)
	for _, s := range r.System.Sections {
		fmt.Fprintf(w, "  %s\t%s\t%7d\n", s.Name, s.Tier, s.Bytes)
	}
	fmt.Fprintf(w, "  in all\t\t%7d\n\nTools (%d)\t\t\n", r.System.Bytes, r.Tools.Count)
	list := slices.Clone(r.Tools.Tools)
	slices.SortStableFunc(list, func(a, b tool) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for _, t := range list {
		fmt.Fprintf(w, "  %s\t\t%7d\n", t.Name, t.Bytes)
	}
	fmt.Fprintf(w, "  in all\t\t%7d\n", r.Tools.Bytes)
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\nEvery request begins with %d bytes, about %d tokens.\n", r.Total, r.Tokens)
	for _, warning := range r.Warnings {
		fmt.Fprintf(out, "Note: %s.\n", warning)
	}
	return err
}
