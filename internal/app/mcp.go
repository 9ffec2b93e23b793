package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes"
	"hermes/internal/auxiliary"
	"hermes/internal/config"
	"hermes/internal/confine"
	"hermes/internal/environment"
	"hermes/internal/isolation"
	"hermes/internal/mcp"
	"hermes/internal/mcp/known"
	"hermes/internal/mcp/login"
	"hermes/internal/mcp/setting"
	"hermes/internal/netguard"
	"hermes/internal/sandbox/plan"
	"hermes/internal/trust"
)

// mcpSettings reads the settings of the MCP servers: the user's own, and those of the project of
// the working folder if the user trusts it. notes are for the user: what is ignored, and the
// servers that cannot be used.
func (a *App) mcpSettings(cfg *config.Config) (list []setting.Server, notes []string) {
	own := cfg.MCPServers()
	list, notes = readServers(own, MCPVars(cfg), "")
	dir, err := os.Getwd()
	if err != nil {
		return list, notes
	}
	p, d, err := a.Project(dir)
	if err != nil || d.State != trust.Trusted {
		return list, notes // the user is asked, or was told, where the session begins
	}
	taken := map[string]bool{}
	for name := range own {
		taken[name] = true
	}
	for _, f := range slices.Concat(p.Named(trust.MCP), p.Named(trust.CursorMCP)) {
		servers, err := setting.ReadFile(f.Content) // what was hashed
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s: %v", filepath.Join(f.Folder, f.Name), err))
			continue
		}
		raw := map[string]any{}
		for name, m := range servers {
			if taken[name] {
				notes = append(notes, fmt.Sprintf("%s: the MCP server %s is left out, since there is another one of that name", filepath.Join(f.Folder, f.Name), name))
				continue
			}
			taken[name], raw[name] = true, m
		}
		vars := setting.Vars{Lookup: a.projectLookup(cfg), Home: MCPVars(cfg).Home, Workspace: f.Folder}
		more, n := readServers(raw, vars, f.Folder)
		list, notes = append(list, more...), append(notes, n...)
	}
	return list, notes
}

// projectLookup returns variables as a project may name them: those of the process, without the
// keys and secrets of Hermes.
func (a *App) projectLookup(cfg *config.Config) func(name string) (string, bool) {
	c := a.variables(cfg)
	return func(name string) (string, bool) {
		v := a.opts.Getenv(name)
		if v == "" || environment.KeyOf(name) != "" || c.KeyOf(name) != "" || environment.HoldsKey(c, v) || cfg.Stored(name) != "" {
			return "", false
		}
		return v, true
	}
}

// readServers reads the settings of servers. project is the folder that brings them along.
func readServers(raw map[string]any, vars setting.Vars, project string) (list []setting.Server, notes []string) {
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		s, more, err := setting.Parse(name, raw[name], vars)
		if notes = append(notes, more...); err != nil {
			notes = append(notes, err.Error())
			continue
		}
		if s.Project = project; project != "" && s.Dir == "" {
			s.Dir = project
		}
		list = append(list, s)
	}
	return list, notes
}

// MCPVars are what the settings of MCP servers may name.
func MCPVars(cfg *config.Config) setting.Vars {
	vars := setting.Vars{Lookup: cfg.LookupEnv}
	vars.Home, _ = os.UserHomeDir() // without one its name stays as it is
	vars.Workspace, _ = os.Getwd()
	return vars
}

// makeMCP makes the MCP servers of the settings. It starts none.
func (a *App) makeMCP() *mcp.Servers {
	cfg, err := a.config()
	if err != nil { // reported where the configuration is used
		return nil
	}
	list, notes := a.mcpSettings(cfg)
	servers, err := mcp.New(a.mcpConfig(cfg), list)
	a.noteMCP(notes, err)
	return servers
}

func (a *App) noteMCP(notes []string, err error) {
	for _, n := range notes {
		a.log().Warn("MCP servers", "note", n)
	}
	if err != nil {
		a.log().Warn("MCP servers", "err", err)
	}
}

// ReloadMCP reads the settings of the MCP servers again, ends those that are gone or have changed,
// and starts the others that are new. With restart it also ends and starts those that are the same.
func (a *App) ReloadMCP(restart bool) (changes mcp.Changes, notes []string, err error) {
	servers := a.mcp()
	if servers == nil {
		_, err := a.config()
		return changes, nil, err
	}
	cfg, err := a.ReadConfig()
	if err != nil {
		return changes, nil, err
	}
	list, notes := a.mcpSettings(cfg)
	changes, err = servers.Reload(list, restart)
	return changes, notes, err
}

// mcpConfig is what MCP servers need of the program.
func (a *App) mcpConfig(cfg *config.Config) mcp.Config {
	unsaved := &login.Unsaved{}
	return mcp.Config{
		Version: Version, Environment: func(s setting.Server) (hermes.Environment, error) { return a.serverEnvironment(cfg, s) },
		Client: func(s setting.Server) (*http.Client, error) { return a.serverClient(cfg, s, unsaved) },
		Sample: a.sampleFor, Malware: a.malware(), Roots: func() []string { return []string{a.serverDir()} },
		Cache: cfg.Home().Cache("mcp"), Approvals: cfg.Home().Join("mcp-tools.json"), ResultLimit: cfg.ToolBudget().MCPResultChars,
		Delay: startDelay, Now: a.opts.Now, Log: a.log(),
	}
}

// startDelay is longer than it takes to send the first prompt.
const startDelay = 300 * time.Millisecond

// serverDir is the folder in which programs of MCP servers work and which they may read.
func (a *App) serverDir() string {
	dir, err := os.Getwd()
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return os.TempDir()
	}
	return dir
}

// serverEnvironment makes the place of one program of an MCP server: with basic variables, and
// walls of its own.
func (a *App) serverEnvironment(cfg *config.Config, s setting.Server) (hermes.Environment, error) {
	userHome, _ := os.UserHomeDir() // without one ~ stays as it is
	c := a.variables(cfg)
	c.Env = slices.DeleteFunc(slices.Clone(c.Env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !basicVariable(name)
	})
	c.Dir, c.Home, c.Temp, c.Guard = a.serverDir(), userHome, cfg.Terminal().TempDir, &a.guard
	c.Processes = mostProcesses
	if s.Dir != "" {
		c.Dir = s.Dir
	}
	var err error
	if c.Walls, err = a.wallsFor(cfg, c, plan.MCP, s.ID(), serverNeeds(s, variable(c.Env, "PATH"), userHome)); err != nil {
		return nil, err
	}
	c.Bare = a.bare()
	return environment.NewLocal(c)
}

// variable returns the value of a variable in a list of NAME=value.
func variable(environ []string, name string) string {
	for _, v := range environ {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// basicVariable reports whether a program of an MCP server gets a variable of this process.
func basicVariable(name string) bool {
	name = strings.ToUpper(name)
	return strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_") || slices.Contains([]string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TZ", "TMPDIR",
		"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "USERNAME", "APPDATA", "LOCALAPPDATA",
		"PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMDATA", "HOMEDRIVE", "HOMEPATH", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
	}, name)
}

// serverNeeds are what the settings of a server let its program reach.
func serverNeeds(s setting.Server, path, userHome string) []hermes.Need {
	var needs []hermes.Need
	for _, h := range s.Reach.Hosts {
		needs = append(needs, hermes.Need{Kind: hermes.RefusedHost, Name: h})
	}
	for _, p := range s.Reach.Write {
		needs = append(needs, hermes.Need{Kind: hermes.RefusedWrite, Name: p})
	}
	for _, p := range s.Reads(path, userHome) {
		needs = append(needs, hermes.Need{Kind: hermes.RefusedRead, Name: p})
	}
	return needs
}

// wallsFor makes walls of their own for a program of a kind, nil if the settings want none.
func (a *App) wallsFor(cfg *config.Config, local environment.LocalConfig, kind plan.Profile, name string, needs []hermes.Need) (isolation.Walls, error) {
	return a.wallsOf(cfg, local, confine.Config{Profile: kind, Name: name, Granted: func() []hermes.Need { return needs }})
}

// wallsOf is wallsFor with more of what walls need. Which variables and which folder there are
// is that of the place.
func (a *App) wallsOf(cfg *config.Config, local environment.LocalConfig, c confine.Config) (isolation.Walls, error) {
	workspace, none, err := a.walledFolder(cfg, local.Dir)
	if workspace == "" {
		return none, err
	}
	p, err := a.confinement() // walledFolder has made it
	if err != nil {
		return nil, err
	}
	c.Session, c.Workspace, c.Environ = c.Name, workspace, slices.Clone(environment.Variables(local))
	return p.Walls(c), nil
}

// malware returns what looks up whether the package of a server is known as malware. What may be
// reached is looked up when a server starts: to know it, the settings are checked, which asks for
// the toolsets and so for the servers.
func (a *App) malware() func(ctx context.Context, s setting.Server) string {
	client := sync.OnceValues(func() (*http.Client, error) {
		guard, err := a.webGuard()
		if err != nil {
			return nil, err
		}
		return guard.Client(netguard.Limits{UserAgent: "hermes/" + Version}), nil
	})
	return func(ctx context.Context, s setting.Server) string {
		c, err := client()
		if err != nil {
			return "" // it cannot be asked
		}
		return known.Advisories{Client: c}.Malware(ctx, s.Command, s.Args)
	}
}

// sampleFor asks a model for an MCP server, as the side task mcp.
func (a *App) sampleFor(ctx context.Context, s mcp.Sample) (mcp.Sampled, error) {
	main := s.Session.Model
	if s.Model != "" {
		main = s.Model
	}
	m := a.aux().Model(auxiliary.MCP, main)
	answer, err := hermes.Collect(m.Stream(ctx, &hermes.Request{
		System: s.System, Messages: s.Messages, MaxTokens: s.MaxTokens, Session: s.Session.ID,
	}))
	if err != nil {
		return mcp.Sampled{}, fmt.Errorf("the model did not answer: %w", err)
	}
	return mcp.Sampled{Model: m.ID(), Text: answer.Text()}, nil
}

// KeepMCP approves the tools of a server that was opened without keeping them, as the user was shown
// them.
func (a *App) KeepMCP(server *mcp.Server, shown mcp.Listing) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	return server.Keep(a.mcpConfig(cfg), shown)
}

// OpenMCP connects to a server with these settings. With keep, its tools are approved if it was
// never seen; else [App.KeepMCP] does that. The caller calls done at the end.
func (a *App) OpenMCP(ctx context.Context, s setting.Server, keep bool) (server *mcp.Server, done func(), err error) {
	cfg, err := a.config()
	if err != nil {
		return nil, nil, err
	}
	if _, err := a.confinement(); err != nil {
		return nil, nil, err
	}
	c := a.mcpConfig(cfg)
	if !keep {
		c.Cache, c.Approvals = "", ""
	}
	s.Disabled = false
	servers, err := mcp.New(c, []setting.Server{s})
	if err != nil {
		return nil, nil, err
	}
	servers.Start()
	done = func() { _ = servers.Close() } // it has no error
	server, _ = servers.Server(s.Name)
	if err := server.Ready(ctx); err != nil {
		done()
		return nil, nil, err
	}
	return server, done, nil
}

// KnownMCP returns what is known of the servers of the settings without starting them.
func (a *App) KnownMCP() []mcp.State {
	if s := a.mcp(); s != nil {
		return s.States()
	}
	return nil
}

// MCPNamed returns a server of the settings, which it does not start.
func (a *App) MCPNamed(name string) (*mcp.Server, error) {
	if s := a.mcp(); s != nil {
		if o, ok := s.Server(name); ok {
			return o, nil
		}
	}
	return nil, fmt.Errorf("there is no MCP server %q in the settings, or it is switched off; `hermes mcp list` shows all", name)
}

// ForgetMCP removes what is kept of a server that is removed from the settings.
func (a *App) ForgetMCP(name string) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	err = os.Remove(tokensOf(cfg, setting.Server{Name: name}))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, mcp.Forget(a.mcpConfig(cfg), name))
}

// lentServers are the MCP servers as slash commands see them.
type lentServers struct{ app *App }

// States lists the servers.
func (l lentServers) States() []mcp.State { return l.app.KnownMCP() }

// Settle waits until the servers are connected or have failed.
func (l lentServers) Settle(ctx context.Context) {
	if s := l.app.mcp(); s != nil {
		s.Start()
		s.Settle(ctx)
	}
}

// Reload reads the settings again; see [App.ReloadMCP].
func (l lentServers) Reload(restart bool) (mcp.Changes, []string, error) {
	return l.app.ReloadMCP(restart)
}
