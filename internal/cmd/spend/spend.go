// Package spend holds the command `hermes spend`: it shows what was spent and how
// much of each cap is used, and raises caps. The ledger and the caps belong to the
// governor in internal/spend, which is opened only when the command runs. Start at
// NewCmd; raise.go raises caps, print.go prints the tables.
package spend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
	"hermes/internal/session"
	"hermes/internal/spend"
	"hermes/internal/usage"
)

// governor opens the governor.
type governor struct {
	*factory.Factory
	open func() (*spend.Governor, error)
}

// Options are the options of `hermes spend`.
type Options struct {
	governor
	Out     io.Writer
	Days    int
	By      string
	Session string
	JSON    bool
}

// NewCmd makes the command with its verb; a governor replaces that of the app in tests.
func NewCmd(f *factory.Factory, replaced *spend.Governor) *cobra.Command {
	g := governor{f, func() (*spend.Governor, error) {
		if replaced != nil {
			return replaced, nil
		}
		g, err := f.App().Spend()
		if fault := f.App().CheckSpend(); err == nil && fault != nil { // a cap may be missing in what is shown
			fmt.Fprintln(f.Err, "hermes:", fault)
		}
		return g, err
	}}
	o := &Options{governor: g}
	cmd := &cobra.Command{
		Use:   "spend",
		Short: "Show what model calls cost and how much of each cap is used",
		Long: "Show how much of each cap is used and what was spent in the last days, by model, session, day or purpose.\n" +
			"Set caps with `hermes config set spend.day.usd 10`. There are caps for turn, session,\n" +
			"tree (a session with its sub-agents), day and month, each in usd and tokens.",
		Example: "  hermes spend --days 7 --by session\n  hermes spend --session latest",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Out = cmd.OutOrStdout()
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.Days, "days", 30, "number of days to include, with today")
	flags.StringVar(&o.By, "by", "model", "group by model, session, day or purpose")
	flags.StringVar(&o.Session, "session", "", "show only this `session` (id, title or latest), with its caps")
	flags.BoolVar(&o.JSON, "json", false, "print JSON")
	cmd.AddCommand(newRaiseCmd(g))
	return cmd
}

func (o *Options) run(ctx context.Context) error {
	if o.Days < 1 {
		return usage.Errorf("invalid --days %d: use at least 1", o.Days)
	}
	by := hermes.SpendGroup(o.By)
	switch by {
	case hermes.SpendByModel, hermes.SpendBySession, hermes.SpendByDay, hermes.SpendByPurpose:
	default:
		return usage.Errorf("invalid --by %s: use model, session, day or purpose", o.By)
	}
	unknown := o.resolve(ctx)
	g, err := o.open()
	if err != nil {
		return err
	}
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
	if r.total.Calls == 0 && unknown != nil { // the ledger keeps deleted sessions
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

// resolve replaces the reference to a session by its id.
func (o *Options) resolve(ctx context.Context) error {
	if o.Session == "" {
		return nil
	}
	db, err := o.Store(ctx)
	if err != nil {
		return err
	}
	var row hermes.Session
	if o.Session == "latest" {
		here, err := o.Dir()
		if err != nil {
			return err
		}
		row, err = session.Latest(ctx, db, here)
		if err != nil {
			return notFound(o.Session, err)
		}
	} else if row, err = db.FindSession(ctx, o.Session); err != nil {
		return notFound(o.Session, err)
	}
	o.Session = row.ID
	return nil
}

func notFound(ref string, err error) error {
	if errors.Is(err, hermes.ErrNotFound) {
		return fmt.Errorf("there is no session %q; list them with `hermes sessions list --all`", ref)
	}
	return err
}

// report is the result of the command.
type report struct {
	Since  time.Time
	Days   int
	By     string
	lines  []spend.Line
	total  hermes.Spending
	groups []hermes.Spending
}
