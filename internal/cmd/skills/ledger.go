package skills

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/markup"
	"hermes/internal/skill"
	"hermes/internal/undo"
)

// entry is a change of skills as JSON.
type entry struct {
	ID     string    `json:"id"`
	Time   time.Time `json:"time"`
	Actor  string    `json:"actor"` // curator, person, or a session's id
	What   string    `json:"what"`
	Undone bool      `json:"undone"`
	Files  []string  `json:"files"`
}

// ledger lists the changes of skills in the undo journal.
func (n noun) ledger() *cobra.Command {
	var asJSON, all bool
	var limit int
	cmd := n.verb("ledger", "List changes to skills and who made them", "hermes curator ledger --all", cobra.NoArgs, func(_ context.Context, c *call) error {
		changes, err := n.changes(limit, all)
		if err != nil {
			return err
		}
		entries := []entry{}
		for _, ch := range changes {
			e := entry{ch.ID, ch.Time, ch.Actor, ch.What, ch.Undone, nil}
			for _, f := range ch.Files {
				e.Files = append(e.Files, f.Path)
			}
			entries = append(entries, e)
		}
		if asJSON {
			return factory.WriteJSON(c.Out, entries)
		}
		for _, e := range entries {
			state := ""
			if e.Undone {
				state = "  (undone)"
			}
			c.say("%s  %s  %-10s %s%s", e.ID, e.Time.Local().Format("2006-01-02 15:04"), e.Actor, e.What, state)
		}
		if len(entries) == 0 {
			if all {
				c.say("No changes yet.")
			} else {
				c.say("No changes by the curator yet. Use --all to include yours and those of sessions.")
			}
			return nil
		}
		c.say("Undo one with: hermes curator rollback --entry ID")
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVarP(&all, "all", "a", false, "include changes by you and by sessions")
	cmd.Flags().IntVarP(&limit, "limit", "n", 50, "maximum number of changes; 0 shows all")
	return cmd
}

func (n noun) changes(limit int, all bool) ([]undo.Change, error) {
	j, err := n.Journal()
	if err != nil {
		return nil, err
	}
	list, err := j.List(time.Time{})
	var out []undo.Change
	for _, c := range list {
		if c.Kind == "skill" && (all || c.Actor == "curator") && (limit <= 0 || len(out) < limit) {
			out = append(out, c)
		}
	}
	return out, err
}

// undoChange undoes one change of skills.
func (n noun) undoChange(ctx context.Context, c *call, id string, yes bool) error {
	j, err := n.Journal()
	if err != nil {
		return err
	}
	list, err := j.List(time.Time{})
	if err != nil {
		return err
	}
	for _, ch := range list {
		if ch.ID != id || ch.Kind != "skill" {
			continue
		}
		if ch.Undone {
			return fmt.Errorf("%s is already undone", id)
		}
		if err := n.confirm(c, yes, "Undo: "+markup.Visible(ch.What)+"?"); err != nil {
			return err
		}
		if _, err := j.Undo(ctx, []undo.Change{ch}, "person", false); err != nil {
			return err
		}
		c.say("Undone: %s", ch.What)
		return nil
	}
	return fmt.Errorf("there is no change %q of skills; list them with `hermes curator ledger --all`", id)
}

func (n noun) purge() *cobra.Command {
	var older int
	var yes, dry bool
	cmd := n.verb("purge [NAME…]", "Delete archived skills", "hermes curator purge --older-than 90", cobra.ArbitraryArgs, func(ctx context.Context, c *call) error {
		if older < 0 {
			return fmt.Errorf("invalid --older-than %d: use a number of days, or 0 for all", older)
		}
		age := time.Duration(older) * 24 * time.Hour
		list, err := c.lib.Purge(ctx, age, c.Args, true)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			c.say("Nothing to delete.")
			return nil
		}
		if !dry {
			if err := n.confirm(c, yes, "Delete "+names(list)+" from the archive?"); err != nil {
				return err
			}
			if list, err = c.lib.Purge(ctx, age, c.Args, false); err != nil {
				return err
			}
		}
		c.printPurged(list, dry)
		return nil
	})
	cmd.Flags().IntVar(&older, "older-than", 0, "delete only skills archived more than this many `days` ago")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would be deleted, and change nothing")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}

func (c *call) printPurged(list []skill.Archived, dry bool) {
	switch {
	case len(list) == 0:
	case dry:
		c.say("Would delete from the archive: %s", names(list))
	default:
		c.say("Deleted from the archive: %s", names(list))
	}
}

func names(list []skill.Archived) string {
	var out []string
	for _, a := range list {
		out = append(out, a.Name)
	}
	return strings.Join(out, ", ")
}

func (n noun) unmanaged() *cobra.Command {
	return n.verb("list-unmanaged", "List your skills that the curator does not manage", "hermes curator list-unmanaged", cobra.NoArgs, func(ctx context.Context, c *call) error {
		list, err := c.lib.Unmanaged(ctx)
		for _, s := range list {
			c.say("%-24s %s", s.Name, skill.Short(s.Description))
		}
		if err == nil && len(list) == 0 {
			c.say("None. List the skills it manages with: hermes curator status")
		}
		return err
	})
}
