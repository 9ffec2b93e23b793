package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

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

// ledger lists the changes of skills that stand in the journal of undo.
func (d Deps) ledger() *cobra.Command {
	var asJSON, all bool
	var limit int
	cmd := d.verb("ledger", "List the changes of skills, who made them, and how to take one back", cobra.NoArgs, func(_ context.Context, c *call) error {
		changes, err := d.changes(limit, all)
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
			enc := json.NewEncoder(c.out)
			enc.SetIndent("", "  ")
			return enc.Encode(entries)
		}
		for _, e := range entries {
			state := ""
			if e.Undone {
				state = "  (taken back)"
			}
			c.say("%s  %s  %-10s %s%s", e.ID, e.Time.Local().Format("2006-01-02 15:04"), e.Actor, e.What, state)
		}
		if len(entries) == 0 {
			if all {
				c.say("Nothing was changed yet.")
			} else {
				c.say("The curator has changed nothing yet; --all shows what you and the sessions changed.")
			}
			return nil
		}
		c.say("`hermes curator rollback --entry ID` takes one back.")
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVarP(&all, "all", "a", false, "also what you and the sessions changed, not the curator alone")
	cmd.Flags().IntVarP(&limit, "limit", "n", 50, "how many; 0 is all")
	return cmd
}

func (d Deps) changes(limit int, all bool) ([]undo.Change, error) {
	j, done, err := d.Journal()
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
	return out, errors.Join(err, done())
}

// takeBack takes one change of skills back.
func (d Deps) takeBack(ctx context.Context, c *call, id string, yes bool) (err error) {
	j, done, err := d.Journal()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	list, err := j.List(time.Time{})
	if err != nil {
		return err
	}
	for _, ch := range list {
		if ch.ID != id || ch.Kind != "skill" {
			continue
		}
		if ch.Undone {
			return fmt.Errorf("%s is taken back already", id)
		}
		if err := d.agreed(c, yes, "Take back: "+printable(ch.What)+"?"); err != nil {
			return err
		}
		if _, err := j.Undo(ctx, []undo.Change{ch}, "person", false); err != nil {
			return err
		}
		c.say("Taken back: %s", ch.What)
		return nil
	}
	return fmt.Errorf("there is no change %q of skills; `hermes curator ledger --all` shows them", id)
}

func (d Deps) purge() *cobra.Command {
	var older int
	var yes, dry bool
	cmd := d.verb("purge [NAME…]", "Delete from the archive, for good once the journal of undo forgets it", cobra.ArbitraryArgs, func(ctx context.Context, c *call) error {
		if older < 0 {
			return fmt.Errorf("--older-than %d: give a number of days, or 0 for all", older)
		}
		age := time.Duration(older) * 24 * time.Hour
		list, err := c.lib.Purge(ctx, age, c.args, true)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			c.say("There is nothing to delete.")
			return nil
		}
		if !dry {
			if err := d.agreed(c, yes, "Delete "+names(list)+"?"); err != nil {
				return err
			}
			if list, err = c.lib.Purge(ctx, age, c.args, false); err != nil {
				return err
			}
		}
		c.tellPurged(list, dry)
		return nil
	})
	cmd.Flags().IntVar(&older, "older-than", 0, "only what has been there for so many days")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only tell what would be done")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (c *call) tellPurged(list []skill.Archived, dry bool) {
	switch {
	case len(list) == 0:
	case dry:
		c.say("Would be deleted from the archive: %s", names(list))
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

func (d Deps) unmanaged() *cobra.Command {
	return d.verb("list-unmanaged", "List the skills of yours that the curator does not touch", cobra.NoArgs, func(ctx context.Context, c *call) error {
		list, err := c.lib.Unmanaged(ctx)
		for _, s := range list {
			c.say("%-24s %s", s.Name, skill.Short(s.Description))
		}
		if err == nil && len(list) == 0 {
			c.say("There are none. `hermes curator status` shows those that it judges.")
		}
		return err
	})
}
