// Package undo holds the command `hermes undo`, which undoes changes of any kind: files, memory,
// skills, learnings, settings, permissions and trust. It joins the two records of changes, shows a
// preview and asks the user. Package internal/undo keeps the journal of Hermes' own files, and
// internal/checkpoint that of the agent's changes in workspaces. Start at NewCmd; change.go
// joins and chooses, plan.go previews and undoes.
package undo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/audit"
	"hermes/internal/cmd/factory"
	"hermes/internal/text"
	"hermes/internal/usage"
)

// options are the flags of the command.
type options struct {
	since                             string
	list, preview, yes, force, asJSON bool
}

// noun makes the command.
type noun struct{ *factory.Factory }

// NewCmd makes the command. Without a verb it undoes.
func NewCmd(f *factory.Factory) *cobra.Command {
	n := noun{f}
	var o options
	var cmd *cobra.Command
	cmd = factory.Verb("undo [ID]", "Undo changes of files, memory, skills, settings or permissions", "hermes undo\n  hermes undo list\n  hermes undo --since 10:00 --preview", cobra.MaximumNArgs(1), func(ctx context.Context, c *factory.Call) error {
		if o.since == "" && cmd.Flags().Changed("since") { // as of a variable that is not set
			return usage.Errorf("--since is empty: use a time such as 10:00")
		}
		return n.undo(ctx, c, o)
	})
	cmd.Long = "Undo the last change, the change with an ID, or with --since all changes after a time: what the agent changed in your\n" +
		"files, and what was changed in memory, skills, learnings, settings, permissions and trust in projects. A preview is\n" +
		"shown first. What you changed in a file yourself is kept; a conflict is shown and stays as it is. An undo can be undone\n" +
		"by its ID. API keys and logins are not recorded, so that no old secret stays on disk."
	flags := cmd.Flags()
	flags.StringVar(&o.since, "since", "", "undo all changes since a `time` (10:00), a day (2026-11-20), both, or within a duration (2h)")
	flags.BoolVar(&o.list, "list", false, "list the changes that can be undone")
	flags.BoolVar(&o.preview, "preview", false, "show what would be undone, and change nothing")
	flags.BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
	flags.BoolVar(&o.force, "force", false, "undo changes of memory, skills and settings even if they were changed since then")
	flags.BoolVar(&o.asJSON, "json", false, "print as JSON")
	cmd.AddCommand(n.list())
	return cmd
}

func (n noun) list() *cobra.Command {
	var since string
	var asJSON bool
	cmd := factory.Verb("list", "List the changes that can be undone, newest first", "hermes undo list\n  hermes undo list --since 10:00 --json", cobra.NoArgs, func(_ context.Context, c *factory.Call) error {
		return n.show(c, since, asJSON)
	})
	cmd.Aliases = []string{"ls"}
	cmd.Flags().StringVar(&since, "since", "", "only changes since a `time`, as for hermes undo")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// show prints the changes.
func (n noun) show(c *factory.Call, after string, asJSON bool) error {
	since, err := parseSince(after, n.Now())
	if err != nil {
		return err
	}
	r, err := n.records()
	if err != nil {
		return err
	}
	shown := []change{}
	for _, ch := range r.all {
		if !ch.Time.Before(since) {
			shown = append(shown, ch)
		}
	}
	if asJSON {
		if err := factory.WriteJSON(c.Out, shown); err != nil {
			return err
		}
		return r.damage
	}
	for _, ch := range shown {
		state := ""
		if ch.Undone {
			state = "  (undone)"
		}
		c.Say("%-22s  %s  %-10s %s%s", ch.ID, n.clock(ch.Time), ch.Kind, text.VisibleName(ch.What), state)
	}
	if len(shown) == 0 {
		c.Say("Nothing to undo.")
	}
	return r.damage
}

// clock is a time as the user reads it.
func (n noun) clock(t time.Time) string { return t.In(n.Now().Location()).Format("2006-01-02 15:04") }

func (n noun) undo(ctx context.Context, c *factory.Call, o options) error {
	if o.list {
		return n.show(c, o.since, o.asJSON)
	}
	if o.asJSON && !o.preview && !o.yes {
		return usage.Errorf("--json asks no question: use it with --preview or --yes")
	}
	if o.since != "" && c.Arg(0) != "" {
		return usage.Errorf("use an ID or --since, not both")
	}
	since, err := parseSince(o.since, n.Now())
	if err != nil {
		return err
	}
	r, err := n.records()
	if err != nil {
		return err
	}
	p, err := r.choose(ctx, c.Arg(0), since)
	if err != nil {
		return err
	}
	p.force = o.force
	if err := p.describe(); err != nil {
		return err
	}
	if !o.asJSON {
		n.preview(c, p)
	}
	if len(p.Changes) == 0 || o.preview {
		if o.asJSON {
			err = factory.WriteJSON(c.Out, p)
		}
		return errors.Join(err, r.damage)
	}
	if !o.yes && p.able() > 0 {
		err := n.Confirm(c.In, c.Out, "Undo "+text.Plural(len(p.Changes), "change", "changes")+"?")
		if errors.Is(err, factory.ErrCanceled) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	p.run(ctx, func(ch change) {
		if err := n.record(ctx, ch); err != nil {
			c.Note("hermes: %q is undone, but that is missing in the audit log: %v", ch.What, err)
		}
	})
	return errors.Join(n.report(c, p, o.asJSON), r.damage)
}

// record writes to the audit log that settings, permissions or trust were changed.
func (n noun) record(ctx context.Context, ch change) error {
	if ch.Kind != "config" && ch.Kind != "permission" && ch.Kind != "trust" {
		return nil
	}
	return n.App().Record(ctx, audit.Row{Kind: audit.KindSetting, By: "user", Subject: "undo: " + ch.What})
}

// preview prints what will be undone.
func (n noun) preview(c *factory.Call, p *plan) {
	if len(p.Changes) == 0 {
		c.Say("Nothing to undo. To redo an undone change, use its ID from: hermes undo list")
		return
	}
	for _, ch := range p.Changes {
		c.Say("%s  %s  %s", n.clock(ch.Time), ch.Kind, text.VisibleName(ch.What))
		fmt.Fprint(c.Out, text.Visible(ch.Diff))
	}
	for _, f := range p.Folders {
		if len(f.Steps)+len(f.Kept)+len(f.Conflicts) == 0 && f.Error == "" {
			c.Say("In %s: no file changes, since these changes undo each other.", text.VisibleName(f.Folder))
			continue
		}
		c.Say("In %s:", text.VisibleName(f.Folder))
		for _, st := range f.Steps {
			fmt.Fprint(c.Out, text.Visible(st.Text))
			if st.Merged {
				c.Say("%s keeps what you changed in it since", text.VisibleName(st.Path))
			}
		}
		for _, k := range f.Kept {
			c.Say("kept: %s (%s)", text.VisibleName(k.Path), k.Why)
		}
		for _, k := range f.Conflicts {
			c.Say("conflict: %s: %s; it stays as it is", text.VisibleName(k.Path), k.Why)
		}
		if f.Error != "" {
			c.Say("cannot be undone: %s", text.Visible(f.Error))
		}
	}
}

// report prints what was undone. What was not makes it an error.
func (n noun) report(c *factory.Call, p *plan, asJSON bool) error {
	if asJSON {
		if err := factory.WriteJSON(c.Out, p); err != nil {
			return err
		}
	} else {
		if p.Undone > 0 {
			c.Say("Undid %s.", text.Plural(p.Undone, "change", "changes"))
		} else if len(p.Failed) == 0 {
			c.Say("Nothing had to be undone.")
		}
		for _, f := range p.Failed {
			c.Note("hermes: not undone: %s %q: %s", f.ID, text.VisibleName(f.What), text.Visible(f.Why))
		}
	}
	if len(p.Failed) > 0 {
		return fmt.Errorf("%d of %s could not be undone", len(p.Failed), text.Plural(len(p.Changes), "change", "changes"))
	}
	return nil
}

// parseSince parses a time of today, or of yesterday if that is still to come, or what
// [text.Moment] does. An empty text is the zero time.
func parseSince(since string, now time.Time) (time.Time, error) {
	if at, err := time.ParseInLocation("15:04", since, now.Location()); err == nil {
		t := time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), 0, 0, now.Location())
		if t.After(now) {
			t = t.AddDate(0, 0, -1)
		}
		return t, nil
	}
	t, err := text.Moment(since, now)
	if err != nil {
		return t, usage.Errorf("invalid --since %q: use a time such as 10:00, 2026-11-20, 2026-11-20 10:00 or 2h", since)
	}
	if t.After(now) {
		return t, usage.Errorf("--since %q is still to come: use a time in the past", since)
	}
	return t, nil
}
