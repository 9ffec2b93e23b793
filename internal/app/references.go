package app

import (
	"context"
	"os"
	"path/filepath"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/environment"
	"hermes/internal/git"
	"hermes/internal/httpc"
	"hermes/internal/netguard"
	"hermes/internal/policy"
	"hermes/internal/reference"
	"hermes/internal/surroundings"
)

// References expands the references of a message, relative to a working folder.
// tell, if set, is called with a sentence about each slow step as it starts.
func (a *App) References(ctx context.Context, text, dir, model string, tell func(string)) (reference.Expanded, error) {
	cfg, err := a.config()
	if err != nil {
		return reference.Expanded{}, err
	}
	s := reference.Sources{
		Dir: dir, Rules: pathRules(cfg), Git: a.repository(cfg, dir), Guard: a.webGuard, UserAgent: "hermes/" + Version, Mask: a.Mask, Tell: tell,
		Store: func(ctx context.Context) (reference.Sessions, error) { return a.Store(ctx) },
	}
	return s.Expand(ctx, text, a.models.Window(model))
}

// pathRules protects the user's home and Hermes' own. Without a home of the user, fewer
// folders are protected; file names still are.
func pathRules(cfg *config.Config) policy.PathRules {
	userHome, _ := os.UserHomeDir()
	return policy.PathRules{Home: userHome, State: cfg.Home().Root()}.Linked(filepath.EvalSymlinks)
}

// repository returns the repository that a folder is in. Git gets the variables that
// commands get.
func (a *App) repository(cfg *config.Config, dir string) git.Repository {
	return git.Repository{Dir: dir, Env: func() []string { return environment.Variables(a.variables(cfg)) }, Files: a.mark().Files()}
}

// newSurroundings watches what changes around a session. A one-shot question and the
// demo get no reports.
func (a *App) newSurroundings(cfg *config.Config, run hermes.RunSpec, k *tooling, env hermes.Environment) (w *surroundings.Watch, report func(context.Context) string) {
	w = surroundings.New(surroundings.Config{
		Session: run.Session, Environment: env, Files: k.files, Processes: k.shell, Git: a.repository(cfg, run.Workspace.Dir), Mask: a.Mask,
	})
	if run.Origin.Platform == "oneshot" || run.Origin.Platform == "demo" {
		return w, nil
	}
	return w, w.Report
}

// webGuard makes the guard that decides which addresses may be fetched.
func (a *App) webGuard() (*netguard.Guard, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	choose, err := httpc.ProxiesOf(cfg.Getenv).Func()
	return &netguard.Guard{
		Private: cfg.Security().AllowPrivateURLs || netguard.On(cfg.Getenv("HERMES_ALLOW_PRIVATE_URLS")),
		IPv4:    cfg.Network().ForceIPv4, Proxy: choose,
	}, err
}
