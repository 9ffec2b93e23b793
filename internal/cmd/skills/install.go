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
	"hermes/internal/mcp/known"
	"hermes/internal/skill"
	"hermes/internal/skill/guard"
	"hermes/internal/text"
)

func (n noun) install() *cobra.Command {
	var o skill.InstallOptions
	var yes bool
	cmd := n.verb("install IDENTIFIER", "Scan and install a skill from a registry", "hermes skills install anthropics/skills/pdf", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		p, err := n.fetch(ctx, c.Args[0])
		if err != nil {
			return err
		}
		c.printRights(skill.RightsOf(p.Files))
		if p.Trust == guard.Community {
			if err := n.confirm(c, yes, fmt.Sprintf("Install %s? Anyone can publish there. It is scanned first.", p.Identifier)); err != nil {
				return err
			}
		}
		r, err := c.lib.Install(ctx, p, o)
		if err != nil {
			if _, ok := errors.AsType[*skill.RefusedError](err); ok { // show why
				c.printReport(r.Report)
			}
			return err
		}
		c.printInstall(r)
		return n.offerServers(ctx, c, skill.RightsOf(p.Files).Servers)
	})
	cmd.Flags().BoolVar(&o.Force, "force", false, "install a skill rated caution (never a dangerous one), and overwrite local changes")
	cmd.Flags().StringVar(&o.Name, "name", "", "install under this name")
	cmd.Flags().StringVar(&o.Category, "category", "", "category to install into")
	cmd.Flags().BoolVar(&o.Accept, "accept-rights", false, "accept a new version that uses more tools, hosts, files or variables")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}

// offerServers offers to add the MCP servers that a skill uses and that are not in the settings.
// A server runs programs or sends data elsewhere, so --yes does not add it.
func (n noun) offerServers(ctx context.Context, c *call, names []string) error {
	cfg, err := n.Config()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, there := cfg.MCPServers()[name]; there {
			continue
		}
		s, ok := known.Find(name)
		if !ok {
			c.say("It uses the MCP server %s, which is not in the settings: see its documentation, then use `hermes mcp add`.", text.VisibleName(name))
			continue
		}
		if len(s.Keys)+len(s.Inputs) > 0 || !n.Terminal() {
			c.say("It uses the MCP server %s (%s): add it with `hermes mcp install %s`.", s.Name, s.About, s.Name)
			continue
		}
		if err := n.Confirm(c.In, c.Out, fmt.Sprintf("It uses the MCP server %s (%s, %s). Add it?", s.Name, s.About, s.Home)); err != nil {
			c.say("Not added; `hermes mcp install %s` does it later.", s.Name)
			continue
		}
		if _, err := cfg.Put(ctx, "mcp_servers."+s.Name, s.Settings); err != nil {
			return err
		}
		c.say("Added %s. Its tools are approved when it is connected first.", s.Name)
	}
	return nil
}

func (c *call) printInstall(r skill.InstallReport) {
	switch {
	case r.Same:
		c.say("%s is up to date.", r.Name)
	case r.Updated:
		c.say("Updated %s (scan: %s).", r.Name, r.Report.Verdict())
	default:
		c.say("Installed %s in %s (scan: %s). New sessions can use it; /%s loads it.", r.Name, r.Folder, r.Report.Verdict(), r.Name)
	}
	if r.Report.Verdict() != guard.Safe {
		c.printReport(r.Report)
	}
}

// installed returns the names given on the command line, or all. It says so if there are
// none.
func (c *call) installed() (skill.Lock, []string, error) {
	lock, err := c.lib.Installed()
	if err != nil {
		return lock, nil, err
	}
	for _, name := range c.Args {
		if _, ok := lock.Skills[name]; !ok {
			return lock, nil, fmt.Errorf("the skill %q was not installed from a registry; list those that were with `hermes skills list --source hub`: %w", name, hermes.ErrNotFound)
		}
	}
	if len(c.Args) > 0 {
		return lock, c.Args, nil
	}
	if len(lock.Skills) == 0 {
		c.say("No skills are installed from registries.")
	}
	return lock, slices.Sorted(maps.Keys(lock.Skills)), nil
}

func (n noun) check() *cobra.Command {
	return n.verb("check [NAME…]", "Check installed skills for updates and local changes", "hermes skills check", cobra.ArbitraryArgs, func(ctx context.Context, c *call) error {
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
			p, err := n.fetch(ctx, rec.Identifier)
			if err == nil {
				p, err = p.Named(name)
			}
			switch {
			case err != nil:
				news = "could not be checked: " + err.Error()
			case p.Hash() != rec.Hash:
				news = "update available"
				if wider := skill.RightsOf(p.Files).Wider(rec.Rights); len(wider) > 0 {
					news += ", asks for more: " + strings.Join(wider, ", ")
				}
			}
			c.say("%-24s %-12s %s", name, state, news)
		}
		return nil
	})
}

func (n noun) update() *cobra.Command {
	var o skill.InstallOptions
	var diff bool
	cmd := n.verb("update [NAME…]", "Update installed skills", "hermes skills update --diff", cobra.ArbitraryArgs, func(ctx context.Context, c *call) error {
		lock, names, err := c.installed()
		if err != nil {
			return err
		}
		var faults []error
		for _, name := range names {
			o.Name = name
			faults = append(faults, n.renew(ctx, c, lock.Skills[name], o, diff))
		}
		return errors.Join(faults...)
	})
	cmd.Flags().BoolVar(&o.Force, "force", false, "overwrite local changes; the old files go to the archive")
	cmd.Flags().BoolVar(&o.Accept, "accept-rights", false, "accept new versions that use more tools, hosts, files or variables")
	cmd.Flags().BoolVar(&diff, "diff", false, "show what would change, and change nothing")
	return cmd
}

// renew installs the present version of a skill, or only shows what it changes.
func (n noun) renew(ctx context.Context, c *call, rec skill.Installed, o skill.InstallOptions, diff bool) error {
	p, err := n.fetch(ctx, rec.Identifier)
	if err != nil {
		return err
	}
	p.Trust = rec.Trust
	if err := c.printUpdate(ctx, o.Name, p, rec, diff); err != nil || diff {
		return err
	}
	return c.put(ctx, p, o)
}

// put installs a package and says so.
func (c *call) put(ctx context.Context, p skill.Package, o skill.InstallOptions) error {
	r, err := c.lib.Install(ctx, p, o)
	if err == nil {
		c.printInstall(r)
	}
	return err
}

func (n noun) audit() *cobra.Command {
	return n.verb("audit", "Scan the installed skills again", "hermes skills audit", cobra.NoArgs, func(ctx context.Context, c *call) error {
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
		c.say("Scanned %s.", text.Plural(len(all), "installed skill", "installed skills"))
		if bad > 0 {
			return fmt.Errorf("dangerous skills: %d; remove them with `hermes skills uninstall NAME`", bad)
		}
		return nil
	})
}

func (n noun) uninstall() *cobra.Command {
	return n.simple("uninstall NAME", "Uninstall a skill", "hermes skills uninstall pdf", cobra.ExactArgs(1), func(ctx context.Context, c *call) (string, error) {
		if _, _, err := c.installed(); err != nil {
			return "", err
		}
		out, err := c.lib.Remove(ctx, hermes.SkillRemoval{Name: c.Args[0]})
		return fmt.Sprintf("Uninstalled %s. The files are archived in %s.", c.Args[0], out.Path), err
	})
}
