// Package spend holds the command `hermes spend`: it shows what was spent and how
// much of each cap is used, and raises caps. The ledger and the caps belong to the
// governor in internal/spend; [Deps] opens it only when the command runs. Start at
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
	"hermes/internal/spend"
	"hermes/internal/usage"
)

// Deps is what the command works with.
type Deps struct {
	// Open makes the governor; done closes what it opened.
	Open func(ctx context.Context) (g *spend.Governor, done func() error, err error)
	// Session returns the id of the session that ref means (an id, a title or
	// latest), or hermes.ErrNotFound. If nil, every ref is an id.
	Session func(ctx context.Context, ref string) (id string, err error)
}

// Options are the options of `hermes spend`.
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
	f := cmd.Flags()
	f.IntVar(&o.Days, "days", 30, "number of days to include, with today")
	f.StringVar(&o.By, "by", "model", "group by model, session, day or purpose")
	f.StringVar(&o.Session, "session", "", "show only this `session` (id, title or latest), with its caps")
	f.BoolVar(&o.JSON, "json", false, "print JSON")
	cmd.AddCommand(newRaiseCmd(d))
	return cmd
}

func (o *Options) run(ctx context.Context) (err error) {
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
	if o.Session == "" || o.Deps.Session == nil {
		return nil
	}
	id, err := o.Deps.Session(ctx, o.Session)
	switch {
	case errors.Is(err, hermes.ErrNotFound):
		return fmt.Errorf("there is no session %q; list them with `hermes sessions list --all`", o.Session)
	case err != nil:
		return err
	}
	o.Session = id
	return nil
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

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
