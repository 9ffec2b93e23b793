package router

import (
	"context"
	"fmt"
	"os"
	"strings"

	"hermes"
)

// Elsewhere is the error of opening a session that another process runs. It is a
// hermes.ErrLeased.
type Elsewhere struct {
	Session string
	Lease   hermes.Lease
	// Where names the process, such as "terminal 4711".
	Where string
}

// Error says where the session runs and how to get there.
func (e *Elsewhere) Error() string {
	if e.Lease.Address == "" {
		return fmt.Sprintf("session %s is open in %s; close it there, or start a new session", e.Session, e.Where)
	}
	return fmt.Sprintf("session %s is open in %s; attach to it with `hermes attach %s`, or start a new session", e.Session, e.Where, e.Session)
}

// Unwrap returns hermes.ErrLeased.
func (e *Elsewhere) Unwrap() error { return hermes.ErrLeased }

// Elsewhere says where a session runs, by its id, a prefix of it or its title; nil if no other
// process runs it.
func (c *Client) Elsewhere(ctx context.Context, ref string) *Elsewhere {
	store, err := c.cfg.Store(ctx)
	if err != nil {
		return nil // reported by what opens it
	}
	row, err := store.FindSession(ctx, ref)
	if err != nil || c.cfg.Local.Here(ctx, row.ID) {
		return nil
	}
	l, ok, err := c.lease(ctx, row.ID)
	if err != nil || !ok {
		return nil
	}
	return &Elsewhere{Session: l.Session, Lease: l, Where: Where(l.Owner, row.Platform)}
}

// Where names the owner of a lease for people. platform is that of the session.
func Where(owner, platform string) string {
	parts := strings.Split(owner, ":")
	if len(parts) != 3 {
		return "another Hermes"
	}
	where := "process " + parts[1]
	if platform == "cli" {
		where = "terminal " + parts[1]
	}
	if host, err := os.Hostname(); err == nil && strings.ReplaceAll(host, ":", "_") != parts[0] {
		where += " on " + parts[0]
	}
	return where
}
