package file

import (
	"context"
	"slices"

	"hermes"
	"hermes/internal/policy"
)

// What follows is for tools that change files in other ways.

// JudgeWrites judges a write of each path by all its names, as a write of write_file is judged. A
// path that cannot be judged has an error.
func (t *Toolset) JudgeWrites(ctx context.Context, h hermes.Host, paths ...string) ([]policy.PathVerdict, []error) {
	verdicts, errs := make([]policy.PathVerdict, len(paths)), make([]error, len(paths))
	files, oneLook := linkless(h.Environment().Files()).(hermes.LocatingFiles)
	for first := 0; first < len(paths); first += oneLookMax {
		last := min(first+oneLookMax, len(paths))
		list := make([]location, last-first)
		var known []*location
		for i := range list {
			if list[i], errs[first+i] = t.named(ctx, h, paths[first+i]); errs[first+i] == nil {
				known = append(known, &list[i])
			}
		}
		all := oneLook && len(known) > 0 && locateAll(ctx, files, known...) == nil
		for i := range list {
			p, n := &list[i], first+i
			if errs[n] == nil && !all {
				if err := p.follow(ctx); err != nil {
					errs[n] = p.failure("reach", err)
				}
			}
			if errs[n] == nil {
				verdicts[n] = p.writeVerdict()
			}
		}
	}
	return verdicts, errs
}

// oneLookMax bounds the paths that one script of a place looks for.
const oneLookMax = 200

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
	for part := range slices.Chunk(paths, oneLookMax) {
		found := make([]hermes.Located, len(part))
		if oneLook {
			if all, err := l.Locate(ctx, part...); err == nil {
				found = all
			}
		}
		for i, path := range part {
			if !oneLook {
				if info, err := files.Stat(ctx, path); err == nil {
					found[i].Info = info
				}
			}
			t.ledger.replaced(h.Session().ID, path, stampOf(found[i].Info))
		}
	}
}
