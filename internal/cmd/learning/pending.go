package learning

import (
	"context"
	"fmt"

	"hermes/internal/cmd/factory"
	learnings "hermes/internal/learning"
	"hermes/internal/markup"
)

// pending makes the verbs for learnings that wait for approval.
func (n noun) pending() factory.Pending[Store] {
	return factory.Pending[Store]{
		Noun: "learning", What: "learnings", Do: "Save", ID: "all",
		Open: func() (Store, error) { return n.store(), nil },
		List: func(s Store) (lines []string, err error) {
			list, err := s.Proposals()
			for _, p := range list {
				lines = append(lines, fmt.Sprintf("%s   %s, session %s\n%s", p.ID, p.At.Local().Format("2006-01-02 15:04"), orElse(markup.Visible(p.Learning.Session), "unknown"), markup.Visible(p.Describe())))
			}
			return lines, err
		},
		Approve: func(ctx context.Context, c *factory.Call, s Store, id string) error {
			saved, replaced, err := s.Approve(ctx, id)
			if err != nil {
				return err
			}
			c.Say("Approved %s as %d: %s", id, saved.ID, markup.Visible(learnings.Line(saved)))
			if replaced != "" {
				c.Say("This replaces the fix %q. Undo with: hermes undo", markup.Visible(replaced))
			}
			return nil
		},
	}
}
