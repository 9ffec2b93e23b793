package app

import (
	"hermes"
	"hermes/internal/config"
	"hermes/internal/environment/daytona"
	"hermes/internal/environment/e2b"
	"hermes/internal/environment/modal"
	"hermes/internal/environment/remote"
	"hermes/internal/environment/rented"
	"hermes/internal/environment/runloop"
	"hermes/internal/environment/vercel"
	"hermes/internal/services"
)

// rent returns what all rented sandboxes have in common. address is the variable that names another
// address of the service.
func rent(cfg *config.Config, s sessionPlace, image, address string) rented.Config {
	t := cfg.Terminal()
	return rented.Config{
		Home: cfg.Home().Path(), Session: s.session, Persistent: t.ContainerPersistent, Image: image,
		CPU: t.ContainerCPU, Memory: t.ContainerMemory, Disk: t.ContainerDisk,
		BaseURL: cfg.Getenv(address), HTTP: services.Client(cfg, "hermes/"+Version),
	}
}

func openDaytona(_ *App, cfg *config.Config, s sessionPlace) (remote.Runner, error) {
	return daytona.New(daytona.Config{
		Config: rent(cfg, s, cfg.Terminal().DaytonaImage, "DAYTONA_API_URL"), Key: hermes.Secret(cfg.Getenv("DAYTONA_API_KEY")), Target: cfg.Getenv("DAYTONA_TARGET"),
	})
}

func openVercel(_ *App, cfg *config.Config, s sessionPlace) (remote.Runner, error) {
	return vercel.New(vercel.Config{
		Config: rent(cfg, s, cfg.Terminal().VercelRuntime, "VERCEL_API_URL"), Token: hermes.Secret(cfg.Getenv("VERCEL_TOKEN")),
		Team: cfg.Getenv("VERCEL_TEAM_ID"), Project: cfg.Getenv("VERCEL_PROJECT_ID"),
	})
}

func openE2B(_ *App, cfg *config.Config, s sessionPlace) (remote.Runner, error) {
	return e2b.New(e2b.Config{
		Config: rent(cfg, s, cfg.Terminal().E2BTemplate, "E2B_API_URL"), Key: hermes.Secret(cfg.Getenv("E2B_API_KEY")), SandboxURL: cfg.Getenv("E2B_SANDBOX_URL"),
	})
}

func openRunloop(_ *App, cfg *config.Config, s sessionPlace) (remote.Runner, error) {
	return runloop.New(runloop.Config{
		Config: rent(cfg, s, cfg.Terminal().RunloopBlueprint, "RUNLOOP_BASE_URL"), Key: hermes.Secret(cfg.Getenv("RUNLOOP_API_KEY")),
	})
}

func openModal(_ *App, cfg *config.Config, s sessionPlace) (remote.Runner, error) {
	return modal.New(modal.Config{
		Config: rent(cfg, s, cfg.Terminal().ModalImage, "MODAL_SERVER_URL"), TokenID: cfg.Getenv("MODAL_TOKEN_ID"), TokenSecret: hermes.Secret(cfg.Getenv("MODAL_TOKEN_SECRET")),
		SnapshotFile: cfg.Home().Join("modal.json"),
	})
}
