// Package spend is the command hermes spend: how the caps stand, what was
// spent on what, and raising a cap. The books and the caps are the governor's;
// [Deps] makes one when the command runs, and not before. Start at NewCmd;
// raise.go is the verb, print.go the tables.
package spend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/spend"
	"hermes/internal/usage"
)

// Deps is what the command works with.
type Deps struct {
	// Open makes the governor; done frees what it opened.
	Open func(ctx context.Context) (g *spend.Governor, done func() error, err error)
	// Session gives the id of the session that a word means (an id, a title,
	// latest), or hermes.ErrNotFound. Nil takes every word for an id.
	Session func(ctx context.Context, ref string) (id string, err error)
}

// Options are the wishes of `hermes spend`.
type Options struct {
	Deps
	Out     io.Writer
	Days    int
	By      string
	Session string
	JSON    bool
}

// NewCmd makes the command with its verb.
func NewCmd(d Deps) *cobra.Command {
	o := &Options{Deps: d}
	cmd := &cobra.Command{
		Use:   "spend",
		Short: "Show what model calls cost, and how the caps stand",
		Long: "Show how the caps on spending stand and what was spent in the last days, by model, session, day or purpose.\n" +
			"Caps are set with `hermes config set spend.day.usd 10`; turn, session, job, tree, day and month each take usd and tokens.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Out = cmd.OutOrStdout()
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Days, "days", 30, "how many days to look back, today included")
	f.StringVar(&o.By, "by", "model", "sum by model, session, day or purpose")
	f.StringVar(&o.Session, "session", "", "only this session, with its own caps")
	f.BoolVar(&o.JSON, "json", false, "print JSON")
	cmd.AddCommand(newRaiseCmd(d))
	return cmd
}

func (o *Options) run(ctx context.Context) (err error) {
	if o.Days < 1 {
		return usage.Errorf("--days %d: look back at least one day", o.Days)
	}
	by := hermes.SpendGroup(o.By)
	switch by {
	case hermes.SpendByModel, hermes.SpendBySession, hermes.SpendByDay, hermes.SpendByPurpose:
	default:
		return usage.Errorf("--by %s: choose model, session, day or purpose", o.By)
	}
	unknown := o.resolve(ctx)
	g, done, err := o.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, done()) }()
	r := report{Since: g.Midnight(o.Days - 1), Days: o.Days, By: o.By}
	if r.lines, err = g.Status(ctx, o.Session, 0); err != nil {
		return err
	}
	q := hermes.SpendQuery{After: r.Since, Session: o.Session}
	all, err := g.Spent(ctx, q)
	if err != nil {
		return err
	}
	if len(all) > 0 {
		r.total = all[0]
	}
	if r.total.Calls == 0 && unknown != nil { // the books outlive a session that was deleted
		return unknown
	}
	q.By = by
	if r.groups, err = g.Spent(ctx, q); err != nil {
		return err
	}
	if o.JSON {
		return r.writeJSON(o.Out)
	}
	return r.write(o.Out)
}

// resolve puts an id in the place of the word that names a session.
func (o *Options) resolve(ctx context.Context) error {
	if o.Session == "" || o.Deps.Session == nil {
		return nil
	}
	id, err := o.Deps.Session(ctx, o.Session)
	switch {
	case errors.Is(err, hermes.ErrNotFound):
		return fmt.Errorf("there is no session %q: `hermes sessions list --all` shows those there are", o.Session)
	case err != nil:
		return err
	}
	o.Session = id
	return nil
}

// report is what the command tells.
type report struct {
	Since  time.Time
	Days   int
	By     string
	lines  []spend.Line
	total  hermes.Spending
	groups []hermes.Spending
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
