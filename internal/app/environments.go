package app

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/environment"
	"hermes/internal/environment/places"
	"hermes/internal/environment/remote"
	"hermes/internal/lineage"
)

// workspace returns where a new session works: by its opener, its platform, or the settings. A
// folder elsewhere is not that of this machine.
func (a *App) workspace(run hermes.RunSpec) (hermes.Workspace, error) {
	w := run.Workspace
	cfg, err := a.config()
	if err != nil {
		return w, err
	}
	t := cfg.Terminal()
	if err := cfg.RestrictionFault("terminal", "backend"); err != nil && w.Backend == "" { // its default is this machine
		return w, err
	}
	w.Backend = cmp.Or(w.Backend, t.PlatformBackends[run.Origin.Platform], t.Backend, hermes.BackendLocal)
	if !w.Elsewhere() {
		return w, nil
	}
	b, err := a.backendOf(w.Backend)
	if err != nil {
		return w, err
	}
	w.Mount = ""
	if b.mounts != nil && b.mounts(t) {
		w.Mount = w.Dir
	}
	w.Dir = b.dir
	if t.Cwd != "" && t.Cwd != "." {
		w.Dir = t.Cwd
	}
	return w, nil
}

// elsewhere returns the environment of a session that does not work on this machine. A child session
// works in the place of its parent, with a folder of its own. The caller releases the place.
func (a *App) elsewhere(run hermes.RunSpec) (hermes.Environment, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	asked := places.Asked{Session: run.Session, Parent: run.Origin.Parent, Dir: run.Workspace.Dir}
	return a.places.Of(asked, func() (*remote.Environment, error) {
		b, err := a.backendOf(run.Workspace.Backend)
		if err != nil {
			return nil, err
		}
		carried := a.credentialFiles(cfg)
		runner, err := b.open(a, cfg, sessionPlace{session: run.Session, workspace: run.Workspace, files: carried.there()})
		if err != nil {
			return nil, fmt.Errorf("the session works in %s, which cannot be used: %w", b.name, err)
		}
		return remote.New(remote.Config{Runner: runner, Dir: run.Workspace.Dir, Notes: cfg.Home().Join("run", "places"), Carry: carried.carrier(),
			Env: a.handed(cfg, slices.Concat(cfg.Terminal().EnvPassthrough, a.skillVariables(context.Background())))}), nil
	})
}

// handed returns those of the variables of this process that the user wants handed to commands elsewhere,
// and no key of Hermes.
func (a *App) handed(cfg *config.Config, names []string) []string {
	c := a.variables(cfg)
	c.Mark, c.Passthrough = nil, names
	return slices.DeleteFunc(environment.Variables(c), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains(names, name) || slices.Contains([]string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR"}, name) // there are others there
	})
}

// environmentOf makes the environment in which a session works, and what ends it.
func (a *App) environmentOf(run hermes.RunSpec, of walled) (env hermes.Environment, end func() error, err error) {
	if run.Workspace.Elsewhere() {
		env, err = a.elsewhere(run)
		return env, func() error { return a.places.Release(run.Session) }, err
	}
	if env, err = a.environment(run.Workspace, of); err != nil {
		return nil, nil, err
	}
	return env, env.Close, nil
}

// homeOf returns the user's home folder where a session works, "" if it is not known.
func (a *App) homeOf(run hermes.RunSpec) string {
	if !run.Workspace.Elsewhere() {
		home, _ := os.UserHomeDir() // without one ~ stays as it is
		return home
	}
	env, err := a.elsewhere(run)
	if err != nil {
		return ""
	}
	return env.Describe(context.Background()).Home
}

// environment makes the environment of a session on this machine. granted lists what the
// user has allowed all of them beyond their walls.
func (a *App) environment(w hermes.Workspace, of walled) (hermes.Environment, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	t := cfg.Terminal()
	trees, err := a.worktrees()
	if err != nil {
		return nil, err
	}
	dir := w.Dir
	if _, own := trees.Of(dir); !own && t.Cwd != "" && t.Cwd != "." {
		dir = t.Cwd
	}
	dir, err = thereOrHere(dir)
	if err != nil {
		return nil, err
	}
	userHome, _ := os.UserHomeDir() // without one ~ stays as it is
	c := a.variables(cfg)
	c.Dir, c.Home, c.Temp, c.Guard = dir, userHome, t.TempDir, &a.guard
	c.Passthrough = slices.Concat(t.EnvPassthrough, a.skillVariables(context.Background()))
	if c.Walls, err = a.walls(cfg, c, of); err != nil {
		return nil, err
	}
	return environment.NewLocal(c)
}

// variables says which variables of this process child processes may see, and marks
// them as those of an agent.
func (a *App) variables(cfg *config.Config) environment.LocalConfig {
	return environment.LocalConfig{
		Env: lineage.WithoutWidening(a.opts.Environ()), KeyOf: keyOf(cfg), Keys: slices.Concat(cfg.ServiceKeys(), declaredValues(cfg), a.credentials().Secrets()), Mark: a.mark(),
	}
}

// makeMark announces this process as one that runs an agent, and makes the mark of
// its commands. What fails is logged: a program below is found in the other ways.
func (a *App) makeMark() *lineage.Mark {
	h, err := a.home()
	if err != nil {
		return nil // reported where the home is needed
	}
	if a.opts.Announce != nil {
		stop, err := a.opts.Announce()
		if err != nil {
			a.log().Warn("announce the agent", "error", err)
		}
		a.closing(func() error { stop(); return nil })
	}
	m, err := lineage.NewMark(h.Path())
	if err != nil {
		a.log().Warn("mark commands", "error", err)
	}
	a.closing(m.Close)
	return m
}

// thereOrHere returns a folder, or the current one if it is not there: it was moved since the
// session began.
func thereOrHere(dir string) (string, error) {
	if st, err := os.Stat(dir); err == nil && st.IsDir() {
		return dir, nil
	}
	return os.Getwd()
}
