package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"hermes/internal/policy"
	"hermes/internal/skill"
	"hermes/internal/skill/guard"
	"hermes/internal/skill/hub"
)

func (d Deps) tap() *cobra.Command {
	cmd := &cobra.Command{Use: "tap", Short: "Repositories that are searched for skills"}
	cmd.AddCommand(
		d.verb("list", "List them", cobra.NoArgs, func(_ context.Context, c *call) error {
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
		d.tapping("add OWNER/REPO", "Search this one too", true),
		d.tapping("remove OWNER/REPO", "Search it no more", false),
	)
	return cmd
}

func (d Deps) tapping(use, short string, on bool) *cobra.Command {
	return d.verb(use, short, cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		source, repo := hub.Resolve(c.args[0])
		if source != "github" {
			return fmt.Errorf("%q is no repository of GitHub; write owner/name", c.args[0])
		}
		if err := c.lib.Tap(ctx, repo, on); err != nil {
			return err
		}
		if on {
			c.say("%s is searched from now on.", repo)
		} else {
			c.say("%s is not searched any more.", repo)
		}
		return nil
	})
}

// snapshot is the file that carries what was installed to another machine.
type snapshot struct {
	Version int             `json:"version"`
	Skills  []snapshotSkill `json:"skills"`
	Taps    []string        `json:"taps,omitempty"`
}

type snapshotSkill struct {
	Name       string `json:"name"`
	Identifier string `json:"identifier"`
	Hash       string `json:"hash"`
}

func (d Deps) snapshot() *cobra.Command {
	cmd := &cobra.Command{Use: "snapshot", Short: "Carry the installed skills to another machine"}
	cmd.AddCommand(
		d.verb("export [FILE]", "Write what is installed; - is the standard output", cobra.MaximumNArgs(1), func(_ context.Context, c *call) error {
			lock, err := c.lib.Installed()
			if err != nil {
				return err
			}
			s := snapshot{Version: 1, Taps: lock.Taps}
			for _, name := range slices.Sorted(maps.Keys(lock.Skills)) {
				s.Skills = append(s.Skills, snapshotSkill{name, lock.Skills[name].Identifier, lock.Skills[name].Hash})
			}
			raw, err := json.MarshalIndent(s, "", "  ")
			if err != nil {
				return err
			}
			if len(c.args) == 0 || c.args[0] == "-" {
				c.say("%s", raw)
				return nil
			}
			if err := os.WriteFile(c.args[0], append(raw, '\n'), 0o600); err != nil {
				return err
			}
			c.say("%d skills are written to %s.", len(s.Skills), c.args[0])
			return nil
		}),
		d.importing(),
	)
	return cmd
}

func (d Deps) importing() *cobra.Command {
	var force bool
	cmd := d.verb("import FILE", "Install what another machine has", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		raw, err := os.ReadFile(c.args[0])
		if err != nil {
			return err
		}
		var s snapshot
		if err := json.Unmarshal(raw, &s); err != nil || s.Version != 1 {
			return fmt.Errorf("%s is no snapshot of skills (hermes skills snapshot export makes one)", c.args[0])
		}
		var faults []error
		for _, t := range s.Taps {
			faults = append(faults, c.lib.Tap(ctx, t, true))
		}
		for _, k := range s.Skills {
			p, err := d.fetch(ctx, k.Identifier)
			if err == nil {
				p, err = p.Named(k.Name)
			}
			if err != nil {
				faults = append(faults, err)
				continue
			}
			if p.Hash() != k.Hash {
				c.say("%s has changed since the snapshot; the scan decides on the new version.", k.Name)
			}
			r, err := c.lib.Install(ctx, p, skill.InstallOptions{Name: k.Name, Force: force})
			if err != nil {
				faults = append(faults, err)
				continue
			}
			c.tellInstall(r)
		}
		return errors.Join(faults...)
	})
	cmd.Flags().BoolVar(&force, "force", false, "also what is of caution; never what is dangerous")
	return cmd
}

func (d Deps) publish() *cobra.Command {
	var repo string
	var yes bool
	cmd := d.verb("publish NAME --repo OWNER/REPO", "Offer a skill to a repository, as a pull request", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		if repo == "" {
			return errors.New("say where to: --repo owner/name")
		}
		t, err := c.lib.View(ctx, c.args[0], "")
		if err != nil {
			return err
		}
		if t.Folder == "" {
			return fmt.Errorf("%q is a bundled skill; publish one of your own", c.args[0])
		}
		files, err := guard.Read(t.Folder)
		if err != nil {
			return err
		}
		r := guard.Scan(files, guard.Options{Injection: policy.Injection})
		if r.Verdict() != guard.Safe {
			c.tellReport(r)
			return errors.New("only what the scan calls safe is published; mend the findings first")
		}
		for _, f := range files {
			c.say("  %s (%d bytes)", f.Path, len(f.Data))
		}
		if err := d.agreed(c, yes, fmt.Sprintf("Publish these files of %s to %s, for everyone to see?", t.Skill.Name, repo)); err != nil {
			return err
		}
		h, err := d.Hub()
		if err != nil {
			return err
		}
		at, err := h.Publish(ctx, repo, t.Skill.Name, files)
		if err != nil {
			return err
		}
		c.say("Offered: %s", at)
		return nil
	})
	cmd.Flags().StringVar(&repo, "repo", "", "the repository")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}
