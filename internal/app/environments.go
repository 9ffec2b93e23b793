package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"hermes"
	"hermes/internal/environment"
)

// environment makes the environment where a session's commands run.
func (a *App) environment(row hermes.Session) (hermes.Environment, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	t := cfg.Terminal()
	if t.Backend != "" && t.Backend != "local" {
		return nil, fmt.Errorf("terminal.backend is %q, which this version does not support; use `hermes config set terminal.backend local`", t.Backend)
	}
	dir := row.Dir
	if t.Cwd != "" && t.Cwd != "." {
		dir = t.Cwd
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() { // moved since the session began
		if dir, err = a.Dir(); err != nil {
			return nil, err
		}
	}
	userHome, _ := os.UserHomeDir() // without one ~ stays as it is
	return environment.NewLocal(environment.LocalConfig{
		Dir: dir, Home: userHome, Env: os.Environ(), Passthrough: slices.Concat(t.EnvPassthrough, a.skillVariables(context.Background(), cfg)), Temp: t.TempDir,
		Guard: &a.guard,
	})
}

// shellName returns the last part of a shell's path.
func shellName(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}
