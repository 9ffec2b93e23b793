package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/environment"
	"hermes/internal/environment/docker"
	"hermes/internal/environment/remote"
	"hermes/internal/environment/ssh"
	"hermes/internal/plugin"
)

// backend is a kind of place, other than this machine, where sessions work.
type backend struct {
	name string
	// dir is the folder in which a session begins, if terminal.cwd names none.
	dir string
	// open makes what runs scripts in the place of a session; an error says what to set.
	open func(a *App, cfg *config.Config, s sessionPlace) (remote.Runner, error)
	// mounts reports whether the place has the user's folder of this machine as its working
	// folder; nil is no.
	mounts func(config.Terminal) bool
}

// sessionPlace is what a place may depend on.
type sessionPlace struct {
	session   string
	workspace hermes.Workspace
	files     []remote.HomeFile // those of this machine that commands may read there, as far as they can now
}

// backends is the only list of them.
func backends() []backend {
	return []backend{
		{name: "daytona", dir: "~", open: openDaytona},
		{name: "docker", dir: docker.Workspace, open: openDocker, mounts: func(t config.Terminal) bool { return t.DockerMountCwd }},
		{name: "e2b", dir: "~", open: openE2B},
		{name: "modal", dir: "~", open: openModal},
		{name: "runloop", dir: "~", open: openRunloop},
		{name: "singularity", dir: "~", open: openSingularity},
		{name: "ssh", dir: "~", open: openSSH},
		{name: "vercel_sandbox", dir: "~", open: openVercel},
	}
}

// backendOf returns the backend of a name.
func (a *App) backendOf(name string) (backend, error) {
	list := backends()
	i := slices.IndexFunc(list, func(b backend) bool { return b.name == name })
	if open := a.opts.Runner; open != nil {
		b := backend{name: name, dir: "~", open: func(_ *App, _ *config.Config, s sessionPlace) (remote.Runner, error) { return open(name, s.session) }}
		return b, nil
	}
	if i >= 0 {
		return list[i], nil
	}
	if own, ok := strings.CutPrefix(name, pluginBackend); ok {
		return backend{name: name, dir: "~", open: func(a *App, _ *config.Config, s sessionPlace) (remote.Runner, error) { return a.openPlugin(own, s) }}, nil
	}
	names := []string{hermes.BackendLocal}
	for _, b := range list {
		names = append(names, b.name)
	}
	names = append(names, pluginBackend+"NAME")
	return backend{}, fmt.Errorf("this version has no backend %q for commands; use one of %s, with --backend or `hermes config set terminal.backend NAME`", name, strings.Join(names, ", "))
}

// checker is implemented by runners that can say what their place lacks.
type checker interface {
	// Check returns why the place cannot be used, and what to do; nil if it can.
	Check(ctx context.Context) error
}

// CheckBackend says which backend new sessions of the terminal use, and why it cannot be used. It
// starts no place if the backend can be checked without that.
func (a *App) CheckBackend(ctx context.Context) (name string, err error) {
	cfg, err := a.config()
	if err != nil {
		return "", err
	}
	name = cfg.Terminal().Backend
	if (hermes.Workspace{Backend: name}).Elsewhere() {
		err = a.checkBackend(ctx, cfg, name)
	}
	return name, err
}

func (a *App) checkBackend(ctx context.Context, cfg *config.Config, name string) error {
	b, err := a.backendOf(name)
	if err != nil {
		return err
	}
	runner, err := b.open(a, cfg, sessionPlace{session: "doctor", workspace: hermes.Workspace{Backend: name}})
	if err != nil {
		return err
	}
	defer runner.Close()
	if c, ok := runner.(checker); ok {
		return c.Check(ctx)
	}
	_, err = runner.Exec(ctx, remote.Script{Text: ":"})
	return err
}

// lacker is implemented by runners that know what is missing here for their place.
type lacker interface {
	// Lacks returns what is missing on this machine or in the settings, and what to do; nil if
	// nothing is. It asks no place and no service.
	Lacks() error
}

// OtherBackends says of each backend that new sessions do not use what is missing here to use it,
// nil for nothing. It asks no place and no service.
func (a *App) OtherBackends() (map[string]error, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	lacks := map[string]error{}
	for _, b := range backends() {
		if b.name == cfg.Terminal().Backend {
			continue
		}
		runner, err := b.open(a, cfg, sessionPlace{session: "doctor", workspace: hermes.Workspace{Backend: b.name}})
		if err == nil {
			if l, ok := runner.(lacker); ok {
				err = l.Lacks()
			}
			_ = runner.Close() // nothing was begun
		}
		lacks[b.name] = err
	}
	return lacks, nil
}

// pluginBackend begins the backend that is a plugin. Its name follows.
const pluginBackend = "plugin:"

// pluginRunner runs scripts by a plugin.
type pluginRunner struct {
	*plugin.Place
	name string
}

func (a *App) openPlugin(name string, s sessionPlace) (remote.Runner, error) {
	all := a.tooling().plugins
	if all == nil {
		all = &plugin.Plugins{}
	}
	p, err := all.Place(name, s.session)
	if err != nil {
		return nil, err
	}
	return pluginRunner{p, name}, nil
}

// Exec runs a script.
func (r pluginRunner) Exec(ctx context.Context, s remote.Script) (int, error) {
	code, err := r.Place.Exec(ctx, plugin.Script(s))
	if errors.Is(err, plugin.ErrNotRun) {
		err = fmt.Errorf("%w: %w", remote.ErrNotRun, err)
	}
	return code, err
}

// Describe claims no walls: what keeps commands from the rest of that place is the plugin's business.
func (r pluginRunner) Describe() hermes.Description {
	return hermes.Description{Isolation: hermes.Isolation{Layer: "none", Text: fmt.Sprintf("Commands run where the plugin %s runs them, and may do there what it lets them.", r.name)}}
}

func openSSH(a *App, cfg *config.Config, _ sessionPlace) (remote.Runner, error) {
	t := cfg.Terminal()
	userHome, _ := os.UserHomeDir() // without one ~ stays as it is
	return ssh.New(ssh.Config{
		Host: t.SSHHost, User: t.SSHUser, Port: t.SSHPort, Key: t.SSHKey, Home: userHome, Run: cfg.Home().Join("run", "ssh"), Env: a.clientVariables(cfg), Guard: &a.guard,
	})
}

// clientVariables are the variables of the programs of this machine that reach a place. None of them
// gets there.
func (a *App) clientVariables(cfg *config.Config) []string {
	c := a.variables(cfg)
	c.Mark = nil
	return environment.Variables(c)
}
