package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"hermes/internal/skill"
	"hermes/internal/skill/guard"
	"hermes/internal/skill/hub"
	"hermes/internal/text"
)

func (n noun) tap() *cobra.Command {
	cmd := &cobra.Command{Use: "tap", Short: "Manage the repositories that are searched for skills", Example: "  hermes skills tap add octo/skills"}
	cmd.AddCommand(
		n.verb("list", "List the repositories", "hermes skills tap list", cobra.NoArgs, func(_ context.Context, c *call) error {
			lock, err := c.lib.Installed()
			if err != nil {
				return err
			}
			for _, t := range hub.DefaultTaps() {
				c.say("%s (always)", t)
			}
			for _, t := range lock.Taps {
				c.say("%s", t)
			}
			return nil
		}),
		n.tapping("add OWNER/REPO", "Add a repository", "hermes skills tap add octo/skills", "Added %s. It is searched from now on.", true),
		n.tapping("remove OWNER/REPO", "Remove a repository", "hermes skills tap remove octo/skills", "Removed %s. It is no longer searched.", false),
	)
	return cmd
}

func (n noun) tapping(use, short, example, done string, on bool) *cobra.Command {
	return n.simple(use, short, example, cobra.ExactArgs(1), func(ctx context.Context, c *call) (string, error) {
		source, repo := hub.Resolve(c.Args[0])
		if source != "github" {
			return "", fmt.Errorf("%q is not a GitHub repository; use OWNER/REPO", c.Args[0])
		}
		return fmt.Sprintf(done, repo), c.lib.Tap(ctx, repo, on)
	})
}

func (n noun) snapshot() *cobra.Command {
	cmd := &cobra.Command{Use: "snapshot", Short: "Export the list of installed skills, and install it on another machine", Example: "  hermes skills snapshot export skills.json"}
	cmd.AddCommand(
		n.verb("export [FILE]", "Export the list of installed skills", "hermes skills snapshot export skills.json", cobra.MaximumNArgs(1), func(_ context.Context, c *call) error {
			lock, err := c.lib.Installed()
			if err != nil {
				return err
			}
			raw, err := json.MarshalIndent(lock.Snapshot(), "", "  ")
			if err != nil {
				return err
			}
			toFile, err := c.Export(c.Arg(0), append(raw, '\n'))
			if err == nil && toFile {
				c.say("Exported %s to %s.", text.Plural(len(lock.Skills), "skill", "skills"), c.Args[0])
			}
			return err
		}),
		n.importCmd(),
	)
	return cmd
}

func (n noun) importCmd() *cobra.Command {
	var force bool
	cmd := n.verb("import FILE", "Install the skills of a snapshot", "hermes skills snapshot import skills.json", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		raw, err := os.ReadFile(c.Args[0])
		if err != nil {
			return err
		}
		s, err := skill.ParseSnapshot(c.Args[0], raw)
		if err != nil {
			return err
		}
		var faults []error
		for _, t := range s.Taps {
			faults = append(faults, c.lib.Tap(ctx, t, true))
		}
		for _, k := range s.Skills {
			faults = append(faults, n.again(ctx, c, k, force))
		}
		return errors.Join(faults...)
	})
	cmd.Flags().BoolVar(&force, "force", false, "install skills rated caution too, but never dangerous ones")
	return cmd
}

// again installs a skill of a snapshot.
func (n noun) again(ctx context.Context, c *call, k skill.Identified, force bool) error {
	p, err := n.fetch(ctx, k.Identifier)
	if err == nil {
		p, err = p.Named(k.Name)
	}
	if err != nil {
		return err
	}
	if p.Hash() != k.Hash {
		c.say("%s has changed since the snapshot. The new version is scanned.", k.Name)
	}
	return c.put(ctx, p, skill.InstallOptions{Name: k.Name, Force: force})
}

func (n noun) publish() *cobra.Command {
	var repo string
	var yes bool
	cmd := n.verb("publish NAME --repo OWNER/REPO", "Publish a skill as a pull request", "hermes skills publish release-notes --repo octo/skills", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		if repo == "" {
			return errors.New("no repository given; use --repo OWNER/REPO")
		}
		t, err := c.lib.View(ctx, c.Args[0], "")
		if err != nil {
			return err
		}
		if t.Folder == "" {
			return fmt.Errorf("%q is a bundled skill; only your own can be published", c.Args[0])
		}
		files, err := guard.Read(t.Folder)
		if err != nil {
			return err
		}
		r := skill.Scan(files)
		if r.Verdict() != guard.Safe {
			c.printReport(r)
			return errors.New("not published: the scan does not rate it safe; fix the findings first")
		}
		for _, f := range files {
			c.say("  %s (%d bytes)", f.Path, len(f.Data))
		}
		if err := n.confirm(c, yes, fmt.Sprintf("Publish these files of %s to %s, where everyone can see them?", t.Skill.Name, repo)); err != nil {
			return err
		}
		h, err := n.Hub()
		if err != nil {
			return err
		}
		at, err := h.Publish(ctx, repo, t.Skill.Name, files)
		if err != nil {
			return err
		}
		c.say("Opened pull request %s", at)
		return nil
	})
	cmd.Flags().StringVar(&repo, "repo", "", "`repository` to publish to, as OWNER/REPO")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}
