package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/git"
	"hermes/internal/protocol"
	"hermes/internal/session"
	"hermes/internal/worktree"
)

// Worktrees makes, lists and removes the worktrees of sessions. It may be used concurrently.
type Worktrees struct {
	*worktree.Keeper
	app *App
	cfg *config.Config

	mu   sync.Mutex
	here []string // the paths of those that sessions of this process work in
}

// Worktrees returns the worktrees of this home.
func (a *App) Worktrees() (*Worktrees, error) { return a.worktrees() }

func (a *App) makeWorktrees() (*Worktrees, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	return &Worktrees{app: a, cfg: cfg, Keeper: &worktree.Keeper{
		Folder: cfg.Home().Join("worktrees"), Now: a.opts.Now,
		Read:  func(dir string) (git.Repository, func()) { return a.repository(cfg, dir) },
		Write: func(top string) (git.Repository, func()) { return a.changedRepository(cfg, top) },
	}}, nil
}

// Begin makes a worktree for the sessions of a run in this process. The error wraps [ErrElsewhere] if
// they do not work on this machine, and [worktree.ErrNoRepository] if their folder is in none.
func (w *Worktrees) Begin(ctx context.Context, run hermes.RunSpec) (worktree.Made, error) {
	on, err := w.app.workspace(run)
	if err != nil {
		return worktree.Made{}, err
	}
	return w.New(ctx, on, "")
}

// ErrElsewhere means that a session does not work on this machine.
var ErrElsewhere = errors.New("worktrees are for sessions that work on this machine")

func (w *Worktrees) begin(ctx context.Context, a worktree.Ask) (worktree.Made, error) {
	m, err := w.Make(ctx, a)
	if err == nil {
		w.use(m.Path)
	}
	return m, err
}

// New makes a worktree for sessions of this process that would work in a workspace.
func (w *Worktrees) New(ctx context.Context, on hermes.Workspace, name string) (worktree.Made, error) {
	if on.Elsewhere() {
		return worktree.Made{}, elsewhere(on)
	}
	return w.begin(ctx, worktree.Ask{Dir: on.Dir, Name: name, Sync: w.cfg.General().WorktreeSync})
}

func elsewhere(on hermes.Workspace) error {
	return fmt.Errorf("the session works in %s: %w", on.Backend, ErrElsewhere)
}

func (w *Worktrees) use(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.here, path) {
		w.here = append(w.here, path)
	}
}

// Back readies the worktree that the folder of a stored session is in, if it is in one. One
// that was removed is made again, which the notes say.
func (w *Worktrees) Back(ctx context.Context, dir string) (notes []string, err error) {
	r, ok := w.Of(dir)
	if !ok {
		return nil, nil
	}
	if _, err := os.Stat(dir); err == nil {
		w.use(r.Path)
		return nil, nil
	}
	if r.State != worktree.Removed || r.Tip == "" {
		return nil, w.gone(dir)
	}
	m, err := w.begin(ctx, worktree.Ask{Dir: r.Main, Again: &r})
	if err != nil {
		return nil, fmt.Errorf("%w; it cannot be made again: %w", w.gone(dir), err)
	}
	return append([]string{fmt.Sprintf("The worktree of this session had been removed. It was made again: %s, on the branch %s.", m.Path, m.Branch)}, m.Notes...), nil
}

// enter notes that a session of this process works in a folder, and returns why it cannot if that is in a
// worktree that was removed.
func (w *Worktrees) enter(run hermes.RunSpec) error {
	r, ok := w.Of(run.Workspace.Dir)
	if ok && r.State == worktree.Ready && run.Origin.Depth == 0 {
		w.use(r.Path)
	}
	return w.gone(run.Workspace.Dir)
}

// gone returns why the folder of a session cannot be used, if that is a worktree that is not there; else nil.
func (w *Worktrees) gone(dir string) error {
	r, ok := w.Of(dir)
	if !ok {
		return nil
	}
	if st, err := os.Stat(dir); err == nil && st.IsDir() {
		return nil
	}
	when, with := "", ", and nothing was lost"
	if !r.Removed.IsZero() {
		when = " by Hermes at " + r.Removed.Local().Format("2006-01-02 15:04")
	}
	if r.Forced {
		with = ", with what was in it"
	}
	if when == "" {
		with = "; its branch was " + r.Branch
	}
	return fmt.Errorf("this session works in the worktree %s, which was removed%s%s; `hermes --resume` with the session makes it again where it can, and nothing was run in another folder instead", r.Path, when, with)
}

// Remove removes a worktree as [worktree.Keeper.Remove] does, unless a session or a process works in it.
func (w *Worktrees) Remove(ctx context.Context, r worktree.Record, force bool) (worktree.Gone, error) {
	procs, _ := worktree.Uses(r.Path)
	return w.Keeper.Remove(ctx, r, force, append(w.sessions(ctx, r), procs...)...)
}

// sessions names the sessions that run in a worktree.
func (w *Worktrees) sessions(ctx context.Context, r worktree.Record) (uses []string) {
	c := w.app.Client(nil)
	list, err := c.Sessions(ctx, protocol.Filter{Live: true, Archived: true, Limit: -1})
	if err != nil {
		return []string{"it is not known which sessions run: " + err.Error()}
	}
	for _, s := range list {
		if at, ok := w.Of(s.Dir); ok && at.Path == r.Path {
			uses = append(uses, "session "+s.ID+" works in it")
		}
	}
	return uses
}

// End ends the sessions of this process, and then removes the worktrees that they worked in, if nothing would be lost.
// tell gets what became of each.
func (w *Worktrees) End(ctx context.Context, tell func(text string)) {
	w.mu.Lock()
	here := w.here
	w.here = nil
	w.mu.Unlock()
	if len(here) == 0 {
		return
	}
	if m := w.app.made(); m != nil {
		if err := m.Close(); err != nil {
			w.app.log().Warn("end the sessions", "error", err)
		}
	}
	for _, path := range here {
		if r, ok := w.Of(path); ok {
			if said, _, _ := w.Keeper.End(ctx, r, w.sessions(ctx, r)...); said != "" {
				tell(said)
			}
		}
	}
}

// Child makes a worktree for a child session. A folder that is in no repository has none: the child works
// where its parent does.
func (w *Worktrees) Child(ctx context.Context, on hermes.Workspace, asked bool) (session.Tree, error) {
	if !asked && (!w.cfg.Delegation().WorktreeIsolation || on.Elsewhere()) {
		return nil, nil
	}
	if on.Elsewhere() {
		return nil, elsewhere(on)
	}
	m, err := w.Make(ctx, worktree.Ask{Dir: on.Dir}) // from the commit of its parent
	if errors.Is(err, worktree.ErrNoRepository) && !asked {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return childTree{w, m}, nil
}

// childOf returns the worktree that a child session of an earlier process has for itself, or nil.
func (w *Worktrees) childOf(dir, parent string) session.Tree {
	r, ok := w.Of(dir)
	if above, in := w.Of(parent); !ok || r.State != worktree.Ready && r.State != worktree.Removing || in && above.Path == r.Path {
		return nil
	}
	return childTree{w, worktree.Made{Record: r}}
}

// childTree is the worktree of a child session.
type childTree struct {
	all  *Worktrees
	made worktree.Made
}

// Dir is the folder in which the child works.
func (t childTree) Dir() string { return t.made.Start }

// End removes the worktree if nothing would be lost.
func (t childTree) End(ctx context.Context) hermes.Worktree {
	said, kept, later := t.all.Keeper.End(ctx, t.made.Record, t.all.sessions(ctx, t.made.Record)...)
	return hermes.Worktree{Path: t.made.Path, Branch: t.made.Branch, Kept: kept, Note: said, Later: later}
}

// changedRepository is repository for git that changes what is in a folder: it can write below that, but no hooks.
func (a *App) changedRepository(cfg *config.Config, top string) (r git.Repository, done func()) {
	r, done = a.repository(cfg, top)
	r.Guard = &a.guard
	p, err := a.confinement()
	if p == nil || err != nil {
		return r, done
	}
	done()
	walls := p.GitChanges(top, r.Env())
	r.Inside = walls.Inside
	return r, func() { _ = walls.Close() }
}
