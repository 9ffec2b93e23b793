package app

import (
	"context"
	"runtime"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/environment"
)

// HostWalls says which walls around commands this host allows.
func (a *App) HostWalls(ctx context.Context) environment.HostWalls {
	if a.opts.HostWalls != nil {
		return a.opts.HostWalls(ctx)
	}
	return environment.HostWalls{Why: "this version has no sandbox for " + runtime.GOOS}
}

// Sandbox says in one sentence which walls are in force for new sessions.
func (a *App) Sandbox(ctx context.Context) string {
	cfg, err := a.config()
	if err != nil {
		return ""
	}
	return a.HostWalls(ctx).Line(cfg.Terminal().Sandbox)
}

// walls makes the walls around the commands of a session; nil is none. granted lists what
// the user has allowed all its commands.
func (a *App) walls(cfg *config.Config, _ func() []hermes.Need) environment.Walls {
	mode := cfg.Terminal().Sandbox
	if mode == environment.SandboxOff {
		return nil
	}
	if why := a.HostWalls(context.Background()).Refusal(mode); why != "" {
		return environment.NoCommands(why)
	}
	return nil
}
