package worktree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes/internal/text"
)

// End removes a worktree that a session has left, if nothing would be lost and nothing works in it, and says
// what became of it and what to do next. uses names what works in it, beside the processes that
// the system knows. Where the system does not say which processes do, the worktree is kept. later says that it may be removed later:
// it is only in use, or could not be looked at or removed now.
func (k *Keeper) End(ctx context.Context, r Record, uses ...string) (said string, kept, later bool) {
	procs, known := Uses(r.Path)
	if !known {
		procs = []string{"this system does not say whether a process works in it"}
	}
	g, err := k.Remove(ctx, r, false, append(uses, procs...)...)
	var loss *LossError
	switch {
	case errors.Is(err, ErrUnknown):
		return "", false, false
	case errors.As(err, &loss):
		return fmt.Sprintf("The worktree %s is kept, on the branch %s:\n  %s\nMerge it with: git merge %s\nRemove it with: hermes worktree remove %s",
			text.VisibleName(r.Path), r.Branch, strings.Join(loss.Lost, "\n  "), r.Branch, r.Name), true, known && !slices.ContainsFunc(g.Lost, func(lost string) bool { return !strings.HasPrefix(lost, unseen) })
	case err != nil:
		return fmt.Sprintf("The worktree %s could not be removed: %s", text.VisibleName(r.Path), text.Visible(err.Error())), true, true
	case g.Kept != "":
		return fmt.Sprintf("The worktree %s is gone; its branch %s is kept.", r.Name, g.Kept), false, false
	}
	return fmt.Sprintf("The worktree %s was removed: nothing in it would be lost.", r.Name), false, false
}
