package skills

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/skill"
	"hermes/internal/text"
)

// NewCuratorCmd makes `hermes curator`. Without a verb it shows the status.
func NewCuratorCmd(f *factory.Factory, s Source) *cobra.Command {
	n := newNoun(f, s)
	one := cobra.ExactArgs(1)
	return factory.Noun("curator", "Archive and restore skills that the agent made", "hermes curator status\n  hermes curator run --dry-run",
		n.curatorStatus(), n.curate(), n.backup(), n.rollback(), n.ledger(), n.purge(), n.unmanaged(),
		n.simple("adopt NAME", "Let the curator manage a skill that you wrote", "hermes curator adopt release-notes", one, func(ctx context.Context, c *call) (string, error) {
			return "The curator now manages " + c.Args[0] + ". Keep it with: hermes curator pin " + c.Args[0], c.lib.Adopt(ctx, c.Args[0])
		}),
		n.simple("pin NAME", "Keep the curator from archiving a skill", "hermes curator pin release-notes", one, func(ctx context.Context, c *call) (string, error) {
			return "Pinned " + c.Args[0] + ".", c.lib.Pin(ctx, c.Args[0], true)
		}),
		n.simple("unpin NAME", "Let the curator archive a skill again", "hermes curator unpin release-notes", one, func(ctx context.Context, c *call) (string, error) {
			return "Unpinned " + c.Args[0] + ".", c.lib.Pin(ctx, c.Args[0], false)
		}),
		n.simple("archive NAME", "Archive a skill", "hermes curator archive release-notes", one, func(ctx context.Context, c *call) (string, error) {
			return "Archived " + c.Args[0] + ". Restore it with: hermes curator restore " + c.Args[0], c.lib.Archive(ctx, c.Args[0], "archived by hand")
		}),
		n.simple("restore NAME", "Restore an archived skill", "hermes curator restore release-notes", one, func(ctx context.Context, c *call) (string, error) {
			return "Restored " + c.Args[0] + ".", c.lib.Restore(ctx, c.Args[0])
		}),
		n.archived(),
		n.simple("pause", "Stop the curator from running by itself", "hermes curator pause", cobra.NoArgs, func(ctx context.Context, c *call) (string, error) {
			return "The curator is paused.", c.lib.PauseCurator(ctx, true)
		}),
		n.simple("resume", "Let the curator run by itself again", "hermes curator resume", cobra.NoArgs, func(ctx context.Context, c *call) (string, error) {
			return "The curator is running again.", c.lib.PauseCurator(ctx, false)
		}),
	)
}

func (n noun) curatorStatus() *cobra.Command {
	return n.verb("status", "Show the skills that the curator manages", "hermes curator status", cobra.NoArgs, func(ctx context.Context, c *call) error {
		cur, err := n.Curation()
		if err != nil {
			return err
		}
		all, err := c.lib.Survey(ctx, cur)
		if err != nil {
			return err
		}
		s, err := c.lib.Curator()
		if err != nil {
			return err
		}
		switch {
		case s.Paused:
			c.say("The curator is paused.")
		case s.LastRun.IsZero():
			c.say("The curator has not run yet.")
		default:
			c.say("The curator last ran on %s.", s.LastRun.Local().Format("2006-01-02 15:04"))
		}
		c.say("%s", rules(cur))
		for _, k := range all {
			c.say("%-24s %-9s idle %s, used %d, helped %d, harmed %d", k.Name, k.Outcome, days(k.Idle), k.Usage.Uses, k.Usage.Wins, k.Usage.Harms)
			if t := k.Usage.Replays.Last; t != nil {
				c.say("  replays: %d won, %d lost; the last %s", k.Usage.Replays.Won, k.Usage.Replays.Lost, t.Line())
			}
		}
		if len(all) == 0 {
			c.say("The agent has made no skills yet, so the curator has nothing to manage.")
		}
		return nil
	})
}

// rules describes what is configured.
func rules(c skill.Curation) string {
	text := fmt.Sprintf("Unused skills are stale after %s and archived after %s", days(c.StaleAfter), days(c.ArchiveAfter))
	if c.ArchiveTTL > 0 {
		text += ", deleted from the archive after " + days(c.ArchiveTTL)
	}
	if c.Consolidate {
		text += "; near duplicates are proposed for removal"
	}
	return text + "."
}

func days(d time.Duration) string { return text.Plural(int(d.Hours()/24), "day", "days") }

func (n noun) curate() *cobra.Command {
	var dry bool
	cmd := n.verb("run", "Archive unused skills now", "hermes curator run --dry-run", cobra.NoArgs, func(ctx context.Context, c *call) error {
		cur, err := n.Curation()
		if err != nil {
			return err
		}
		r, err := c.lib.Curate(ctx, cur, dry)
		if err != nil {
			return err
		}
		var names []string
		for _, k := range r.Archived {
			names = append(names, k.Name)
		}
		switch {
		case len(names) == 0:
			c.say("Nothing to archive.")
		case dry:
			c.say("Would archive: %s", strings.Join(names, ", "))
		default:
			c.say("Archived: %s. Restore one with: hermes curator restore NAME", strings.Join(names, ", "))
		}
		for _, t := range r.Twins {
			c.say("%s: %s", t.Name, t.Why())
		}
		if len(r.Twins) > 0 && !dry {
			c.say("Review with: hermes skills pending")
		}
		c.printPurged(r.Purged, dry)
		return nil
	})
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would be done, and change nothing")
	return cmd
}

func (n noun) archived() *cobra.Command {
	return n.verb("list-archived", "List archived skills", "hermes curator list-archived", cobra.NoArgs, func(_ context.Context, c *call) error {
		all, err := c.lib.ListArchived()
		if err != nil {
			return err
		}
		for _, a := range all {
			c.say("%-24s %s  %s", a.Name, a.At.Local().Format("2006-01-02 15:04"), a.Why)
		}
		if len(all) == 0 {
			c.say("No archived skills.")
		}
		return nil
	})
}

func (n noun) backup() *cobra.Command {
	return n.simple("backup", "Back up all skills", "hermes curator backup", cobra.NoArgs, func(_ context.Context, c *call) (string, error) {
		cur, err := n.Curation()
		if err != nil {
			return "", err
		}
		at, err := c.lib.Backup(max(cur.Backups, 1))
		return "Backed up to " + at, err
	})
}

func (n noun) rollback() *cobra.Command {
	var list, yes bool
	var id, entry string
	cmd := n.verb("rollback", "Restore the skills of a backup, or undo one change", "hermes curator rollback --list\n  hermes curator rollback --id 20261120-101500", cobra.NoArgs, func(ctx context.Context, c *call) error {
		if list {
			all, err := c.lib.Backups()
			for _, name := range all {
				c.say("%s", name)
			}
			if err == nil && len(all) == 0 {
				c.say("No backups yet.")
			}
			return err
		}
		if entry != "" {
			return n.undoChange(ctx, c, entry, yes)
		}
		if err := n.confirm(c, yes, "Overwrite the current skills with those of the backup?"); err != nil {
			return err
		}
		got, err := c.lib.Rollback(ctx, id)
		if err == nil {
			c.say("Restored the backup %s. Skills made since then are kept.", got)
		}
		return err
	})
	cmd.Flags().BoolVar(&list, "list", false, "list the backups")
	cmd.Flags().StringVar(&id, "id", "", "restore this backup (default: the newest)")
	cmd.Flags().StringVar(&entry, "entry", "", "undo this change of the ledger instead")
	cmd.MarkFlagsMutuallyExclusive("list", "id", "entry")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}
