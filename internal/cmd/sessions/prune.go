package sessions

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/archive"
	"hermes/internal/cmd/factory"
	"hermes/internal/text"
	"hermes/internal/usage"
)

// pruneOptions are the options of `hermes sessions prune`.
type pruneOptions struct {
	_ [0]func() // it is never compared, which saves the code for it

	base
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
	// Narrowed means that a filter was given. Without one, only sessions inactive
	// for 90 days are deleted.
	Narrowed bool
}

func newPrune(f *factory.Factory) *cobra.Command {
	o := &pruneOptions{base: base{Factory: f}}
	cmd := o.verb("prune", "Delete old sessions that have ended", "hermes sessions prune --older-than 30d --dry-run", cobra.NoArgs, o.run)
	cmd.Long = "Delete sessions that have ended and are not pinned. Without a filter, only those\n" +
		"inactive for 90 days are deleted; any filter replaces that limit."
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		for _, name := range []string{"older-than", "before", "source", "title", "model", "end-reason", "cwd", "min-messages", "max-messages"} {
			o.Narrowed = o.Narrowed || cmd.Flags().Changed(name)
		}
	}
	flags := cmd.Flags()
	flags.StringVar(&o.OlderThan, "older-than", "", "only sessions inactive for this `age` (90d, 12h)")
	flags.StringVar(&o.Before, "before", "", "only sessions last active before this `date`")
	flags.StringVar(&o.Platform, "source", "", "only sessions of this source")
	flags.StringVar(&o.Title, "title", "", "only sessions whose title contains this text")
	flags.StringVar(&o.Model, "model", "", "only sessions whose model name contains this text")
	flags.StringVar(&o.Reason, "end-reason", "", "only sessions that ended for this reason")
	flags.StringVar(&o.Dir, "cwd", "", "only sessions started in this `folder`")
	flags.IntVar(&o.MinMessages, "min-messages", 0, "only sessions with at least `N` messages")
	flags.IntVar(&o.MaxMessages, "max-messages", -1, "only sessions with at most `N` messages")
	flags.BoolVar(&o.Archived, "include-archived", false, "include archived sessions")
	flags.BoolVar(&o.DryRun, "dry-run", false, "show what would be deleted, and change nothing")
	flags.BoolVarP(&o.Yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}

func (o *pruneOptions) run(ctx context.Context) error {
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
			fmt.Fprintln(o.Out, "Nothing to prune.")
			return nil
		}
		if o.DryRun {
			return o.show(rows)
		}
		if !o.Yes {
			if err := o.Confirm(o.In, o.Out, "Delete "+text.Plural(len(rows), "session", "sessions")+" permanently?"); err != nil {
				return err
			}
		}
		for i, r := range rows {
			if err := s.DeleteSession(ctx, r.ID); err != nil {
				return fmt.Errorf("deleted %d of %d sessions: %w", i, len(rows), err)
			}
		}
		fmt.Fprintf(o.Out, "Deleted %s. Free the disk space with: hermes sessions optimize\n", text.Plural(len(rows), "session", "sessions"))
		return nil
	})
}

func (o *pruneOptions) filter() (hermes.SessionFilter, error) {
	f := hermes.SessionFilter{Platform: o.Platform, Title: o.Title, Ended: new(true), Archived: o.Archived, Limit: -1}
	if o.OlderThan != "" && o.Before != "" {
		return f, usage.Errorf("use either --older-than or --before, not both")
	}
	old := o.OlderThan + o.Before
	if !o.Narrowed {
		old = "90d"
	}
	var err error
	if f.Before, err = moment(old, o.Now()); err != nil {
		return f, err
	}
	if o.Dir != "" {
		f.Dir, err = o.abs(o.Dir)
	}
	return f, err
}

// fitting returns the rows that pass the conditions that the store's filter lacks.
func (o *pruneOptions) fitting(rows []hermes.Session) []hermes.Session {
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

func (o *pruneOptions) show(rows []hermes.Session) error {
	var lines factory.Table
	lines.Row("ID", "ACTIVE", "SOURCE", "MSGS", "TITLE")
	for _, r := range rows {
		lines.Row(r.ID, ago(archive.LastActive(r), o.Now()), r.Platform, r.Messages, text.Line(o.Shown(r.Title), 60))
	}
	err := lines.Print(o.Out)
	fmt.Fprintf(o.Out, "\nWould delete %s. Nothing was changed.\n", text.Plural(len(rows), "session", "sessions"))
	return err
}
