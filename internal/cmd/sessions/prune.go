package sessions

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/usage"
)

// PruneOptions are the wishes of `sessions prune`.
type PruneOptions struct {
	Deps
	In          io.Reader
	Out         io.Writer
	OlderThan   string
	Before      string
	Platform    string
	Title       string
	Model       string
	Reason      string
	Dir         string
	MinMessages int
	MaxMessages int
	Archived    bool
	DryRun      bool
	Yes         bool
	// Narrowed is set if any filter was given; else only what was inactive for
	// 90 days goes.
	Narrowed bool
}

// NewPruneCmd makes the verb; runF replaces its work in tests.
func NewPruneCmd(d Deps, runF func(context.Context, *PruneOptions) error) *cobra.Command {
	o := &PruneOptions{Deps: d}
	if runF == nil {
		runF = runPrune
	}
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove old sessions that have ended",
		Long: "Remove sessions that have ended and are not pinned. Without a filter only those\n" +
			"that nothing happened in for 90 days; any filter takes the place of that age.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"older-than", "before", "source", "title", "model", "end-reason", "cwd", "min-messages", "max-messages"} {
				o.Narrowed = o.Narrowed || cmd.Flags().Changed(name)
			}
			o.In, o.Out = cmd.InOrStdin(), cmd.OutOrStdout()
			return runF(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.OlderThan, "older-than", "", "only those inactive for this `age` (90d, 12h)")
	f.StringVar(&o.Before, "before", "", "only those last active before this `date`")
	f.StringVar(&o.Platform, "source", "", "only those of this source")
	f.StringVar(&o.Title, "title", "", "only those whose title holds this text")
	f.StringVar(&o.Model, "model", "", "only those of models whose name holds this text")
	f.StringVar(&o.Reason, "end-reason", "", "only those that ended for this reason")
	f.StringVar(&o.Dir, "cwd", "", "only those that began in this `folder`")
	f.IntVar(&o.MinMessages, "min-messages", 0, "only those with at least so many messages")
	f.IntVar(&o.MaxMessages, "max-messages", -1, "only those with at most so many messages")
	f.BoolVar(&o.Archived, "include-archived", false, "archived ones too")
	f.BoolVar(&o.DryRun, "dry-run", false, "show what would go, and change nothing")
	f.BoolVarP(&o.Yes, "yes", "y", false, "do not ask")
	return cmd
}

func runPrune(ctx context.Context, o *PruneOptions) error {
	filter, err := o.filter()
	if err != nil {
		return err
	}
	return o.with(ctx, func(s hermes.Store) error {
		rows, err := s.ListSessions(ctx, filter)
		if err != nil {
			return err
		}
		rows = o.fitting(rows)
		if len(rows) == 0 {
			fmt.Fprintln(o.Out, "There is nothing to prune.")
			return nil
		}
		if o.DryRun {
			o.show(rows)
			return nil
		}
		if !o.Yes {
			if err := o.confirm(o.In, o.Out, "Delete "+plural(len(rows), "session")+", for good?"); err != nil {
				return err
			}
		}
		for i, r := range rows {
			if err := s.DeleteSession(ctx, r.ID); err != nil {
				return fmt.Errorf("after %d of %d sessions: %w", i, len(rows), err)
			}
		}
		fmt.Fprintf(o.Out, "Deleted %s. `hermes sessions optimize` gives the room back.\n", plural(len(rows), "session"))
		return nil
	})
}

func (o *PruneOptions) filter() (hermes.SessionFilter, error) {
	f := hermes.SessionFilter{Platform: o.Platform, Title: o.Title, Ended: new(true), Archived: o.Archived, Limit: -1}
	if o.OlderThan != "" && o.Before != "" {
		return f, usage.Errorf("--older-than and --before say the same: give one")
	}
	old := o.OlderThan + o.Before
	if !o.Narrowed {
		old = "90d"
	}
	var err error
	if f.Before, err = moment(old, o.now()); err != nil {
		return f, err
	}
	if o.Dir != "" {
		f.Dir, err = o.abs(o.Dir)
	}
	return f, err
}

// fitting are the rows that pass what the store's filter cannot say.
func (o *PruneOptions) fitting(rows []hermes.Session) []hermes.Session {
	var kept []hermes.Session
	for _, r := range rows {
		if r.Pinned || !strings.Contains(r.Model, o.Model) || o.Reason != "" && r.EndReason != o.Reason ||
			r.Messages < o.MinMessages || o.MaxMessages >= 0 && r.Messages > o.MaxMessages {
			continue
		}
		kept = append(kept, r)
	}
	return kept
}

func (o *PruneOptions) show(rows []hermes.Session) {
	lines := [][]string{{"ID", "ACTIVE", "SOURCE", "MSGS", "TITLE"}}
	for _, r := range rows {
		lines = append(lines, []string{r.ID, ago(active(r), o.now()), r.Platform, strconv.Itoa(r.Messages), oneLine(r.Title, 60)})
	}
	table(o.Out, lines)
	fmt.Fprintf(o.Out, "\n%s would be deleted; nothing was changed.\n", plural(len(rows), "session"))
}
