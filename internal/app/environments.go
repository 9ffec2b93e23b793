package app

import (
	"context"
	"fmt"
	"os"
	"slices"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/environment"
	"hermes/internal/lineage"
)

// environment makes the environment where a session's commands run. granted lists what the
// user has allowed all of them beyond their walls.
func (a *App) environment(w hermes.Workspace, of walled) (hermes.Environment, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	t := cfg.Terminal()
	switch {
	case w.Backend != "" && !onMachine(w.Backend):
		return nil, fmt.Errorf("the session is to run commands in %q, which this version does not support; open it with the backend local", w.Backend)
	case w.Backend == "" && !onMachine(t.Backend):
		return nil, fmt.Errorf("terminal.backend is %q, which this version does not support; use `hermes config set terminal.backend local`", t.Backend)
	}
	dir := w.Dir
	if t.Cwd != "" && t.Cwd != "." {
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
