package skills

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/skill"
	"hermes/internal/skill/guard"
)

func (d Deps) install() *cobra.Command {
	var o skill.InstallOptions
	var yes bool
	cmd := d.verb("install IDENTIFIER", "Install a skill: fetched into quarantine, scanned, then put into its place", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		p, err := d.fetch(ctx, c.args[0])
		if err != nil {
			return err
		}
		c.tellRights(skill.RightsOf(p.Files))
		if p.Trust == guard.Community {
			if err := d.agreed(c, yes, fmt.Sprintf("Install %s? Anybody can publish there; it is scanned first.", p.Identifier)); err != nil {
				return err
			}
		}
		r, err := c.lib.Install(ctx, p, o)
		if err != nil {
			return d.refused(c, r, err)
		}
		c.tellInstall(r)
		return nil
	})
	cmd.Flags().BoolVar(&o.Force, "force", false, "install what is of caution, and over local changes; never what is dangerous")
	cmd.Flags().StringVar(&o.Name, "name", "", "call it this")
	cmd.Flags().StringVar(&o.Category, "category", "", "put it into this category")
	cmd.Flags().BoolVar(&o.Accept, "accept-rights", false, "agree to what a new version asks for beyond the old one")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// refused shows the findings behind a refusal.
func (d Deps) refused(c *call, r skill.InstallReport, err error) error {
	if _, ok := errors.AsType[*skill.RefusedError](err); ok {
		c.tellReport(r.Report)
	}
	return err
}

func (c *call) tellInstall(r skill.InstallReport) {
	switch {
	case r.Same:
		c.say("%s is up to date.", r.Name)
	case r.Updated:
		c.say("%s is updated (scan: %s).", r.Name, r.Report.Verdict())
	default:
		c.say("%s is installed in %s (scan: %s). Sessions that begin now know it; /%s calls it.", r.Name, r.Folder, r.Report.Verdict(), r.Name)
	}
	if r.Report.Verdict() != guard.Safe {
		c.tellReport(r.Report)
	}
}

// installed gives the names that are meant: those given, or all.
func (c *call) installed() (skill.Lock, []string, error) {
	lock, err := c.lib.Installed()
	if err != nil {
		return lock, nil, err
	}
	for _, name := range c.args {
		if _, ok := lock.Skills[name]; !ok {
			return lock, nil, fmt.Errorf("the skill %q was not installed from anywhere; `hermes skills list --source hub` shows those that were: %w", name, hermes.ErrNotFound)
		}
	}
	if len(c.args) > 0 {
		return lock, c.args, nil
	}
	return lock, slices.Sorted(maps.Keys(lock.Skills)), nil
}

func (d Deps) check() *cobra.Command {
	return d.verb("check [NAME…]", "See which installed skills have a new version or were changed here", cobra.ArbitraryArgs, func(ctx context.Context, c *call) error {
		lock, names, err := c.installed()
		if err != nil {
			return err
		}
		for _, name := range names {
			rec := lock.Skills[name]
			state, err := c.lib.StateOf(name, rec)
			if err != nil {
				return err
			}
			news := "up to date"
			p, err := d.fetch(ctx, rec.Identifier)
			if err == nil {
				p, err = p.Named(name)
			}
			switch {
			case err != nil:
				news = "could not be asked for: " + err.Error()
			case p.Hash() != rec.Hash:
				news = "a new version"
				if wider := skill.RightsOf(p.Files).Wider(rec.Rights); len(wider) > 0 {
					news += ", which asks for more: " + strings.Join(wider, ", ")
				}
			}
			c.say("%-24s %-12s %s", name, state, news)
		}
		if len(names) == 0 {
			c.say("Nothing is installed from elsewhere.")
		}
		return nil
	})
}

func (d Deps) update() *cobra.Command {
	var o skill.InstallOptions
	var diff bool
	cmd := d.verb("update [NAME…]", "Bring installed skills to their newest version", cobra.ArbitraryArgs, func(ctx context.Context, c *call) error {
		lock, names, err := c.installed()
		if err != nil {
			return err
		}
		var faults []error
		for _, name := range names {
			p, err := d.fetch(ctx, lock.Skills[name].Identifier)
			if err != nil {
				faults = append(faults, err)
				continue
			}
			o.Name = name
			p.Trust = lock.Skills[name].Trust
			if err := c.tellNews(ctx, name, p, lock.Skills[name], diff); err != nil {
				faults = append(faults, err)
				continue
			}
			if diff {
				continue
			}
			r, err := c.lib.Install(ctx, p, o)
			if err != nil {
				faults = append(faults, err)
				continue
			}
			c.tellInstall(r)
		}
		if len(names) == 0 {
			c.say("Nothing is installed from elsewhere.")
		}
		return errors.Join(faults...)
	})
	cmd.Flags().BoolVar(&o.Force, "force", false, "also over changes made here, which go to the archive")
	cmd.Flags().BoolVar(&o.Accept, "accept-rights", false, "agree to what new versions ask for beyond the old ones")
	cmd.Flags().BoolVar(&diff, "diff", false, "only show what would change")
	return cmd
}

func (d Deps) audit() *cobra.Command {
	return d.verb("audit", "Scan what is installed again, and compare it with what was installed", cobra.NoArgs, func(ctx context.Context, c *call) error {
		all, err := c.lib.Audit(ctx)
		if err != nil {
			return err
		}
		bad := 0
		for _, a := range all {
			c.say("%-24s %-10s %-12s %s", a.Name, a.Report.Verdict(), a.State, a.Record.Identifier)
			for _, line := range a.Report.Serious() {
				c.say("    %s", line)
			}
			if a.Report.Verdict() == guard.Dangerous {
				bad++
			}
		}
		if len(all) == 1 {
			c.say("One installed skill was looked at.")
		} else {
			c.say("%d installed skills were looked at.", len(all))
		}
		if bad > 0 {
			return fmt.Errorf("%d of them look dangerous; remove them with: hermes skills uninstall NAME", bad)
		}
		return nil
	})
}

func (d Deps) uninstall() *cobra.Command {
	return d.verb("uninstall NAME", "Take an installed skill away", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		if _, _, err := c.installed(); err != nil {
			return err
		}
		out, err := c.lib.Remove(ctx, hermes.SkillRemoval{Name: c.args[0]})
		if err != nil {
			return err
		}
		c.say("%s is taken away; it lies in %s.", c.args[0], out.Path)
		return nil
	})
}
