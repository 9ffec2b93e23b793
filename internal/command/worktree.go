package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/worktree"
)

// Worktrees are those of this home.
type Worktrees interface {
	// New makes one in the repository of a session.
	New(ctx context.Context, on hermes.Workspace, name string) (worktree.Made, error)
	Records() ([]worktree.Record, error)
	// Look returns what would be lost with one.
	Look(ctx context.Context, r worktree.Record) []string
	Of(dir string) (worktree.Record, bool)
}

// worktrees makes a worktree and switches to a copy of the session in it, or lists them. The folder of a
// session never changes: its prompt names it.
func worktrees(ctx context.Context, c *Call) (Result, error) {
	if c.Worktrees == nil {
		return Result{}, errors.New("worktrees are not available here; list them with `hermes worktree list`")
	}
	word, name, _ := strings.Cut(c.Args, " ")
	switch strings.ToLower(word) {
	case "", "list":
		return listWorktrees(ctx, c)
	case "new":
		return newWorktree(ctx, c, strings.TrimSpace(name))
	}
	return Result{}, fmt.Errorf("unknown argument %q for /worktree; use /worktree new [NAME] or /worktree list", word)
}

func newWorktree(ctx context.Context, c *Call, name string) (Result, error) {
	all, err := c.sessions(ctx)
	if err != nil {
		return Result{}, err
	}
	st, err := c.idle(ctx)
	if err != nil {
		return Result{}, err
	}
	on := st.Row.StoredRun().Workspace
	if on.Dir == "" {
		on.Dir = st.Row.Dir
	}
	made, err := c.Worktrees.New(ctx, on, name)
	if err != nil {
		return Result{}, err
	}
	row, err := all.Moved(ctx, st.Row, made.Start)
	if err != nil {
		return Result{}, fmt.Errorf("the worktree %s was made, but the session cannot work there: %w", made.Path, err)
	}
	said := fmt.Sprintf("This session works in the worktree %s now, on the branch %s.", code(made.Path), code(made.Branch))
	if len(st.Transcript) > 0 {
		said += " To go back, use " + code("/resume "+c.Session.ID())
	}
	for _, n := range made.Notes {
		said += "\n\n" + plain(n)
	}
	return Result{Action: hermes.ActionSwitch, Arg: row.ID, Text: said}, nil
}

func listWorktrees(ctx context.Context, c *Call) (Result, error) {
	all, err := c.Worktrees.Records()
	if err != nil {
		return Result{}, err
	}
	st, err := c.Session.State(ctx)
	if err != nil && !errors.Is(err, hermes.ErrClosed) {
		return Result{}, err
	}
	here, _ := c.Worktrees.Of(st.Row.Dir)
	var b strings.Builder
	for _, r := range all {
		if r.State != worktree.Ready {
			continue
		}
		state := "nothing would be lost"
		if lost := c.Worktrees.Look(ctx, r); len(lost) > 0 {
			state = strings.Join(lost, "; ")
		}
		mark := ""
		if r.Path == here.Path {
			mark = " (here)"
		}
		fmt.Fprintf(&b, "- %s%s, branch %s, %s: %s\n", code(r.Path), mark, code(r.Branch), stamp(r.Made), plain(state))
	}
	if b.Len() == 0 {
		return Result{Text: "No worktrees. Make one with `/worktree new`."}, nil
	}
	return Result{Text: b.String()}, nil
}
