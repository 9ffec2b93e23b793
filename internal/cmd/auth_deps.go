package cmd

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"

	"golang.org/x/term"

	"hermes/internal/app"
	"hermes/internal/cmd/auth"
	"hermes/internal/cmd/chat"
	"hermes/internal/credential"
	"hermes/internal/proc"
	"hermes/internal/provider"
)

func authDeps(p Process, g *chat.Options) auth.Deps {
	made := sync.OnceValue(func() *app.App { return app.New(g.App) }) // once the flags are read
	return auth.Deps{
		Pool:  func(provider string) (string, *credential.Pool, error) { return made().Pool(provider) },
		Pools: func() ([]string, error) { return made().PoolNames() },
		Login: func(pool string) (credential.Login, bool) { return made().Login(pool) },
		Takes: func(pool string) bool {
			r, known, err := rowOf(made(), pool)
			return err != nil || known && len(r.KeyVars) > 0
		},
		Program: func(pool string) string {
			models, err := made().Models().Catalogue()
			if err != nil {
				return ""
			}
			return models.Program(pool)
		},
		LoginOnly: func(pool string) bool {
			r, known, err := rowOf(made(), pool)
			return err == nil && known && r.Login
		},
		Missing: func(pool string) string {
			models, err := made().Models().Catalogue()
			if err != nil {
				return err.Error()
			}
			return models.Ready(pool)
		},
		Browse:   func(ctx context.Context, address string) error { return browse(ctx, p.Getenv, address) },
		Terminal: func() bool { return terminal(p.Stdin) },
		Hidden:   func() (string, error) { return hidden(p.Stdin) },
	}
}

// rowOf returns the service of a pool, if it is one of the catalogue.
func rowOf(a *app.App, pool string) (provider.Row, bool, error) {
	models, err := a.Models().Catalogue()
	if err != nil {
		return provider.Row{}, false, err
	}
	for _, r := range models.Rows() {
		if r.Name == pool {
			return r, true, nil
		}
	}
	return provider.Row{}, false, nil
}

// hidden reads a line from the terminal without showing it.
func hidden(stdin any) (string, error) {
	f, ok := stdin.(*os.File)
	if !ok {
		return "", errors.New("no terminal to ask on")
	}
	raw, err := term.ReadPassword(int(f.Fd()))
	return string(raw), err
}

// browse opens an address in the user's browser. It does not wait, since a
// browser that it starts keeps running after Hermes has ended.
func browse(ctx context.Context, getenv func(string) string, address string) error {
	argv := []string{"xdg-open", address}
	switch runtime.GOOS {
	case "darwin":
		argv = []string{"open", address}
	case "windows":
		argv = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	default:
		if getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "" {
			return nil // no display; the address was printed
		}
	}
	go func() {
		// The user sees a failure: nothing opens, and the address was printed.
		_ = proc.Foreground(context.WithoutCancel(ctx), argv, nil, nil, nil)
	}()
	return nil
}
