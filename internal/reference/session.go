package reference

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes"
)

// Sessions is the part of the store that @session reads.
type Sessions interface {
	FindSession(ctx context.Context, ref string) (hermes.Session, error)
	Messages(ctx context.Context, session string, r hermes.Range) ([]hermes.Message, error)
}

// session returns the messages of an earlier session, without tool results.
func (s Sources) session(ctx context.Context, ref string) (string, error) {
	store, err := s.Store(ctx)
	if err != nil {
		return "", err
	}
	row, err := store.FindSession(ctx, ref)
	if errors.Is(err, hermes.ErrNotFound) {
		return "", errors.New("there is no such session")
	} else if err != nil {
		return "", err
	}
	list, err := store.Messages(ctx, row.ID, hermes.Range{})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, m := range list {
		if text := m.Visible(); text != "" && m.Role != hermes.RoleTool {
			fmt.Fprintf(&b, "%s: %s\n", m.Role, text)
		}
	}
	return b.String(), nil
}
