package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/term"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chooser"
	"hermes/internal/cmd/chat"
	"hermes/internal/cmd/config"
	"hermes/internal/cmd/logs"
	"hermes/internal/cmd/model"
	"hermes/internal/cmd/promptsize"
	"hermes/internal/cmd/sessions"
	"hermes/internal/cmd/tools"
	"hermes/internal/cmd/undo"
	settings "hermes/internal/config"
	"hermes/internal/home"
	"hermes/internal/proc"
	"hermes/internal/setup"
	"hermes/internal/store"
	journal "hermes/internal/undo"
)

// The dependencies of each command. Every command makes its own app when it runs.

func measure(g *chat.Options) promptsize.Measure {
	return func(ctx context.Context, platform string) (promptsize.Measured, error) {
		a := app.New(g.App)
		defer a.Close()
		run, err := g.RunOn(platform)
		if err != nil {
			return promptsize.Measured{}, err
		}
		p, specs, err := a.Measure(ctx, run)
		m := promptsize.Measured{Prompt: p, Tools: specs}
		m.Model, m.Window, m.Price = a.ModelFacts(run)
		return m, err
	}
}

func toolsDeps(g *chat.Options) tools.Deps {
	return tools.Deps{
		Open: func(_ context.Context, platform string) (tools.Opened, func() error, error) {
			run, err := g.RunOn(platform)
			if err != nil {
				return tools.Opened{}, nil, err
			}
			a := app.New(g.App)
			c, sel, err := a.Toolsets(run)
			return tools.Opened{Catalogue: c, Selection: sel}, a.Close, err
		},
		Load: func() (*settings.Config, error) { return app.New(g.App).Config() },
	}
}

func logsDeps(g *chat.Options) logs.Deps {
	return logs.Deps{
		Folder: func() (string, error) {
			h, err := app.New(g.App).Home()
			return h.Logs(), err
		},
		Mask: app.New(g.App).Mask, Now: time.Now,
	}
}

func undoDeps(p Process, g *chat.Options) undo.Deps {
	return undo.Deps{
		Open: func() (*journal.Journal, func() error, error) {
			a := app.New(g.App)
			j, err := a.Changes()
			return j, a.Close, err
		},
		Terminal: func() bool { return terminal(p.Stdin) }, Now: time.Now,
	}
}

func doctorDeps(p Process, g *chat.Options) (setup.Deps, error) {
	h, err := app.New(g.App).Home()
	if err != nil {
		return setup.Deps{}, err
	}
	return setup.Deps{
		Home: h,
		Load: func() *settings.Config {
			c, err := app.New(g.App).Config()
			if err != nil { // reported by the check of the home
				return settings.Load(h, settings.Options{IgnoreUser: g.App.IgnoreUserConfig})
			}
			return c
		},
		Database: func(ctx context.Context) error {
			a := app.New(g.App)
			db, err := a.Database(ctx)
			if err != nil {
				return err
			}
			return errors.Join(db.Check(ctx), a.Close())
		},
		Model: func(ctx context.Context) (string, error) {
			ref, source, err := app.New(g.App).Models().Current(ctx, g.Run.Model)
			return ref + " (" + source + ")", err
		},
		LookPath: exec.LookPath, Getenv: p.Getenv, Free: home.Free,
		Terminal: setup.Terminal{Input: terminal(p.Stdin), Output: terminal(p.Stdout), Columns: g.Width()},
		OS:       runtime.GOOS, Now: time.Now,
	}, nil
}

func configDeps(p Process, g *chat.Options) config.Deps {
	return config.Deps{
		Load: func() (*settings.Config, error) { return app.New(g.App).Config() },
		Edit: func(ctx context.Context, path string) error { return edit(ctx, p, path) },
	}
}

// edit opens a file in the user's editor.
func edit(ctx context.Context, p Process, path string) error {
	editor := cmp.Or(p.Getenv("VISUAL"), p.Getenv("EDITOR"))
	if editor == "" && !terminal(p.Stdin) {
		return fmt.Errorf("no terminal for an editor; use `hermes config set KEY VALUE`, or open %s yourself", path)
	}
	editor = cmp.Or(editor, "vi")
	words := strings.Fields(editor)
	err := proc.Foreground(ctx, append(words, path), p.Stdin, p.Stdout, p.Stderr)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("the editor %s exited with status %d, so the file was not checked; run `hermes config check`", editor, exit.ExitCode())
	}
	if err != nil {
		return fmt.Errorf("cannot start the editor %s; set EDITOR to an installed editor, or open %s yourself", editor, path)
	}
	return nil
}

func sessionDeps(p Process, g *chat.Options) sessions.Deps {
	a := app.New(g.App) // only masks
	return sessions.Deps{
		Mask: a.Mask, Shown: a.Shown,
		Open: func(ctx context.Context) (hermes.Store, error) {
			return app.New(g.App).Store(ctx) // the command closes it
		},
		Read: func(ctx context.Context) (hermes.Store, error) {
			return app.New(g.App).Reader(ctx)
		},
		Repair: func(ctx context.Context) (store.Repaired, error) {
			return app.New(g.App).Repair(ctx)
		},
		MaxExport: func() (int, error) {
			c, err := app.New(g.App).Config()
			if err != nil {
				return 0, err
			}
			return c.Sessions().MaxExportMessages, nil
		},
		Terminal: func() bool { return terminal(p.Stdin) },
	}
}

func modelDeps(p Process, g *chat.Options) model.Deps {
	return model.Deps{
		Current: func(ctx context.Context) (string, string, error) {
			a := app.New(g.App)
			defer a.Close()
			return a.Models().Current(ctx, g.Run.Model)
		},
		Services: func() ([]model.Service, error) {
			a := app.New(g.App)
			defer a.Close()
			models, err := a.Models().Catalogue()
			if err != nil {
				return nil, err
			}
			cfg, err := a.Config()
			if err != nil {
				return nil, err
			}
			var out []model.Service
			set := cfg.Providers()
			for _, id := range models.Configured() {
				if name, own := strings.CutPrefix(id, "custom:"); own || id == "custom" {
					out = append(out, model.Service{Name: id, Title: cmp.Or(set[name].Name, name), Own: true})
				}
			}
			for _, r := range models.Rows() {
				out = append(out, model.Service{Name: r.Name, Title: r.Title, Missing: models.Ready(r.Name), Guessed: r.NoKey && set[r.Name].BaseURL == "", Own: r.NoKey})
			}
			return out, nil
		},
		Models: func(ctx context.Context, service string) ([]string, error) {
			a := app.New(g.App)
			defer a.Close()
			return a.Models().Names(ctx, service)
		},
		Resolve: func(ctx context.Context, ref string) (string, error) {
			a := app.New(g.App)
			defer a.Close()
			models, err := a.Models().Catalogue()
			if err != nil {
				return "", err
			}
			m, err := models.Model(ctx, ref)
			if err != nil {
				return "", err
			}
			return m.ID(), nil
		},
		Save: func(ctx context.Context, ref string) (string, error) {
			cfg, err := app.New(g.App).Config()
			if err != nil {
				return "", err
			}
			c, err := cfg.Set(ctx, "model.default", ref)
			return c.File, err
		},
		Terminal: func() bool { return terminal(p.Stdin) },
		Choose:   newChooser(p),
	}
}

// newChooser shows lists on the terminal. It is nil if the terminal cannot show
// them.
func newChooser(p Process) func(title string, items []string, current int) (int, error) {
	in, fromFile := p.Stdin.(*os.File)
	out, toFile := p.Stdout.(*os.File)
	if !fromFile || !toFile || !terminal(in) || !terminal(out) || p.Getenv("TERM") == "dumb" {
		return nil
	}
	return func(title string, items []string, current int) (int, error) {
		return chooser.Run(chooser.Options{Title: title, Items: items, Current: current, In: in, Out: out})
	}
}

func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
