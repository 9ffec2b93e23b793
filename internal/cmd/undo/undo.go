// Package undo holds the command `hermes undo`, which undoes changes to memory,
// skills, learnings and settings. It chooses the changes, shows a preview and asks
// the user. Package internal/undo keeps the journal and restores the files. Start
// at NewCmd.
package undo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/text"
	"hermes/internal/undo"
	"hermes/internal/usage"
)

// options are the flags of the command.
type options struct {
	since                     string
	list, preview, yes, force bool
}

// NewCmd makes the command.
func NewCmd(f *factory.Factory) *cobra.Command {
	var o options
	cmd := factory.Verb("undo [ID]", "Undo changes to memory, skills, learnings or settings", "hermes undo\n  hermes undo --list\n  hermes undo --since 2h --preview", cobra.MaximumNArgs(1), func(ctx context.Context, c *factory.Call) error {
		return run(ctx, f, c, o)
	})
	cmd.Long = "Undo the last change, the change with an ID, or with --since all changes after a time.\n" +
		"A preview is shown first. An undo can be undone by its ID."
	flags := cmd.Flags()
	flags.StringVar(&o.since, "since", "", "undo all changes since a `time` (10:00), a day (2026-11-20) or within a duration (2h)")
	flags.BoolVar(&o.list, "list", false, "list the changes that can be undone")
	flags.BoolVar(&o.preview, "preview", false, "show what would be undone, and change nothing")
	flags.BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
	flags.BoolVar(&o.force, "force", false, "undo even if a file was changed since then")
	return cmd
}

func run(ctx context.Context, f *factory.Factory, c *factory.Call, o options) error {
	j, err := f.App().Changes()
	if err != nil {
		return err
	}
	all, err := j.List(time.Time{})
	if err != nil {
		return err
	}
	if o.list {
		list(c, all)
		return nil
	}
	chosen, err := choose(all, c.Arg(0), o.since, f.Now())
	if err != nil {
		return err
	}
	if len(chosen) == 0 {
		c.Say("Nothing to undo. To redo an undone change, use its ID from: hermes undo --list")
		return nil
	}
	previews, err := j.Preview(chosen)
	if err != nil {
		return err
	}
	for i, ch := range chosen {
		fmt.Fprintf(c.Out, "%s  %s  %s\n%s", ch.Time.Local().Format("2006-01-02 15:04"), ch.Kind, ch.What, previews[i])
	}
	if o.preview {
		return nil
	}
	if !o.yes {
		err := f.Confirm(c.In, c.Out, "Undo "+text.Plural(len(chosen), "change", "changes")+"?")
		if errors.Is(err, factory.ErrCanceled) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	n, err := j.Undo(ctx, chosen, "person", o.force)
	if n > 0 {
		c.Say("Undid %s.", text.Plural(n, "change", "changes"))
	}
	return err
}

func list(c *factory.Call, all []undo.Change) {
	for _, ch := range all {
		state := ""
		if ch.Undone {
			state = "  (undone)"
		}
		c.Say("%s  %s  %-7s %s%s", ch.ID, ch.Time.Local().Format("2006-01-02 15:04"), ch.Kind, ch.What, state)
	}
	if len(all) == 0 {
		c.Say("Nothing to undo.")
	}
}

// choose returns the changes to undo, newest first: the one with an id, those after a
// time, or the last one.
func choose(all []undo.Change, id, after string, now time.Time) ([]undo.Change, error) {
	var since time.Time
	if after != "" {
		var err error
		if since, err = parseSince(after, now); err != nil {
			return nil, err
		}
	}
	var out []undo.Change
	for _, c := range all {
		switch {
		case id != "":
			if c.ID == id {
				return []undo.Change{c}, nil
			}
		case c.Undone || c.Of != "": // an undo is undone by its id only
		case after == "":
			return []undo.Change{c}, nil
		case !c.Time.Before(since):
			out = append(out, c)
		}
	}
	if id != "" {
		return nil, fmt.Errorf("there is no change %q; list them with `hermes undo --list`", id)
	}
	return out, nil
}

// parseSince parses a time of today, or what [text.Moment] does.
func parseSince(since string, now time.Time) (time.Time, error) {
	if t, err := time.ParseInLocation("15:04", since, now.Location()); err == nil {
		return time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), 0, 0, now.Location()), nil
	}
	t, err := text.Moment(since, now)
	if err != nil {
		return t, usage.Errorf("invalid --since %q: use a time such as 10:00, 2026-11-20 or 2h", since)
	}
	return t, nil
}
