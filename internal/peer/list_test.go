package peer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"hermes"
	"hermes/internal/peer"
	"hermes/internal/protocol"
)

// crowd is a home with 500 sessions of others, and after these four of Ann.
type crowd struct{ protocol.Client }

func (crowd) Sessions(_ context.Context, f protocol.Filter) (list []protocol.SessionInfo, err error) {
	for i := f.Offset; i < min(f.Offset+f.Limit, 504); i++ {
		info := protocol.SessionInfo{ID: fmt.Sprint("bob", i), User: "bob"}
		if i >= 500 {
			info = protocol.SessionInfo{ID: fmt.Sprint("ann", i), User: "ann"}
		}
		list = append(list, info)
	}
	return list, nil
}

func (crowd) FindSession(_ context.Context, id string) (hermes.Session, error) {
	if id == "ann501" {
		return hermes.Session{}, errors.New("the row is damaged")
	}
	return hermes.Session{ID: id}, nil
}

func (crowd) Messages(context.Context, string, hermes.Range) ([]hermes.Message, error) {
	return nil, errors.New("not read")
}

// TestTheListReachesPastOthers and leaves out what is damaged.
func TestTheListReachesPastOthers(t *testing.T) {
	t.Parallel()
	p := peer.New(peer.Config{Client: crowd{}, Store: crowd{}})
	defer p.Close()
	for limit, want := range map[int]int{20: 2, 1: 1} {
		list, err := p.List(t.Context(), "ann", limit, func(s hermes.Session) bool { return s.ID != "ann502" })
		if err != nil || len(list) != want || list[0].Row.ID != "ann500" || list[0].State != "stored" {
			t.Errorf("at most %d: %+v, %v", limit, list, err)
		}
	}
}
