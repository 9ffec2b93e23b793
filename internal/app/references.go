package app

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/environment"
	"hermes/internal/git"
	"hermes/internal/httpc"
	"hermes/internal/netguard"
	"hermes/internal/policy"
	"hermes/internal/prefixwatch"
	"hermes/internal/proc"
	"hermes/internal/reference"
	"hermes/internal/surroundings"
	"hermes/internal/toolset"
)

// References expands the references of a message, relative to a working folder.
// tell, if set, is called with a sentence about each slow step as it starts.
func (a *App) References(ctx context.Context, text, dir, model string, tell func(string)) (reference.Expanded, error) {
	return a.referencesOf(ctx, text, hermes.RunSpec{Workspace: hermes.Workspace{Dir: dir}, Model: hermes.ModelChoice{Ref: model}}, tell)
}

// referencesOf expands the references of a message of a session, where that works.
func (a *App) referencesOf(ctx context.Context, text string, run hermes.RunSpec, tell func(string)) (reference.Expanded, error) {
	cfg, err := a.config()
	if err != nil {
		return reference.Expanded{}, err
	}
	s := reference.Sources{
		Dir: run.Workspace.Dir, Guard: a.webGuard, UserAgent: "hermes/" + Version, Mask: a.Mask, Tell: tell,
		Store: func(ctx context.Context) (reference.Sessions, error) { return a.Database(ctx) },
	}
	if run.Workspace.Elsewhere() {
		env, err := a.elsewhere(run)
		if err != nil {
			return reference.Expanded{}, err
		}
		s.Files, s.Git, s.Rules = env.Files(), gitThere(run.Workspace, env), policy.PathRules{Home: a.homeOf(run)}
		return s.Expand(ctx, text, a.models.Window(run.Model.Ref))
	}
	repository, done := a.repository(cfg, run.Workspace.Dir)
	defer done()
	s.Git, s.Rules = repository, pathRules(cfg)
	return s.Expand(ctx, text, a.models.Window(run.Model.Ref))
}

// gitThere is the repository of a folder that is not on this machine.
func gitThere(w hermes.Workspace, env hermes.Environment) git.Repository {
	return git.Repository{Dir: w.Dir, There: func(ctx context.Context, line string, out, complaints io.Writer) (int, error) {
		exit, err := env.Exec(ctx, hermes.Command{Line: line, Dir: w.Dir, Stdout: out, Stderr: complaints})
		return exit.Code, err
	}}
}

// pathRules protects the user's home and Hermes' own. Without a home of the user, fewer
// folders are protected; file names still are.
func pathRules(cfg *config.Config) policy.PathRules {
	userHome, _ := os.UserHomeDir()
	return policy.PathRules{Home: userHome, State: cfg.Home().Root()}.Linked(filepath.EvalSymlinks)
}

// repository returns the repository that a folder is in. Git gets the variables that
// commands get, and where this host allows walls it can only read the repository. Call
// done at the end.
func (a *App) repository(cfg *config.Config, dir string) (r git.Repository, done func()) {
	r = git.Repository{Dir: dir, Env: func() []string { return environment.Variables(a.variables(cfg)) }, Files: a.mark().Files()}
	p, err := a.confinement()
	if err != nil { // strict or misspelt: nothing runs without walls
		r.Inside = func(context.Context, []string) (proc.Launcher, []string, error) { return nil, nil, err }
	}
	if p == nil {
		return r, func() {}
	}
	walls := p.Git(cmp.Or(git.Root(dir), dir), r.Env())
	r.Inside = walls.Inside
	return r, func() { _ = walls.Close() }
}

// follow follows a session: its toolsets, what changes around it, and the prefix of its requests.
func (a *App) follow(cfg *config.Config, run hermes.RunSpec, tools *tooling, env hermes.Environment) *follower {
	s := run.Ref()
	around := surroundings.Config{Session: s.ID, Environment: env, Files: tools.files, Processes: tools.shell, Mask: a.Mask}
	done := func() {}
	if run.Workspace.Elsewhere() {
		around.Files, around.Git = unwatched{}, gitThere(run.Workspace, env)
	} else {
		around.Git, done = a.repository(cfg, s.Dir)
	}
	return &follower{ref: s, tools: tools.catalogue, watch: a.watch(), done: done, around: surroundings.New(around)}
}

// unwatched are files elsewhere, which are not compared with each message.
type unwatched struct{}

func (unwatched) Changed(string) []string { return nil }

// follower is a session.Follower.
type follower struct {
	ref    hermes.SessionRef
	tools  *toolset.Catalogue
	watch  *prefixwatch.Watch
	around *surroundings.Watch
	done   func() // with the repository
}

// Restore rebuilds the state of the toolsets.
func (f *follower) Restore(transcript []hermes.Message) {
	f.tools.Restore(f.ref, transcript)
	f.around.Restore(transcript)
}

// Surroundings reports what changed. A one-shot question and the demo get no reports.
func (f *follower) Surroundings(ctx context.Context) string {
	if f.ref.Platform == "oneshot" || f.ref.Platform == "demo" {
		return ""
	}
	return f.around.Report(ctx)
}

// Rewritten says that the next request begins otherwise, and why.
func (f *follower) Rewritten(why string) { f.watch.Expect(f.ref.ID, why) }

// Prefix returns the last request that did not begin with the one before it.
func (f *follower) Prefix() (*hermes.PrefixBreak, int) { return f.watch.Broken(f.ref.ID) }

// Stop ends what runs in the background.
func (f *follower) Stop() { f.tools.Stop(f.ref) }

// webGuard makes the guard of all requests that tools send: it decides which addresses may
// be fetched. Requests to services that the user configured (models, memory, logins) are not
// a tool's.
func (a *App) webGuard() (*netguard.Guard, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	blocked, err := a.blocked()
	if err != nil {
		return nil, err
	}
	choose, err := httpc.ProxiesOf(cfg.Getenv).Func()
	return &netguard.Guard{
		Private: cfg.Security().AllowPrivateURLs || netguard.On(cfg.Getenv("HERMES_ALLOW_PRIVATE_URLS")),
		IPv4:    cfg.Network().ForceIPv4, Proxy: choose, Blocked: blocked.forbids, Resolve: a.opts.Sandbox.Resolve,
	}, err
}
