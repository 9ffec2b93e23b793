package file

import (
	"context"

	"hermes"
	"hermes/internal/policy"
)

// What follows is for tools that change files in other ways.

// JudgeWrites judges a write of each path by all its names, as a write of write_file is judged. A
// path that cannot be judged has an error.
func (t *Toolset) JudgeWrites(ctx context.Context, h hermes.Host, paths ...string) ([]policy.PathVerdict, []error) {
	verdicts, errs := make([]policy.PathVerdict, len(paths)), make([]error, len(paths))
	files, oneLook := linkless(h.Environment().Files()).(hermes.LocatingFiles)
	list := make([]location, len(paths))
	var known []*location
	for i, path := range paths {
		if list[i], errs[i] = t.named(ctx, h, path); errs[i] == nil {
			known = append(known, &list[i])
		}
	}
	all := oneLook && len(known) > 0 && locateAll(ctx, files, known...) == nil
	for i := range list {
		p := &list[i]
		if errs[i] == nil && !all {
			if err := p.follow(ctx); err != nil {
				errs[i] = p.failure("reach", err)
			}
		}
		if errs[i] == nil {
			verdicts[i] = p.writeVerdict()
		}
	}
	return verdicts, errs
}

// Lock keeps other calls from changing files, given by their real paths, until unlock is
// called. If ctx ends first, it returns the cause.
func (t *Toolset) Lock(ctx context.Context, paths ...string) (unlock func(), err error) {
	return t.locks.lock(ctx, paths...)
}

// Replaced notes that a session changed files, given by their real paths, of which it does not
// know the content now. What it read of them before counts as stale.
func (t *Toolset) Replaced(ctx context.Context, h hermes.Host, paths ...string) {
	files := h.Environment().Files()
	l, oneLook := files.(hermes.LocatingFiles)
	found := make([]hermes.Located, len(paths))
	if oneLook {
		if all, err := l.Locate(ctx, paths...); err == nil {
			found = all
		}
	}
	for i, path := range paths {
		if !oneLook {
			if info, err := files.Stat(ctx, path); err == nil {
				found[i].Info = info
			}
		}
		t.ledger.replaced(h.Session().ID, path, stampOf(found[i].Info))
	}
}
