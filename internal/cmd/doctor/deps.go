package doctor

import (
	"context"
	"os/exec"
	"runtime"

	"hermes"
	"hermes/internal/cmd/factory"
	"hermes/internal/config"
	"hermes/internal/home"
	"hermes/internal/setup"
	"hermes/internal/trust"
)

// fromApp returns what the checks need of the app.
func fromApp(f *factory.Factory) (setup.Deps, error) {
	h, err := f.App().Home()
	if err != nil {
		return setup.Deps{}, err
	}
	return setup.Deps{
		Home: h,
		Load: func() *config.Config {
			c, err := f.Config()
			if err != nil { // reported by the check of the home
				return config.Load(h, config.Options{IgnoreUser: f.Global.IgnoreUserConfig})
			}
			return c
		},
		Database: func(ctx context.Context) error {
			db, err := f.Store(ctx)
			if err != nil {
				return err
			}
			return db.Check(ctx)
		},
		Model: func(ctx context.Context) (string, error) {
			ref, source, err := f.App().Models().Current(ctx, hermes.ModelChoice{})
			return ref + " (" + source + ")", err
		},
		Sandbox: f.App().HostWalls,
		Backend: f.App().CheckBackend, OtherBackends: f.App().OtherBackends,
		Web: f.App().WebServices,
		Project: func() (trust.Project, trust.Decision, error) {
			dir, err := f.Dir()
			if err != nil {
				return trust.Project{}, trust.Decision{}, err
			}
			return f.App().Project(dir)
		},
		LookPath: exec.LookPath, Getenv: f.Global.Getenv, Free: home.Free,
		Terminal: setup.Terminal{Input: f.Terminal(), Output: factory.IsTerminal(f.Out), Columns: f.Width()},
		OS:       runtime.GOOS, Now: f.Now,
	}, nil
}
