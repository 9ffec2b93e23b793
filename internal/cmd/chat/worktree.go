package chat

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hermes/internal/app"
	"hermes/internal/worktree"
)

// leaveTime bounds what is done about worktrees at the end.
const leaveTime = time.Minute

// enterWorktree makes the worktree that the run asks for, or readies the one of the session that
// is resumed. What it returns is called at the end, and removes those that hold nothing.
func (o *Options) enterWorktree(ctx context.Context) (leave func(), err error) {
	leave = func() {}
	trees, err := o.App().Worktrees()
	if err != nil {
		return leave, nil // reported where the configuration is needed
	}
	end := func() {
		if o.attach != "" { // the session goes on
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
		defer cancel()
		trees.End(ctx, o.tell)
	}
	switch ref, err := o.resume(ctx); {
	case err != nil:
		return end, nil // reported where it is resumed
	case ref != "" && o.Worktree:
		return end, usage("--worktree is for a new session; one that is resumed keeps its folder")
	case ref != "":
		return end, o.backToWorktree(ctx, trees, ref)
	}
	cfg, err := o.App().Config()
	if err != nil || !o.Worktree && (o.asked.worktree || !cfg.General().Worktree) {
		return end, nil
	}
	made, err := trees.Begin(ctx, o.Run)
	switch {
	case !o.asked.worktree && (errors.Is(err, worktree.ErrNoRepository) || errors.Is(err, app.ErrElsewhere)):
		o.tell(fmt.Sprintf("No worktree is made, though the setting worktree asks for one: %v.", err))
		return end, nil
	case err != nil:
		return end, fmt.Errorf("make a worktree: %w (--worktree=false works without one)", err)
	}
	o.Run.Workspace.Dir = made.Start
	o.tell(fmt.Sprintf("Working in the worktree %s, on the branch %s.", made.Path, made.Branch))
	for _, n := range made.Notes {
		o.tell(n)
	}
	return end, nil
}

// backToWorktree readies the worktree of a session that is resumed.
func (o *Options) backToWorktree(ctx context.Context, trees *app.Worktrees, ref string) error {
	store, err := o.Store(ctx)
	if err != nil {
		return nil // reported where it is resumed
	}
	row, err := store.FindSession(ctx, ref)
	if err != nil {
		return nil // the same
	}
	w := row.StoredRun().Workspace
	if w.Elsewhere() {
		return nil
	}
	notes, err := trees.Back(ctx, w.Dir)
	for _, n := range notes {
		o.tell(n)
	}
	return err
}

func (o *Options) tell(text string) { fmt.Fprintln(o.Err, "hermes:", text) }
