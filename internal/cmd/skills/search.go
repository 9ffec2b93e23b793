package skills

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/skill"
	"hermes/internal/skill/guard"
	"hermes/internal/text"
)

func (n noun) searching(use, short, example string, args cobra.PositionalArgs) *cobra.Command {
	var source string
	var limit int
	cmd := n.verb(use, short, example, args, func(ctx context.Context, c *call) error {
		h, err := n.Hub()
		if err != nil {
			return err
		}
		list, err := h.Search(ctx, strings.Join(c.Args, " "), source, limit)
		if len(list) == 0 && err != nil {
			return err
		}
		for _, l := range list {
			c.say("%-24s %-9s %s\n    %s", l.Name, l.Trust, skill.Short(l.Description), l.Identifier)
		}
		if err != nil {
			c.say("Some registries did not answer: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
		if len(list) == 0 {
			c.say("No skills found.")
			return nil
		}
		c.say("Show one with `hermes skills inspect IDENTIFIER`, install it with `hermes skills install IDENTIFIER`.")
		return nil
	})
	cmd.Flags().StringVar(&source, "source", "", "search only this `registry`: github, clawhub, skills-sh, lobehub, claude-marketplace or well-known")
	cmd.Flags().IntVar(&limit, "limit", 20, "maximum number of results from each registry")
	return cmd
}

// inspectRemote shows a skill of a registry without installing it.
func (n noun) inspectRemote(ctx context.Context, c *call) error {
	p, err := n.fetch(ctx, c.Args[0])
	if err != nil {
		return err
	}
	for _, f := range p.Files {
		if f.Path == "SKILL.md" {
			c.say("%s\n", strings.TrimSpace(string(f.Data)))
		}
	}
	c.say("From %s (trust: %s), %s:", p.Identifier, p.Trust, text.Plural(len(p.Files), "file", "files"))
	for _, f := range p.Files {
		c.say("  %s (%d bytes)", f.Path, len(f.Data))
	}
	c.printRights(skill.RightsOf(p.Files))
	c.printReport(skill.Scan(p.Files))
	return nil
}

// printReport prints what the scan found.
func (c *call) printReport(r guard.Report) {
	c.say("Scan: %s", r.Verdict())
	for i, f := range r.Findings {
		if i == 20 {
			c.say("  … and %d more", len(r.Findings)-i)
			return
		}
		c.say("  %s", f)
		if f.Excerpt != "" {
			c.say("      %s", f.Excerpt)
		}
	}
}

// fetch gets a skill from a registry, for the library.
func (n noun) fetch(ctx context.Context, identifier string) (skill.Package, error) {
	h, err := n.Hub()
	if err != nil {
		return skill.Package{}, err
	}
	if rest, ok := strings.CutPrefix(identifier, "official/"); ok {
		return skill.Package{}, fmt.Errorf("%s is built in; show it with: hermes skills inspect %s", identifier, rest[strings.LastIndex(rest, "/")+1:])
	}
	p, err := h.Fetch(ctx, identifier)
	return skill.Package(p), err
}
