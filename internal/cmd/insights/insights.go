// Package insights holds the command `hermes insights`: the activity of the last
// days, as sessions by source, tokens and cost by model, and tools by use. It
// reads the store and changes nothing.
//
// The factory opens the store only when the command runs. Start at NewCmd; print.go
// formats the report.
package insights

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
	"hermes/internal/order"
	"hermes/internal/usage"
)

// Options are the options of `hermes insights`.
type Options struct {
	*factory.Factory
	Days     int
	Platform string
	JSON     bool
}

// NewCmd makes the command.
func NewCmd(f *factory.Factory) *cobra.Command {
	o := &Options{Factory: f}
	cmd := factory.Verb("insights", "Show activity, tokens and cost of the last days", "hermes insights --days 7", cobra.NoArgs, o.run)
	flags := cmd.Flags()
	flags.IntVar(&o.Days, "days", 30, "number of days to include")
	flags.StringVar(&o.Platform, "source", "", "show only sessions of this source: cli, telegram, cron, subagent, …")
	flags.BoolVar(&o.JSON, "json", false, "print JSON")
	return cmd
}

func (o *Options) run(ctx context.Context, c *factory.Call) error {
	if o.Days < 1 {
		return usage.Errorf("invalid --days %d: use at least 1", o.Days)
	}
	since := o.Now().Add(-time.Duration(o.Days) * 24 * time.Hour)
	s, err := o.Reader(ctx)
	if err != nil {
		return err
	}
	active, err := s.Activity(ctx, since, o.Platform)
	if err != nil {
		return err
	}
	costs, err := s.Spent(ctx, hermes.SpendQuery{After: since, Platform: o.Platform, By: hermes.SpendByModel, Limit: -1})
	if err != nil {
		return err
	}
	r := sum(active, costs)
	r.Since, r.Days, r.Platform = since, o.Days, o.Platform
	if o.JSON {
		return factory.WriteJSON(c.Out, r)
	}
	return r.write(c.Out)
}

// report is the result, as --json prints it. Shares are between 0 and 1. Money is
// in US dollars and covers only the calls with a known price.
type report struct {
	Since     time.Time     `json:"since"`
	Days      int           `json:"days"`
	Platform  string        `json:"source,omitempty"`
	Sessions  int           `json:"sessions"`
	Turns     int64         `json:"turns"`
	Messages  int           `json:"messages"`
	Calls     int           `json:"tool_calls"`
	Usage     hermes.Usage  `json:"usage"`
	Tokens    int64         `json:"tokens"`
	Cost      float64       `json:"cost_usd"`
	Unpriced  int64         `json:"unpriced_calls"`
	Platforms []platformRow `json:"by_source"`
	Models    []model       `json:"by_model"`
	Tools     []tool        `json:"tools"`
}

type platformRow struct {
	Name     string  `json:"name"`
	Sessions int     `json:"sessions"`
	Share    float64 `json:"share"`
}

type model struct {
	Name     string  `json:"name"`
	Sessions int     `json:"sessions"`
	Tokens   int64   `json:"tokens"`
	Share    float64 `json:"share"`
	Cost     float64 `json:"cost_usd"`
	Unpriced int64   `json:"unpriced_calls,omitempty"`
}

type tool struct {
	Name   string  `json:"name"`
	Calls  int     `json:"calls"`
	Failed int     `json:"failed"`
	Share  float64 `json:"share"`
}

func sum(a hermes.Active, costs []hermes.Spending) report {
	r := report{Sessions: a.Sessions, Turns: a.Turns, Messages: a.Messages, Calls: a.Calls, Usage: a.Usage, Tokens: a.Usage.Total(),
		Platforms: []platformRow{}, Models: []model{}, Tools: []tool{}}
	for _, name := range slices.Sorted(maps.Keys(a.ByPlatform)) {
		n := a.ByPlatform[name]
		r.Platforms = append(r.Platforms, platformRow{cmp.Or(name, "(none)"), n, share(int64(n), int64(a.Sessions))})
	}
	order.By(r.Platforms, func(a, b platformRow) int { return cmp.Compare(b.Sessions, a.Sessions) })
	r.models(a, costs)
	used := 0
	for _, t := range a.Tools {
		used += t.Calls
	}
	for _, t := range a.Tools {
		r.Tools = append(r.Tools, tool{t.Name, t.Calls, t.Failed, share(int64(t.Calls), int64(used))})
	}
	return r
}

// models combines the use of models by sessions with the ledger, which also has
// the models of fallbacks and side tasks.
func (r *report) models(a hermes.Active, costs []hermes.Spending) {
	byName := map[string]*model{}
	at := func(name string) *model {
		name = cmp.Or(name, "(none)")
		if byName[name] == nil {
			byName[name] = &model{Name: name}
		}
		return byName[name]
	}
	for name, m := range a.ByModel {
		at(name).Sessions = m.Sessions
		at(name).Tokens = m.Usage.Total()
	}
	for _, g := range costs {
		m := at(g.Name)
		m.Cost, m.Unpriced = g.Money.Dollars(), g.Unpriced
		m.Tokens = max(m.Tokens, g.Usage.Total()) // only the ledger has side tasks
		r.Cost += m.Cost
		r.Unpriced += g.Unpriced
	}
	all := int64(0)
	for _, m := range byName {
		all += m.Tokens
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		m := byName[name]
		m.Share = share(m.Tokens, all)
		if m.Tokens > 0 || m.Sessions > 0 {
			r.Models = append(r.Models, *m)
		}
	}
	order.By(r.Models, func(a, b model) int { return cmp.Compare(b.Tokens, a.Tokens) })
}

func share(part, all int64) float64 {
	if all == 0 {
		return 0
	}
	return float64(part*10_000/all) / 10_000
}
