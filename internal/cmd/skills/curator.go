package skills

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/skill"
)

// NewCuratorCmd makes `hermes curator`; alone it tells the status.
func NewCuratorCmd(d Deps) *cobra.Command {
	status := d.curatorStatus()
	cmd := &cobra.Command{Use: "curator", Short: "What becomes of skills that the agent made and nobody uses", Args: cobra.NoArgs, RunE: status.RunE}
	cmd.AddCommand(
		status, d.curate(), d.backup(), d.rollback(), d.ledger(), d.purge(), d.unmanaged(),
		d.named("adopt NAME", "Let the curator judge a skill that you wrote", func(ctx context.Context, c *call, name string) (string, error) {
			return name + " is judged from now on; `hermes curator pin " + name + "` keeps it.", c.lib.Adopt(ctx, name)
		}),
		d.named("pin NAME", "Keep the curator away from a skill", func(ctx context.Context, c *call, name string) (string, error) {
			return name + " is pinned.", c.lib.Pin(ctx, name, true)
		}),
		d.named("unpin NAME", "Let the curator judge a skill again", func(ctx context.Context, c *call, name string) (string, error) {
			return name + " is not pinned any more.", c.lib.Pin(ctx, name, false)
		}),
		d.named("archive NAME", "Take a skill out of sight", func(ctx context.Context, c *call, name string) (string, error) {
			return name + " is archived.", c.lib.Archive(ctx, name, "archived by hand")
		}),
		d.named("restore NAME", "Bring an archived skill back", func(ctx context.Context, c *call, name string) (string, error) {
			return name + " is back.", c.lib.Restore(ctx, name)
		}),
		d.archived(),
		d.paused("pause", "Do not work by itself", true), d.paused("resume", "Work by itself again", false),
	)
	return cmd
}

func (d Deps) named(use, short string, do func(ctx context.Context, c *call, name string) (string, error)) *cobra.Command {
	return d.verb(use, short, cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		said, err := do(ctx, c, c.args[0])
		if err == nil {
			c.say("%s", said)
		}
		return err
	})
}

func (d Deps) curatorStatus() *cobra.Command {
	return d.verb("status", "Tell what the curator thinks of each skill", cobra.NoArgs, func(ctx context.Context, c *call) error {
		cur, err := d.Curation()
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
			c.say("The curator has not worked yet.")
		default:
			c.say("The curator worked last on %s.", s.LastRun.Local().Format("2006-01-02 15:04"))
		}
		c.say("%s", rules(cur))
		for _, k := range all {
			c.say("%-24s %-9s idle %3d days, used %d, helped %d, harmed %d", k.Name, k.Outcome, int(k.Idle.Hours()/24), k.Usage.Uses, k.Usage.Wins, k.Usage.Harms)
			if t := k.Usage.Replays.Last; t != nil {
				c.say("  replays: %d won, %d lost; the last one %s", k.Usage.Replays.Won, k.Usage.Replays.Lost, t.Line())
			}
		}
		if len(all) == 0 {
			c.say("The agent has made no skills yet; the curator touches no others.")
		}
		return nil
	})
}

// rules tells what is configured.
func rules(c skill.Curation) string {
	text := fmt.Sprintf("Stale after %s, archived after %s", days(c.StaleAfter), days(c.ArchiveAfter))
	if c.ArchiveTTL > 0 {
		text += ", deleted from the archive after " + days(c.ArchiveTTL)
	}
	if c.Consolidate {
		text += "; what is nearly the same is proposed for removal"
	}
	return text + "."
}

func days(d time.Duration) string { return fmt.Sprintf("%d days", int(d.Hours()/24)) }

func (d Deps) curate() *cobra.Command {
	var dry bool
	cmd := d.verb("run", "Archive what is long unused, now", cobra.NoArgs, func(ctx context.Context, c *call) error {
		cur, err := d.Curation()
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
			c.say("Nothing is to be archived.")
		case dry:
			c.say("Would be archived: %s", strings.Join(names, ", "))
		default:
			c.say("Archived: %s. `hermes curator restore NAME` brings one back.", strings.Join(names, ", "))
		}
		for _, t := range r.Twins {
			c.say("%s: %s", t.Name, t.Why())
		}
		if len(r.Twins) > 0 && !dry {
			c.say("Decide on it with: hermes skills pending")
		}
		c.tellPurged(r.Purged, dry)
		return nil
	})
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only tell what would be done")
	return cmd
}

func (d Deps) archived() *cobra.Command {
	return d.verb("list-archived", "List what can be restored; of a name that is there twice, the newest comes back", cobra.NoArgs, func(_ context.Context, c *call) error {
		all, err := c.lib.ListArchived()
		if err != nil {
			return err
		}
		for _, a := range all {
			c.say("%-24s %s  %s", a.Name, a.At.Local().Format("2006-01-02 15:04"), a.Why)
		}
		if len(all) == 0 {
			c.say("Nothing is archived.")
		}
		return nil
	})
}

func (d Deps) backup() *cobra.Command {
	return d.verb("backup", "Copy all skills into an archive", cobra.NoArgs, func(_ context.Context, c *call) error {
		cur, err := d.Curation()
		if err != nil {
			return err
		}
		at, err := c.lib.Backup(max(cur.Backups, 1))
		if err == nil {
			c.say("Written: %s", at)
		}
		return err
	})
}

func (d Deps) rollback() *cobra.Command {
	var list, yes bool
	var id, entry string
	cmd := d.verb("rollback", "Bring the files of a backup back; what was made since stays", cobra.NoArgs, func(ctx context.Context, c *call) error {
		if list {
			all, err := c.lib.Backups()
			for _, name := range all {
				c.say("%s", name)
			}
			if err == nil && len(all) == 0 {
				c.say("There are no backups.")
			}
			return err
		}
		if entry != "" {
			return d.takeBack(ctx, c, entry, yes)
		}
		if err := d.agreed(c, yes, "Write the files of the backup over those of today?"); err != nil {
			return err
		}
		got, err := c.lib.Rollback(ctx, id)
		if err == nil {
			c.say("The files of %s are back.", got)
		}
		return err
	})
	cmd.Flags().BoolVar(&list, "list", false, "list the backups")
	cmd.Flags().StringVar(&id, "id", "", "this backup instead of the newest")
	cmd.Flags().StringVar(&entry, "entry", "", "take this one change of the ledger back instead")
	cmd.MarkFlagsMutuallyExclusive("list", "id", "entry")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (d Deps) paused(use, short string, on bool) *cobra.Command {
	return d.verb(use, short, cobra.NoArgs, func(ctx context.Context, c *call) error {
		if err := c.lib.PauseCurator(ctx, on); err != nil {
			return err
		}
		c.say("The curator is %s.", map[bool]string{true: "paused", false: "at work"}[on])
		return nil
	})
}
