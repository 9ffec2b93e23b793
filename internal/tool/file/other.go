package file

import (
	"context"
	"os"

	"hermes"
	"hermes/internal/policy"
)

// What follows is for tools that change files in other ways, on this machine only.

// JudgeWrite judges a write of a path by all its names, as a write of write_file is judged.
func (t *Toolset) JudgeWrite(ctx context.Context, h hermes.Host, path string) (policy.PathVerdict, error) {
	p, err := t.locate(ctx, h, path)
	if err != nil {
		return policy.PathVerdict{}, err
	}
	return p.writeVerdict(), nil
}

// Lock keeps other calls from changing files, given by their real paths, until unlock is
// called. If ctx ends first, it returns the cause.
func (t *Toolset) Lock(ctx context.Context, paths ...string) (unlock func(), err error) {
	return t.locks.lock(ctx, paths...)
}

// Replaced notes that a session changed files, given by their real paths, of which it does not
// know the content now. What it read of them before counts as stale.
func (t *Toolset) Replaced(session string, paths ...string) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			info = nil
		}
		t.ledger.replaced(session, path, stampOf(info))
	}
}
