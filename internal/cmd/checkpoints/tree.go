package checkpoints

import (
	"context"
	"fmt"
	"time"

	"hermes"
	"hermes/internal/checkpoint"
	"hermes/internal/cmd/factory"
	"hermes/internal/text"
)

// showTree prints which checkpoint of a folder follows which, with the message that each answers.
// The next one follows that with the mark: after a restore, the restored one.
func (n noun) showTree(ctx context.Context, c *factory.Call, w checkpoint.Workspace) error {
	head(c, w)
	said := map[string]map[int64]string{}
	table := factory.Table{Fit: n.Width()}
	for _, s := range w.Tree() {
		mark := ""
		if s.ID == w.Head {
			mark = " *"
		}
		asked := ""
		if at := s.Position().Message; at != 0 {
			if said[s.Session] == nil {
				said[s.Session] = n.said(ctx, s.Session)
			}
			asked = n.Shown(said[s.Session][at])
		}
		about := s.Reason
		if s.Name != "" {
			about = s.Name
		}
		table.Row(fmt.Sprintf("%s%d%s", s.Lines, s.Number, mark), s.Time.In(n.Now().Location()).Format(time.DateTime), s.Session, text.OneLine(text.Visible(asked), 40), text.OneLine(text.Visible(about), 200))
	}
	return table.Print(c.Out)
}

// said returns the user's messages of a session by id, also those that were undone. Without the
// session there are none.
func (n noun) said(ctx context.Context, session string) map[int64]string {
	out := map[int64]string{}
	db, err := n.Reader(ctx)
	if err != nil {
		return out
	}
	list, err := db.Messages(ctx, session, hermes.Range{Hidden: true})
	if err != nil {
		return out
	}
	for _, m := range list {
		if m.Role == hermes.RoleUser {
			out[m.ID] = m.Visible()
		}
	}
	return out
}
