package memory

import (
	"context"
	"fmt"

	"hermes/internal/cmd/factory"
	"hermes/internal/markup"
	"hermes/internal/memory"
)

// pending makes the verbs for changes that wait for approval.
func (n noun) pending() factory.Pending[*memory.File] {
	return factory.Pending[*memory.File]{
		Noun: "memory", What: "changes", Do: "Apply", ID: "all",
		Open: n.file,
		List: func(b *memory.File) (lines []string, err error) {
			list, err := b.Proposals()
			for _, p := range list {
				lines = append(lines, fmt.Sprintf("%s   %s, %s\n%s", p.ID, p.At.Local().Format("2006-01-02 15:04"), p.By, markup.Visible(p.Describe())))
			}
			return lines, err
		},
		Approve: func(ctx context.Context, c *factory.Call, b *memory.File, id string) error {
			s, err := b.Approve(ctx, id)
			if err == nil {
				c.Say("Approved %s. %s [%s]", id, s.Target, s.Usage())
			}
			return err
		},
	}
}
