package sqlite

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hermes"
)

// Acquire leases the session to the owner, with a fence greater than all earlier ones.
func (s *Store) Acquire(ctx context.Context, session string, owner hermes.Owner, ttl time.Duration) (hermes.Lease, error) {
	lease := hermes.Lease{Session: session, Owner: owner.Name, Address: owner.Address}
	err := s.update(ctx, func(t *tx) error {
		now := s.cfg.Now()
		var key, fence, expires int64
		var holder hermes.Owner
		err := t.row(`SELECT s.key, coalesce(l.fence, 0), coalesce(l.owner, ''), coalesce(l.address, ''), coalesce(l.expires, 0)
			FROM sessions s LEFT JOIN leases l ON l.session = s.key WHERE s.id = ?`,
			[]any{session}, &key, &fence, &holder.Name, &holder.Address, &expires)
		if err != nil {
			return notFound(err, session)
		}
		other := fence > 0 && holder.Name != owner.Name
		if other && expires > nanos(now) && !s.cfg.ownerGone(holder.Name) {
			return fmt.Errorf("session %s: %w (%s, until %s)", session, hermes.ErrLeased, holder.Name,
				timeOf(expires).Local().Format(time.TimeOnly))
		}
		lease.Replaced = hermes.Owner{} // the transaction may run again
		if other && expires != 0 {
			lease.Replaced = holder
		}
		lease.Fence, lease.Expires = fence+1, now.Add(ttl)
		return t.exec(`INSERT OR REPLACE INTO leases (session, owner, address, fence, expires) VALUES (?, ?, ?, ?, ?)`,
			key, owner.Name, owner.Address, lease.Fence, nanos(lease.Expires))
	})
	if err != nil {
		return hermes.Lease{}, err
	}
	return lease, nil
}

func (c Config) ownerGone(owner string) bool { return c.OwnerGone != nil && c.OwnerGone(owner) }

// Renew extends a lease that has not expired and not been replaced.
func (s *Store) Renew(ctx context.Context, l hermes.Lease, ttl time.Duration) (hermes.Lease, error) {
	err := s.update(ctx, func(t *tx) error {
		now := s.cfg.Now()
		key, err := t.held(l)
		if err != nil {
			return err
		}
		l.Expires, l.Replaced = now.Add(ttl), hermes.Owner{}
		done, err := t.result(`UPDATE leases SET expires = ? WHERE session = ? AND expires > ?`, nanos(l.Expires), key, nanos(now))
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return staleOr(err, l.Session)
		}
		return nil
	})
	if err != nil {
		return hermes.Lease{}, err
	}
	return l, nil
}

func staleOr(err error, session string) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("session %s: the lease has expired: %w", session, hermes.ErrStaleLease)
}

// Release ends a lease. Its fence is kept, so that the next one is greater.
func (s *Store) Release(ctx context.Context, l hermes.Lease) error {
	return s.update(ctx, func(t *tx) error {
		key, err := t.key(l.Session)
		if err != nil {
			return err
		}
		return t.exec(`UPDATE leases SET expires = 0 WHERE session = ? AND fence = ?`, key, l.Fence)
	})
}

// Leases returns all leases that have not expired and whose owner has not ended.
func (s *Store) Leases(ctx context.Context) ([]hermes.Lease, error) {
	list, err := s.leases(ctx)
	if err != nil {
		return nil, s.cfg.explain(err)
	}
	gone := map[string]bool{} // each owner is asked about once
	return slices.DeleteFunc(list, func(l hermes.Lease) bool {
		if _, asked := gone[l.Owner]; !asked {
			gone[l.Owner] = s.cfg.ownerGone(l.Owner)
		}
		return gone[l.Owner]
	}), nil
}

func (s *Store) leases(ctx context.Context) ([]hermes.Lease, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT s.id, l.owner, l.address, l.fence, l.expires
		FROM leases l JOIN sessions s ON s.key = l.session WHERE l.expires > ? ORDER BY s.id`, nanos(s.cfg.Now()))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []hermes.Lease
	for rows.Next() {
		var l hermes.Lease
		var expires int64
		if err := rows.Scan(&l.Session, &l.Owner, &l.Address, &l.Fence, &expires); err != nil {
			return nil, err
		}
		l.Expires = timeOf(expires)
		list = append(list, l)
	}
	return list, rows.Err()
}

// LeaseOwners returns the owners of all leases that have not expired, ended or not.
func (s *Store) LeaseOwners(ctx context.Context) ([]string, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT DISTINCT owner FROM leases WHERE expires > ?`, nanos(s.cfg.Now()))
	if err != nil {
		return nil, s.cfg.explain(err)
	}
	defer rows.Close()
	var owners []string
	for rows.Next() {
		var owner string
		if err := rows.Scan(&owner); err != nil {
			return nil, s.cfg.explain(err)
		}
		owners = append(owners, owner)
	}
	return owners, s.cfg.explain(rows.Err())
}
