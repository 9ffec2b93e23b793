package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/hook"
	"hermes/internal/tool/clarify"
	"hermes/internal/tool/file"
	"hermes/internal/tool/sessionsearch"
	"hermes/internal/tool/terminal"
	"hermes/internal/tool/todo"
	"hermes/internal/toolset"
)

// sessionTools is the tools of one session, before selection.
type sessionTools struct {
	sets  []hermes.Toolset
	hooks *hook.Hooks

	files *file.Toolset
	shell *terminal.Toolset
	todo  *todo.Toolset
}

// newSessionTools makes the toolsets of a session. It is the only list of all
// toolsets.
func (a *App) newSessionTools(cfg *config.Config, wake func(string)) *sessionTools {
	userHome, _ := os.UserHomeDir()   // without one, commands are judged only by their text
	if cfg.Security().RedactSecrets { // the output of a background process is no tool result
		told := wake
		wake = func(text string) { told(a.Mask(text)) }
	}
	k := &sessionTools{
		files: a.files(),
		shell: terminal.New(terminal.Config{
			Home: userHome, Hermes: cfg.Home().Root(), PID: os.Getpid(), Timeout: cfg.Terminal().Timeout,
			MaxOutput: cfg.ToolOutput().MaxBytes, SudoPassword: sudoPassword(cfg), Wake: wake, Now: a.opts.Now,
		}),
		todo: todo.New(),
	}
	k.sets = append([]hermes.Toolset{k.files, k.shell, k.todo, sessionsearch.New(a.searched, a.opts.Now), a.memoryTools(), clarify.New(), a.skillTools(), a.learningTools()}, a.opts.Extra...)
	k.hooks = hook.New(a.log(), k.files.Hook(), a.learningHook(), a.review().Hook())
	return k
}

// makeFiles makes the file tools of the process. All sessions share them, so that
// they see each other's writes.
func (a *App) makeFiles() *file.Toolset {
	cfg, err := a.config()
	if err != nil { // reported where the configuration is used
		return file.New(file.Config{})
	}
	out := cfg.ToolOutput()
	c := file.Config{
		ReadMaxChars: cfg.General().FileReadMaxChars, MaxLines: out.MaxLines, MaxLineLength: out.MaxLineLength,
		State: cfg.Home().Root(), TrustWrites: cfg.Getenv("HERMES_DISABLE_FILE_STATE_GUARD") == "1",
	}
	if roots := cfg.Getenv("HERMES_WRITE_SAFE_ROOT"); roots != "" {
		c.SafeRoots = filepath.SplitList(roots)
	}
	return file.New(c)
}

// restore restores the state of the tools from a stored transcript.
func (k *sessionTools) restore(session string, transcript []hermes.Message) {
	k.todo.Restore(session, transcript)
	k.shell.Restore(transcript)
}

// stopProcesses ends the background processes of a session.
func (k *sessionTools) stopProcesses() { k.shell.StopAll() }

// searched opens the store for session_search.
func (a *App) searched(ctx context.Context) (sessionsearch.Store, error) { return a.Store(ctx) }

// sudoPassword returns the configured password, which may be empty.
func sudoPassword(cfg *config.Config) func() (hermes.Secret, bool) {
	return func() (hermes.Secret, bool) {
		v, ok := cfg.LookupEnv("SUDO_PASSWORD")
		return hermes.Secret(v), ok
	}
}

// catalogue joins the toolsets with the table of names.
func (a *App) catalogue(cfg *config.Config, k *sessionTools) *toolset.Catalogue {
	return toolset.NewCatalogue(k.sets, toolset.ParseCustom(cfg.CustomToolsets()), a.opts.Now)
}

// selection returns which toolsets a session gets: those of its run, else of the platform,
// else of the setting toolsets.
func selection(cfg *config.Config, run hermes.RunSpec) toolset.Selection {
	s := toolset.Selection{
		Enabled: run.Tools.Enabled, Disabled: slices.Concat(cfg.Agent().DisabledToolsets, run.Tools.Disabled), Only: run.Tools.Only,
		Platform: presetOf(run.Origin.Platform),
	}
	if run.Prompt.IgnoreRules {
		s.Disabled = append(s.Disabled, "memory")
	}
	if len(s.Enabled) == 0 {
		s.Enabled = cfg.PlatformToolsets()[s.Platform]
	}
	if len(s.Enabled) == 0 {
		s.Enabled = cfg.General().Toolsets
	}
	return s
}

// presetOf returns the platform whose toolsets a session gets: those of the chat for a question
// on the command line and for a child, whose parent narrows them.
func presetOf(platform string) string {
	switch platform {
	case "", "oneshot", "demo", "subagent":
		return "cli"
	}
	return platform
}

// toolset reports whether a toolset or tool has a name, and lists all names.
func (a *App) toolset(cfg *config.Config, name string) (known bool, names []string) {
	c := a.catalogue(cfg, a.newSessionTools(cfg, func(string) {}))
	if names = c.Names(); slices.Contains(names, name) { // without loading any tools
		return true, names
	}
	_, unknown := c.Expand(context.Background(), name)
	tools, _ := c.Expand(context.Background(), "all")
	return len(unknown) == 0, append(names, tools...)
}
