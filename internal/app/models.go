package app

import (
	"context"
	"os"
	"time"

	"hermes"
	"hermes/internal/models"
	"hermes/internal/plugin"
	"hermes/internal/provider"
	"hermes/internal/services"
)

// Models finds the models of runs and side tasks, and says what is known about them.
func (a *App) Models() *models.Models { return a.models }

// providers returns the configuration of the services: what the settings say, with the parts
// of this program.
func (a *App) providers() (provider.Config, error) {
	cfg, err := a.config()
	if err != nil {
		return provider.Config{}, err
	}
	c, err := services.Providers(cfg)
	c.UserAgent, c.Now, c.Note = "hermes/"+Version, a.opts.Now, a.opts.Note
	if a.opts.BaseURL != "" { // this run has its own service, such as the demo
		return provider.Config{
			Selection: provider.Selection{Model: a.opts.BaseModel, BaseURL: a.opts.BaseURL, Key: "none"},
			Patience:  provider.Patience{Retries: c.Retries, Timeouts: c.Timeouts},
			System:    provider.System{UserAgent: c.UserAgent, Now: c.Now, Getenv: func(string) string { return "" }},
		}, nil
	}
	if err != nil {
		return c, err
	}
	meter, err := a.meter()
	if err != nil {
		return c, err
	}
	a.closing(func() error { return a.credentials().Close(context.Background()) })
	c.Programs = provider.Programs{Dir: cfg.Home().Cache("programs"), Guard: &a.guard, Mark: func() ([]string, []*os.File) {
		m := a.mark()
		return m.Environ(), m.Files()
	}}
	c.Programs.Plugins = pluginModels{a}
	c.AskWindows, c.UnattendedWait = true, unattendedWait
	c.Keys, c.LoginLacks = a.keys, a.logins(cfg).Lacks
	c.Caps, c.Meter = meter.Caps, meter.Meter
	return c, nil
}

// pluginModels are the models of plugins, which are made with the tools.
type pluginModels struct{ app *App }

func (m pluginModels) all() *plugin.Plugins {
	if all := m.app.tooling().plugins; all != nil {
		return all
	}
	return &plugin.Plugins{}
}

// HasModels returns why a plugin does not answer as a model, nil if it does.
func (m pluginModels) HasModels(name string) error { return m.all().HasModels(name) }

// ModelInfo returns what a plugin says of a model.
func (m pluginModels) ModelInfo(name, model string) (hermes.ModelInfo, bool) {
	return m.all().ModelInfo(name, model)
}

// Answer asks a model of a plugin.
func (m pluginModels) Answer(ctx context.Context, name, model string, r *hermes.Request, yield func(hermes.Delta) error) error {
	return m.all().Answer(ctx, name, model, r, yield)
}

// unattendedWait is how long a model may ask to wait in an unattended run, where a
// late result is better than none.
const unattendedWait = 6 * time.Hour
