package app

import (
	"context"
	"os"
	"path/filepath"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/hook"
	"hermes/internal/tool/clarify"
	"hermes/internal/tool/file"
	"hermes/internal/tool/learning"
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
			MaxOutput: cfg.ToolOutput().MaxBytes, Wake: wake, Now: a.opts.Now,
			SudoPassword: func() (hermes.Secret, bool) { // which may be empty
				v, ok := cfg.LookupEnv("SUDO_PASSWORD")
				return hermes.Secret(v), ok
			},
		}),
		todo: todo.New(),
	}
	k.sets = append([]hermes.Toolset{k.files, k.shell, k.todo, sessionsearch.New(a.searched, a.opts.Now), a.memoryTools(), clarify.New(), a.skillTools(), learning.New(a.Learned(), a.opts.Now)}, a.opts.Extra...)
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

// searched opens the store for session_search.
func (a *App) searched(ctx context.Context) (sessionsearch.Store, error) { return a.Store(ctx) }

// catalogue joins the toolsets with the table of names.
func (a *App) catalogue(cfg *config.Config, k *sessionTools) *toolset.Catalogue {
	return toolset.NewCatalogue(k.sets, toolset.ParseCustom(cfg.CustomToolsets()), a.opts.Now)
}

// selection returns which toolsets a session gets.
func selection(cfg *config.Config, run hermes.RunSpec) toolset.Selection {
	return toolset.Choose(run, toolset.Defaults{Platforms: cfg.PlatformToolsets(), Always: cfg.General().Toolsets, Disabled: cfg.Agent().DisabledToolsets})
}
