package app

import (
	"cmp"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"hermes"
	"hermes/internal/auxiliary"
	"hermes/internal/config"
	"hermes/internal/confine"
	"hermes/internal/environment"
	"hermes/internal/hook/script"
	"hermes/internal/isolation"
	"hermes/internal/lineshell"
	"hermes/internal/netguard"
	"hermes/internal/sandbox/plan"
	"hermes/internal/shellstate"
	"hermes/internal/undo"
)

// scripts is the hooks that the user configured. All sessions share it.
type scripts struct {
	entries  []script.Entry
	webhooks []script.Webhook
	problems []script.Problem
	consents *script.Consents
	accept   bool
	client   *http.Client
	outbound *script.Outbound
}

// makeScripts reads the hooks of the settings. It starts nothing.
func (a *App) makeScripts() *scripts {
	cfg, err := a.config()
	if err != nil { // reported where the configuration is used
		return &scripts{}
	}
	s := &scripts{accept: cfg.General().HooksAutoAccept}
	s.entries, s.webhooks, s.problems = script.Parse(cfg.Hooks(), cfg.Home().Config())
	s.consents = script.NewConsents(cfg.Home().HookConsents(), a.opts.Now)
	s.consents.Journal(func(ctx context.Context, what, path string, write func() error) error {
		return a.changes(cfg.Home()).Record(ctx, undo.Note{Kind: "hooks", Actor: "person", What: what}, []string{path}, write)
	})
	guard, err := a.webGuard()
	if err != nil {
		a.log().Warn("hooks send no requests", "err", err)
	} else {
		s.client = guard.Client(netguard.Limits{Bytes: 1<<20 + 1, UserAgent: "hermes/" + Version, Redirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }})
		a.closing(func() error { s.client.CloseIdleConnections(); return nil })
	}
	s.outbound = script.NewOutbound(a.scriptConfig(cfg, s), func(id script.Identity) bool { return s.agreed(context.Background(), id) }, s.webhooks...)
	a.closing(s.outbound.Close)
	return s
}

// agreed reports whether the user has agreed to what is no part of a session.
func (s *scripts) agreed(ctx context.Context, id script.Identity) bool {
	ok, err := s.consents.Has(id)
	if !ok && err == nil && s.accept {
		return s.consents.Agree(ctx, "hooks_auto_accept", id) == nil
	}
	return ok
}

// scriptConfig is what all hooks of the user share.
func (a *App) scriptConfig(cfg *config.Config, s *scripts) script.Config {
	userHome, _ := os.UserHomeDir() // without one ~ stays as it is
	return script.Config{
		Home: userHome, Profile: cfg.Home().Profile(), Consents: s.consents, Accept: s.accept, LookupEnv: cfg.LookupEnv, Client: s.client, Outbound: s.outbound,
		Now: a.opts.Now, Log: a.log(),
	}
}

// scripted returns the tools with the hooks that are configured for a session, which are nil if there are
// none. The caller closes them after the session.
func (a *App) scripted(cfg *config.Config, run hermes.RunSpec) (*tooling, *script.Session) {
	tools, s := a.tooling(), a.scripts()
	own := s.entries
	brought, ready := a.projectHooks(run)
	if len(own)+len(brought) == 0 && s.outbound == nil {
		return tools, nil
	}
	c := a.scriptConfig(cfg, s)
	c.Dir, c.Session = a.hookDir(cfg, run), script.About{ID: run.Session, Child: run.Origin.Depth > 0, Elsewhere: run.Workspace.Elsewhere()}
	c.Transcripts, c.Ask = a.hookTranscripts(cfg), a.askForHook
	if cfg.Security().RedactSecrets {
		c.Mask = a.Mask
	}
	sets := []script.Set{{Entries: own, Open: a.hookPlace(cfg, c.Dir, "user", nil)}}
	for _, set := range brought {
		set.Open = a.hookPlace(cfg, set.Dir, "project "+set.Dir, ready)
		sets = append(sets, set)
	}
	session := script.NewSession(c, sets...)
	if session == nil {
		return tools, nil
	}
	with := *tools
	with.hooks = tools.hooks.With(session.Hook())
	return &with, session
}

// hookTranscripts says how hooks get a file of the conversation: out of reach of the tools, as the copies of scripts are.
func (a *App) hookTranscripts(cfg *config.Config) script.Transcripts {
	return script.Transcripts{Folder: cfg.Home().HookTranscripts(), Version: Version, Read: func(ctx context.Context, session string, r hermes.Range) ([]hermes.Message, error) {
		db, err := a.Database(ctx)
		if err != nil {
			return nil, err
		}
		return db.Messages(ctx, session, r)
	}}
}

// askForHook asks a model about an event, as the side task hook.
func (a *App) askForHook(ctx context.Context, q script.Question) (string, error) {
	return a.aux().Ask(ctx, auxiliary.Call{
		Task: auxiliary.Hook, Main: cmp.Or(q.Model, q.Session.Model), Session: q.Session.ID, Scope: hermes.Scope{Turn: q.Session.Turn},
		System: q.System, Prompt: q.Text, MaxTokens: 2000, Effort: hermes.EffortNone, Within: q.Timeout,
	})
}

// hookDir is the folder in which the hooks of a session run: always one of this machine.
func (a *App) hookDir(cfg *config.Config, run hermes.RunSpec) string {
	dir := run.Workspace.Dir
	if run.Workspace.Elsewhere() {
		if dir = run.Workspace.Mount; dir == "" {
			dir = cfg.Home().Cache("hooks")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				a.log().Warn("make the folder of hooks", "err", err)
			}
		}
		return dir
	}
	if here, err := thereOrHere(dir); err == nil {
		dir = here
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return dir
}

// hookPlace returns what makes the place in which the commands of hooks run: in a folder of this machine,
// behind walls of their own. ready, if it is not nil, is called before, and says what else they must be able to read.
func (a *App) hookPlace(cfg *config.Config, dir, name string, ready func() (read []string, err error)) func(context.Context, script.Needs) (script.Place, error) {
	return func(_ context.Context, need script.Needs) (script.Place, error) {
		if ready != nil {
			more, err := ready()
			if err != nil {
				return nil, err
			}
			need.Read = slices.Concat(need.Read, more)
		}
		c := a.variables(cfg)
		c.Dir, c.Temp, c.Guard, c.Passthrough = dir, cfg.Terminal().TempDir, &a.guard, cfg.Terminal().EnvPassthrough
		c.Processes = mostProcesses
		c.Home, _ = os.UserHomeDir()
		at := linePlace{}
		var err error
		if a.opts.Sandbox.Keeper { // this program is the shell, too
			if at.program, err = os.Executable(); err != nil {
				return nil, err
			}
		}
		switch _, missing := os.Stat("/bin/sh"); {
		case missing == nil:
			c.Shell = "/bin/sh"
		case at.program != "":
			c.Shell, c.ShellArgs, at.program = at.program, []string{lineshell.Name}, ""
		}
		if c.Walls, err = a.hookWalls(cfg, c, name, need); err != nil {
			return nil, err
		}
		c.Bare = a.bare()
		if at.Local, err = environment.NewLocal(c); err != nil {
			return nil, err
		}
		return at, nil
	}
}

// linePlace runs lines in the shell of this program, and those that every shell reads in the same way in that of
// the system: it starts in a fraction of the time.
type linePlace struct {
	*environment.Local
	program string // the shell of lines; "" is that of the environment
}

// Exec runs a line until it ends; see [hermes.Environment].
func (p linePlace) Exec(ctx context.Context, c hermes.Command) (hermes.Exit, error) {
	if p.program != "" && !lineshell.Plain(c.Line) {
		c.Line = "exec " + shellstate.Quote(p.program) + " " + lineshell.Name + " -c " + shellstate.Quote(c.Line)
	}
	return p.Local.Exec(ctx, c)
}

// hookWalls makes the walls around the commands of hooks, nil if the settings want none.
func (a *App) hookWalls(cfg *config.Config, local environment.LocalConfig, name string, need script.Needs) (isolation.Walls, error) {
	p, err := a.confinement()
	if p == nil || err != nil {
		if why := a.HostWalls(context.Background()).Refusal(cfg.Terminal().Sandbox); err == nil && why != "" {
			return isolation.NoCommands(why), nil
		}
		return nil, err
	}
	var granted []hermes.Need
	for _, path := range need.Write {
		granted = append(granted, hermes.Need{Kind: hermes.RefusedWrite, Name: path})
	}
	return p.Walls(confine.Config{
		Profile: plan.Hook, Name: name, Workspace: local.Dir, Environ: slices.Clone(environment.Variables(local)),
		Granted: func() []hermes.Need { return granted }, Given: func() []string { return need.Read },
	}), nil
}

// hookFaults are problems as the configuration reports them.
func hookFaults(problems []script.Problem) (list []config.HookFault) {
	for _, p := range problems {
		list = append(list, config.HookFault{Key: p.Key, Text: p.Text, Served: p.Served, Planned: p.Waits})
	}
	return list
}
