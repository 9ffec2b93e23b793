package confine

import (
	"context"

	"hermes/internal/proc"
	"hermes/internal/sandbox/plan"
)

// Git is the walls around git that the program itself calls, in one repository, without a
// network. It may be used concurrently; Close ends it.
//
// Its keeper starts with the first call and stays until Close: a call then costs little
// more than git itself. Questions that are answered and gone call none.
type Git struct {
	walls   *Walls
	profile plan.Profile
}

// Git returns the walls around git that only reads a repository, whose top folder is given. It
// starts nothing. environ are the variables that git gets.
func (p *Program) Git(top string, environ []string) *Git {
	return &Git{p.empty(Config{Workspace: top, Environ: environ}), plan.OwnGit}
}

// GitChanges is Git for git that changes the repository: it writes below the top folder, but
// no hooks.
func (p *Program) GitChanges(top string, environ []string) *Git {
	return &Git{p.empty(Config{Workspace: top, Environ: environ}), plan.GitConfig}
}

// Inside returns what starts git, nil if this host allows no walls and none have to be, and
// its variables.
func (g *Git) Inside(ctx context.Context, env []string) (proc.Launcher, []string, error) {
	w := g.walls
	w.mu.Lock()
	defer w.mu.Unlock()
	at, err := w.at(ctx, key{profile: g.profile, offline: true})
	if at == nil {
		return nil, env, err
	}
	v := &visit{walls: w, place: at}
	return at.keeper, v.environ(env), nil
}

// Close ends the keeper.
func (g *Git) Close() error { return g.walls.Close() }
