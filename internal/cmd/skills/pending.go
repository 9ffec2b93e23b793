package skills

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/markup"
	"hermes/internal/skill"
)

// pending makes the verbs for changes that wait for approval.
func (n noun) pending() factory.Pending[*skill.Library] {
	return factory.Pending[*skill.Library]{
		Noun: "skills", What: "changes", Whose: " by the agent", Do: "Apply", ID: "k3f9ab",
		Open: n.Open,
		List: func(lib *skill.Library) (lines []string, err error) {
			list, err := lib.Proposals()
			for _, p := range list {
				text := []string{fmt.Sprintf("%s  %s  %s", p.ID, p.At.Local().Format("2006-01-02 15:04"), p.What())}
				if why := p.Why(); why != "" {
					text = append(text, "    "+why)
				}
				if o := p.Provenance(); o != "" {
					text = append(text, "    proposed after reading "+o)
				}
				lines = append(lines, markup.Visible(strings.Join(text, "\n")))
			}
			return lines, err
		},
		Approve: func(ctx context.Context, c *factory.Call, lib *skill.Library, id string) error {
			out, err := lib.Approve(ctx, id)
			if err == nil {
				c.Say("Approved %s: %s", id, markup.Visible(out.Path))
			}
			return err
		},
	}
}

func (n noun) diff() *cobra.Command {
	return n.verb("diff ID", "Show a pending change as a diff", "hermes skills diff k3f9ab", cobra.ExactArgs(1), func(_ context.Context, c *call) error {
		diff, err := c.lib.Diff(c.Args[0])
		if err == nil {
			fmt.Fprint(c.Out, diff)
		}
		return err
	})
}
