package skills

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/policy"
	"hermes/internal/skill"
	"hermes/internal/skill/guard"
	"hermes/internal/skill/hub"
)

func (d Deps) search() *cobra.Command {
	cmd := d.searching("search QUERY", "Search public places for skills", cobra.MinimumNArgs(1))
	return cmd
}

func (d Deps) browse() *cobra.Command {
	return d.searching("browse [QUERY]", "See what public places have", cobra.ArbitraryArgs)
}

func (d Deps) searching(use, short string, args cobra.PositionalArgs) *cobra.Command {
	var source string
	var limit int
	cmd := d.verb(use, short, args, func(ctx context.Context, c *call) error {
		h, err := d.Hub()
		if err != nil {
			return err
		}
		list, err := h.Search(ctx, strings.Join(c.args, " "), source, limit)
		if len(list) == 0 && err != nil {
			return err
		}
		for _, l := range list {
			c.say("%-24s %-9s %s\n    %s", l.Name, l.Trust, skill.Short(l.Description), l.Identifier)
		}
		if err != nil {
			c.say("Some places did not answer: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
		if len(list) == 0 {
			c.say("Nothing was found.")
			return nil
		}
		c.say("Look at one with `hermes skills inspect IDENTIFIER`, install it with `hermes skills install IDENTIFIER`.")
		return nil
	})
	cmd.Flags().StringVar(&source, "source", "", "only this place: github, clawhub, skills-sh, lobehub, claude-marketplace, well-known")
	cmd.Flags().IntVar(&limit, "limit", 20, "at most so many from each place")
	return cmd
}

// inspectRemote shows a skill of a public place without installing it.
func (d Deps) inspectRemote(ctx context.Context, c *call) error {
	p, err := d.fetch(ctx, c.args[0])
	if err != nil {
		return err
	}
	for _, f := range p.Files {
		if f.Path == "SKILL.md" {
			c.say("%s\n", strings.TrimSpace(string(f.Data)))
		}
	}
	c.say("From %s (%s source), %d files:", p.Identifier, p.Trust, len(p.Files))
	for _, f := range p.Files {
		c.say("  %s (%d bytes)", f.Path, len(f.Data))
	}
	if rights := skill.RightsOf(p.Files).Lines(); len(rights) > 0 {
		c.say("It names: %s", strings.Join(rights, ", "))
	}
	c.tellReport(guard.Scan(p.Files, guard.Options{Injection: policy.Injection}))
	return nil
}

// tellReport tells what the scan found.
func (c *call) tellReport(r guard.Report) {
	c.say("The scan says: %s", r.Verdict())
	for i, f := range r.Findings {
		if i == 20 {
			c.say("  and %d more", len(r.Findings)-i)
			return
		}
		c.say("  %s", f)
		if f.Excerpt != "" {
			c.say("      %s", f.Excerpt)
		}
	}
}

// printable keeps text of strangers from steering the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x2069 {
			return '·'
		}
		return r
	}, s)
}

// fetch gets a skill from a public place, for the library.
func (d Deps) fetch(ctx context.Context, identifier string) (skill.Package, error) {
	h, err := d.Hub()
	if err != nil {
		return skill.Package{}, err
	}
	if rest, ok := strings.CutPrefix(identifier, "official/"); ok {
		return skill.Package{}, fmt.Errorf("%s is part of the program: hermes skills inspect %s", identifier, rest[strings.LastIndex(rest, "/")+1:])
	}
	p, err := h.Fetch(ctx, identifier)
	return fromHub(p), err
}

func fromHub(p hub.Package) skill.Package {
	return skill.Package{Source: p.Source, Identifier: p.Identifier, Version: p.Version, Trust: p.Trust, Files: p.Files}
}
