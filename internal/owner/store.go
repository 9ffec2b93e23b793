package owner

import (
	"context"
	"time"

	"hermes"
	"hermes/internal/localsocket"
)

// leasing is a store whose leases of this process say where it listens.
type leasing struct {
	hermes.Store
	owner *Owner
}

// Leasing returns a store that gives each lease of this process its address, which begins to
// listen with the first one. The socket of an owner that it takes a session over from is
// removed.
func (o *Owner) Leasing(s hermes.Store) hermes.Store { return leasing{s, o} }

// Acquire gives a session to an owner.
func (s leasing) Acquire(ctx context.Context, session string, owner hermes.Owner, ttl time.Duration) (hermes.Lease, error) {
	if owner.Name == s.owner.cfg.Name {
		owner.Address = s.owner.Address()
	}
	l, err := s.Store.Acquire(ctx, session, owner, ttl)
	if err == nil {
		s.owner.removeLeft(ctx, l.Replaced)
	}
	return l, err
}

// removeLeft removes the socket of an owner that ended without doing so.
func (o *Owner) removeLeft(ctx context.Context, old hermes.Owner) {
	if old.Address == "" || old.Address != address(o.cfg.Folder, old.Name) {
		return
	}
	if err := localsocket.RemoveStale(ctx, old.Address); err != nil {
		o.cfg.Log.Warn("remove the socket of a process that has ended", "address", old.Address, "error", err)
	}
}
