package app

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/hook"
	snapshots "hermes/internal/hook/checkpoint"
	"hermes/internal/plugin"
	"hermes/internal/policy"
	"hermes/internal/redact"
	"hermes/internal/tool/browser"
	"hermes/internal/tool/checkpoint"
	"hermes/internal/tool/clarify"
	"hermes/internal/tool/codeexecution"
	"hermes/internal/tool/file"
	"hermes/internal/tool/learning"
	"hermes/internal/tool/moa"
	"hermes/internal/tool/sessionsearch"
	"hermes/internal/tool/terminal"
	"hermes/internal/tool/todo"
	"hermes/internal/tool/toolsearch"
	"hermes/internal/toolbox"
	"hermes/internal/toolset"
)

// tooling is the tools of the program and what watches them. All sessions share it.
type tooling struct {
	sets      []hermes.Toolset
	hooks     *hook.Hooks
	catalogue *toolset.Catalogue
	files     *file.Toolset
	shell     *terminal.Toolset
	surf      *browser.Toolset
	browsers  *browsers       // nil without a configuration
	mixture   *moa.Toolset    // nil without a configuration
	plugins   *plugin.Plugins // nil without a configuration
	// notPlugged says why plugins that are enabled are not used.
	notPlugged error
}

// makeTooling makes the toolsets. It is the only list of all toolsets and hooks, and starts
// nothing.
func (a *App) makeTooling() *tooling {
	cfg, err := a.config()
	if err != nil { // reported where the configuration is used
		return &tooling{catalogue: toolset.NewCatalogue(nil, nil, a.opts.Now)}
	}
	files := a.newFiles(cfg)
	shell := a.newTerminal(cfg, files)
	scripts := a.newCodeExecution(cfg, shell)
	stores := a.checkpointStores(cfg)
	kept := a.newCheckpoint(cfg, stores, files)
	mixture := a.newMixture(cfg)
	surf, browsers := a.newBrowser(cfg)
	sets := append([]hermes.Toolset{
		files, kept, shell, scripts, todo.New(), sessionsearch.New(func(ctx context.Context) (sessionsearch.Store, error) { return a.Database(ctx) }, a.opts.Now), a.memoryTools(), clarify.New(), a.skillTools(), learning.New(a.Learned(), a.opts.Now),
		newDelegation(cfg), a.newMessaging(), a.newSessionTools(), mixture,
		a.newWeb(cfg), surf,
		toolsearch.New(), // only sessions with a toolset whose tools come late have it
	}, a.opts.Extra...)
	if servers := a.mcp(); servers != nil {
		a.closing(servers.Close)
	}
	plugged, notPlugged := a.makePlugins(cfg, sets)
	sets = append(sets, plugged.Toolsets()...)
	a.closing(plugged.Close)
	for _, set := range sets {
		if c, ok := set.(io.Closer); ok {
			a.closing(c.Close)
		}
	}
	return &tooling{
		sets: sets, surf: surf, browsers: browsers, mixture: mixture, files: files, shell: shell, plugins: plugged, notPlugged: notPlugged,
		hooks: hook.New(a.log(), append(plugged.Hooks(), files.Hook(), shell.Hook(), scripts.Hook(), surf.Hook(), a.watch().Hook(), a.learningHook(),
			a.review().Hook(), kept.Hook(), a.checkpointHook(cfg, stores), a.carriedHook(cfg))...),
		catalogue: a.newCatalogue(cfg, sets),
	}
}

// newCatalogue makes a catalogue of toolsets and those of the MCP servers.
func (a *App) newCatalogue(cfg *config.Config, sets []hermes.Toolset) *toolset.Catalogue {
	c := toolset.NewCatalogue(sets, toolset.ParseCustom(cfg.CustomToolsets()), a.opts.Now)
	if servers := a.mcp(); servers != nil {
		c.Join(servers)
	}
	return c
}

// newTerminal makes the tools for commands.
func (a *App) newTerminal(cfg *config.Config, files *file.Toolset) *terminal.Toolset {
	userHome, _ := os.UserHomeDir() // without one, commands are judged only by their text
	wake := a.wake
	var mask func() func(string) string
	if cfg.Security().RedactSecrets { // neither the output of a background process nor what is shown of a running command is a tool result
		wake = func(session, text string) { a.wake(session, a.Mask(text)) }
		mask = func() func(string) string { return a.mask().Stream().Write }
	}
	return terminal.New(terminal.Config{
		Home: userHome, Hermes: cfg.Home().Root(), PID: os.Getpid(), Timeout: cfg.Terminal().Timeout,
		MaxOutput: cfg.ToolOutput().MaxBytes, Links: a.protectedLinks(cfg), Wake: wake, Mask: mask, Now: a.opts.Now, Declared: isDeclared(cfg), Wrote: a.wrote(files),
		SudoPassword: func() (hermes.Secret, bool) { // which may be empty
			v, ok := cfg.LookupEnv("SUDO_PASSWORD")
			return hermes.Secret(v), ok
		},
	})
}

// newCheckpoint makes the tools for snapshots of files.
func (a *App) newCheckpoint(cfg *config.Config, stores *snapshots.Stores, files *file.Toolset) *checkpoint.Toolset {
	c := checkpoint.Config{Files: files}
	if cfg.Checkpoints().Enabled {
		c.Of = stores.Of
	}
	return checkpoint.New(c)
}

// newCodeExecution makes the tool for scripts. What they run is judged as commands are.
func (a *App) newCodeExecution(cfg *config.Config, shell *terminal.Toolset) *codeexecution.Toolset {
	s := cfg.CodeExecution()
	c := codeexecution.Config{
		Timeout: s.Timeout, MaxCalls: s.MaxToolCalls, Strict: s.Mode == "strict", Idle: s.KernelIdleTimeout, Kernels: s.MaxSessionKernels,
		Passthrough: cfg.Terminal().EnvPassthrough, Judge: shell.Judge, Save: toolbox.Spillover{Dir: cfg.Home().Cache("exec")}.Keep, Now: a.opts.Now,
		Cache: cfg.Home().Cache("micropython"),
	}
	if cfg.Security().RedactSecrets {
		c.Mask = a.Mask
	}
	return codeexecution.New(c)
}

// protectedLinks are the protected files that are links, in the home of the user and in those of Hermes.
func (a *App) protectedLinks(cfg *config.Config) *policy.Links {
	userHome, _ := os.UserHomeDir() // without one, none is known there
	return policy.NewLinks(userHome, slices.Compact([]string{cfg.Home().Root(), cfg.Home().Join("")}), a.opts.Now)
}

// wake sends a live session a message from the program.
func (a *App) wake(session, text string) {
	a.mu.Lock()
	m := a.sessions
	a.mu.Unlock()
	if m != nil {
		m.Wake(session, text)
	}
}

// newFiles makes the file tools. All sessions share them, so that they see each other's
// writes.
func (a *App) newFiles(cfg *config.Config) *file.Toolset {
	out := cfg.ToolOutput()
	c := file.Config{
		ReadMaxChars: cfg.General().FileReadMaxChars, MaxLines: out.MaxLines, MaxLineLength: out.MaxLineLength,
		State: cfg.Home().Root(), Links: a.protectedLinks(cfg), TrustWrites: cfg.Getenv("HERMES_DISABLE_FILE_STATE_GUARD") == "1",
		Hidden: func(text string) []redact.Hidden { return a.mask().Hidden(text) },
	}
	if self, err := os.Executable(); err == nil { // else there is nothing to protect
		c.Program, _ = filepath.EvalSymlinks(self)
	}
	for _, dir := range filepath.SplitList(cfg.Getenv("PATH")) {
		if real, err := filepath.EvalSymlinks(dir); err == nil && filepath.IsAbs(dir) {
			c.Path = append(c.Path, dir, real)
		}
	}
	if roots := cfg.Getenv("HERMES_WRITE_SAFE_ROOT"); roots != "" {
		c.SafeRoots = filepath.SplitList(roots)
	}
	return file.New(c)
}

// selection returns which toolsets a session gets.
func selection(cfg *config.Config, run hermes.RunSpec) toolset.Selection {
	s := toolset.Choose(run, toolset.Defaults{Platforms: cfg.PlatformToolsets(), Always: cfg.General().Toolsets, Disabled: cfg.Agent().DisabledToolsets})
	s.DeferAbove = cfg.MCP().DeferTokens
	if name := cfg.Memory().Provider; run.Prompt.IgnoreRules && plugin.ValidName(name) { // as Choose does with memory
		s.Disabled = append(s.Disabled, plugin.ToolsetName(name))
	}
	return s
}
