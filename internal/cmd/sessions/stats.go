package sessions

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
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
		rows := [][]string{
			{"sessions", strconv.Itoa(stats.Sessions)},
			{"messages", strconv.Itoa(stats.Messages)},
			{"tool calls", strconv.Itoa(stats.Calls)},
			{"tokens", tokens(stats.Usage)},
			{"text", size(stats.TextBytes)},
			{"on disk", size(stats.FileBytes)},
		}
		if !stats.Oldest.IsZero() {
			rows = append(rows, []string{"oldest", ago(stats.Oldest, o.Now())}, []string{"newest", ago(stats.Newest, o.Now())})
		}
		table(o.Out, rows)
		o.platforms(stats.ByPlatform)
		return nil
	})
}

// platforms prints the counts by source, largest first.
func (o *statsOptions) platforms(counts map[string]int) {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
	})
	rows := [][]string{}
	for _, name := range names {
		rows = append(rows, []string{"  " + cmp.Or(name, "(none)"), strconv.Itoa(counts[name])})
	}
	if len(rows) > 0 {
		fmt.Fprintln(o.Out, "\nby source")
		table(o.Out, rows)
	}
}
