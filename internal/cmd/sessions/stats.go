package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
	"hermes/internal/text"
)

// statsOptions are the options of `hermes sessions stats`.
type statsOptions struct {
	base
	JSON bool
}

func newStats(f *factory.Factory) *cobra.Command {
	o := &statsOptions{base: base{Factory: f}}
	cmd := o.verb("stats", "Show how much is stored", "hermes sessions stats", cobra.NoArgs, o.run)
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print JSON")
	return cmd
}

// statsJSON is what --json prints; sizes are in bytes.
type statsJSON struct {
	Sessions   int            `json:"sessions"`
	Messages   int            `json:"messages"`
	Calls      int            `json:"calls"`
	Usage      hermes.Usage   `json:"usage"`
	TextBytes  int64          `json:"text_bytes"`
	FileBytes  int64          `json:"file_bytes"`
	ByPlatform map[string]int `json:"by_source"`
	Oldest     time.Time      `json:"oldest,omitzero"`
	Newest     time.Time      `json:"newest,omitzero"`
}

func (o *statsOptions) run(ctx context.Context) error {
	return o.reading(ctx, func(s hermes.Store) error {
		stats, err := s.Stats(ctx)
		if err != nil {
			return err
		}
		if o.JSON {
			return factory.WriteJSON(o.Out, statsJSON(stats))
		}
		var rows factory.Table
		rows.Row("sessions", stats.Sessions)
		rows.Row("messages", stats.Messages)
		rows.Row("tool calls", stats.Calls)
		rows.Row("tokens", tokens(stats.Usage))
		rows.Row("text", text.Size(stats.TextBytes))
		rows.Row("on disk", text.Size(stats.FileBytes))
		if !stats.Oldest.IsZero() {
			rows.Row("oldest", ago(stats.Oldest, o.Now()))
			rows.Row("newest", ago(stats.Newest, o.Now()))
		}
		return errors.Join(rows.Print(o.Out), o.platforms(stats.ByPlatform))
	})
}

// platforms prints the counts by source, largest first.
func (o *statsOptions) platforms(counts map[string]int) error {
	if len(counts) > 0 {
		fmt.Fprintln(o.Out, "\nby source")
	}
	var rows factory.Table
	for _, name := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
	}) {
		rows.Row("  "+cmp.Or(name, "(none)"), counts[name])
	}
	return rows.Print(o.Out)
}
