package app

import (
	"context"

	"hermes/internal/command"
)

// Settings returns what slash commands may change in the configuration.
func (a *App) Settings() command.Settings {
	s := command.Settings{Save: a.save}
	if cfg, err := a.config(); err == nil {
		s.KeepModel = cfg.Model().PersistSwitch
	}
	return s
}

// save writes one value of the configuration and returns the file. It reads the file
// again, because it may have changed since the start.
func (a *App) save(ctx context.Context, key, value string) (string, error) {
	now, err := a.loadConfig()
	if err != nil {
		return "", err
	}
	c, err := now.Set(ctx, key, value)
	return c.File, err
}
