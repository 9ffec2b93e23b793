package learning

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
	"hermes/internal/markup"
)

func (n noun) list() *cobra.Command {
	var q hermes.LearningQuery
	var all, asJSON bool
	cmd := n.verb("list", "List fixes, most recent error first", "hermes learning list --tool terminal", cobra.NoArgs, func(ctx context.Context, c *call) error {
		q.Known = !all
		return c.found(ctx, q, asJSON)
	})
	f := cmd.Flags()
	f.StringVar(&q.Tool, "tool", "", "show only errors of this tool")
	f.StringVar(&q.Tag, "tag", "", "show only learnings with this tag")
	f.IntVarP(&q.Limit, "limit", "n", 50, "maximum number of learnings; -1 shows all")
	f.BoolVarP(&all, "all", "a", false, "include errors without a known fix")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (n noun) search() *cobra.Command {
	q := hermes.LearningQuery{}
	var asJSON bool
	cmd := n.verb("search WORDS…", "Search learnings that contain all words", "hermes learning search pip environment", cobra.MinimumNArgs(1), func(ctx context.Context, c *call) error {
		q.Text = strings.Join(c.args, " ")
		return c.found(ctx, q, asJSON)
	})
	cmd.Flags().StringVar(&q.Tool, "tool", "", "show only errors of this tool")
	cmd.Flags().IntVarP(&q.Limit, "limit", "n", 50, "maximum number of learnings; -1 shows all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *call) found(ctx context.Context, q hermes.LearningQuery, asJSON bool) error {
	list, err := c.Find(ctx, q)
	if err != nil {
		return err
	}
	if asJSON {
		return c.json(list)
	}
	for _, l := range list {
		fix := l.Fix
		if fix == "" {
			fix = "(no known fix)"
		}
		c.say("%4d  %s\n      %s: %s\n      %s", l.ID, markup.Visible(l.Pattern), orElse(l.Tool, "any tool"), strings.ReplaceAll(markup.Visible(fix), "\n", "\n      "), tally(l))
	}
	if len(list) == 0 {
		c.say("No learnings found.")
	}
	return nil
}

func (c *call) json(list []hermes.Learning) error {
	views := []view{}
	for _, l := range list {
		views = append(views, viewOf(l))
	}
	return factory.WriteJSON(c.out, views)
}

func (n noun) show() *cobra.Command {
	var asJSON bool
	cmd := n.verb("show ID…", "Show learnings in full", "hermes learning show 3", cobra.MinimumNArgs(1), func(ctx context.Context, c *call) error {
		ids, err := c.ids()
		if err != nil {
			return err
		}
		list, err := c.Get(ctx, ids...)
		if err != nil {
			return err
		}
		if asJSON {
			return c.json(list)
		}
		for _, l := range list {
			c.details(l)
		}
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *call) details(l hermes.Learning) {
	const when = "2006-01-02 15:04"
	for _, line := range [][2]string{
		{"learning", itoa(int(l.ID))}, {"tool", l.Tool}, {"kind", l.Class}, {"error", l.Pattern}, {"fix", orElse(l.Fix, "(no known fix)")},
		{"context", l.Context}, {"tags", strings.Join(l.Tags, ", ")}, {"session", l.Session}, {"after reading", l.Provenance},
		{"first", l.Created.Local().Format(when)}, {"last", l.Touched.Local().Format(when)}, {"counts", tally(l)},
	} {
		if line[1] != "" {
			c.say("%-9s %s", line[0], strings.ReplaceAll(markup.Visible(line[1]), "\n", "\n          "))
		}
	}
}
