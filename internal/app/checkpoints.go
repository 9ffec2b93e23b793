package app

import (
	"context"
	"os"
	"time"

	"hermes"
	"hermes/internal/checkpoint"
	"hermes/internal/config"
	snapshots "hermes/internal/hook/checkpoint"
	"hermes/internal/upkeep"
)

// Checkpoints returns the store of file snapshots of this home.
func (a *App) Checkpoints() (*checkpoint.Store, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	return a.checkpoints(cfg), nil
}

func (a *App) checkpoints(cfg *config.Config) *checkpoint.Store {
	c := cfg.Checkpoints()
	userHome, _ := os.UserHomeDir() // without one there is no home to keep out
	return checkpoint.New(checkpoint.Config{
		Folder: cfg.Home().Checkpoints(), Home: userHome, Now: a.opts.Now,
		Limits: checkpoint.Limits{
			Snapshots: c.MaxSnapshots, TotalSize: int64(c.MaxTotalSizeMB) << 20, FileSize: int64(c.MaxFileSizeMB) << 20,
			Age: time.Duration(c.RetentionDays) * 24 * time.Hour, Interval: time.Duration(c.MinIntervalHours) * time.Hour,
		},
	})
}

// checkpointHook makes snapshots before calls that change files.
func (a *App) checkpointHook(cfg *config.Config) hermes.Hook {
	if !cfg.Checkpoints().Enabled {
		return hermes.Hook{Name: "checkpoint"}
	}
	userHome, _ := os.UserHomeDir() // without one there is no home to keep out
	return snapshots.New(snapshots.Config{Store: a.checkpoints(cfg), Home: userHome, Log: a.log()})
}

// pruneCheckpoints removes old snapshots if that is due.
func (a *App) pruneCheckpoints(ctx context.Context, cfg *config.Config) error {
	if !cfg.Checkpoints().AutoPrune {
		return nil
	}
	due, err := a.checkpoints(cfg).PruneIfDue(ctx)
	if err == nil && !due.Due {
		return upkeep.ErrNotDue
	}
	return err
}
