// Package undo holds the command `hermes undo`, which undoes changes to memory,
// skills, learnings and settings. It chooses the changes, shows a preview and asks
// the user. Package internal/undo keeps the journal and restores the files. Start
// at NewCmd.
package undo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/text"
	"hermes/internal/undo"
	"hermes/internal/usage"
)

// Options are the options of the command.
type Options struct {
	*factory.Factory
	In    io.Reader
	Out   io.Writer
	ID    string
	Since string
	List  bool
	Yes   bool
	Force bool
	Show  bool
}

// NewCmd makes the command; runF replaces its work in tests.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	c := &cobra.Command{
		Use:   "undo [ID]",
		Short: "Undo changes to memory, skills, learnings or settings",
		Long: "Undo the last change, the change with an ID, or with --since all changes after a time.\n" +
			"A preview is shown first. An undo can be undone by its ID.",
		Example: "  hermes undo\n  hermes undo --list\n  hermes undo --since 2h --preview",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.In, o.Out = c.InOrStdin(), c.OutOrStdout()
			if len(args) > 0 {
				o.ID = args[0]
			}
			if runF != nil {
				return runF(c.Context(), o)
			}
			return run(c.Context(), o)
		},
	}
	flags := c.Flags()
	flags.StringVar(&o.Since, "since", "", "undo all changes since a `time` (10:00), a day (2026-11-20) or within a duration (2h)")
	flags.BoolVar(&o.List, "list", false, "list the changes that can be undone")
	flags.BoolVar(&o.Show, "preview", false, "show what would be undone, and change nothing")
	flags.BoolVarP(&o.Yes, "yes", "y", false, "do not ask for confirmation")
	flags.BoolVar(&o.Force, "force", false, "undo even if a file was changed since then")
	return c
}

func run(ctx context.Context, o *Options) error {
	j, err := o.App().Changes()
	if err != nil {
		return err
	}
	all, err := j.List(time.Time{})
	if err != nil {
		return err
	}
	if o.List {
		return list(o.Out, all)
	}
	chosen, err := choose(o, all)
	if err != nil {
		return err
	}
	if len(chosen) == 0 {
		fmt.Fprintln(o.Out, "Nothing to undo. To redo an undone change, use its ID from: hermes undo --list")
		return nil
	}
	previews, err := j.Preview(chosen)
	if err != nil {
		return err
	}
	for i, c := range chosen {
		fmt.Fprintf(o.Out, "%s  %s  %s\n%s", c.Time.Local().Format("2006-01-02 15:04"), c.Kind, c.What, previews[i])
	}
	if o.Show {
		return nil
	}
	if !o.Yes {
		err := o.Confirm(o.In, o.Out, "Undo "+text.Plural(len(chosen), "change", "changes")+"?")
		if errors.Is(err, factory.ErrCanceled) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	n, err := j.Undo(ctx, chosen, "person", o.Force)
	if n > 0 {
		fmt.Fprintf(o.Out, "Undid %s.\n", text.Plural(n, "change", "changes"))
	}
	return err
}

func list(out io.Writer, all []undo.Change) error {
	for _, c := range all {
		state := ""
		if c.Undone {
			state = "  (undone)"
		}
		fmt.Fprintf(out, "%s  %s  %-7s %s%s\n", c.ID, c.Time.Local().Format("2006-01-02 15:04"), c.Kind, c.What, state)
	}
	if len(all) == 0 {
		fmt.Fprintln(out, "Nothing to undo.")
	}
	return nil
}

// choose returns the changes to undo, newest first.
func choose(o *Options, all []undo.Change) ([]undo.Change, error) {
	var since time.Time
	if o.Since != "" {
		var err error
		if since, err = parseSince(o.Since, o.Now()); err != nil {
			return nil, err
		}
	}
	var out []undo.Change
	for _, c := range all {
		switch {
		case o.ID != "":
			if c.ID == o.ID {
				return []undo.Change{c}, nil
			}
		case c.Undone || c.Of != "": // an undo is undone by its id only
		case o.Since == "":
			return []undo.Change{c}, nil
		case !c.Time.Before(since):
			out = append(out, c)
		}
	}
	if o.ID != "" {
		return nil, fmt.Errorf("there is no change %q; list them with `hermes undo --list`", o.ID)
	}
	return out, nil
}

func parseSince(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return now.Add(-d), nil
	}
	if t, err := time.ParseInLocation("15:04", text, now.Location()); err == nil {
		return time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), 0, 0, now.Location()), nil
	}
	for _, layout := range []string{"2006-01-02", "2006-01-02 15:04", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usage.Errorf("invalid --since %q: use a time such as 10:00, 2026-11-20 or 2h", text)
}
