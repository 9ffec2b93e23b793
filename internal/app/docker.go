package app

import (
	"os"
	"path/filepath"
	"slices"

	"hermes/internal/config"
	"hermes/internal/environment/docker"
	"hermes/internal/environment/remote"
	"hermes/internal/environment/singularity"
)

func openDocker(a *App, cfg *config.Config, s sessionPlace) (remote.Runner, error) {
	t := cfg.Terminal()
	userHome, _ := os.UserHomeDir() // without one ~ stays as it is
	return docker.New(docker.Config{
		Environ: a.clientVariables(cfg), Home: cfg.Home().Path(), Session: s.session, Profile: cfg.Home().Profile(), Image: t.DockerImage,
		Limits: docker.Limits{CPU: t.ContainerCPU, MemoryMB: t.ContainerMemory, DiskMB: t.ContainerDisk, Network: t.DockerNetwork},
		Life: docker.Life{
			Persistent: t.ContainerPersistent, AcrossProcesses: t.DockerPersist, SharedKey: t.DockerContainerName, Lifetime: t.Lifetime, Reap: t.DockerOrphanReaper,
		},
		Mounts: docker.Mounts{Workspace: s.workspace.Mount, Volumes: slices.Clone(t.DockerVolumes), UserHome: userHome, Files: s.files},
		Env:    t.DockerEnv, Forward: a.handed(cfg, t.DockerForwardEnv), ExtraArgs: t.DockerExtraArgs, AsHostUser: t.DockerRunAsHostUser, SnapCompat: t.DockerSnapCompat,
	})
}

func openSingularity(a *App, cfg *config.Config, s sessionPlace) (remote.Runner, error) {
	t := cfg.Terminal()
	userHome, _ := os.UserHomeDir() // without one, files have to be copied
	c := singularity.Config{
		Files: s.files, Home: userHome,
		Image: t.SingularityImage, Memory: t.ContainerMemory, Disk: t.ContainerDisk, CPU: t.ContainerCPU,
		Folder: cfg.Home().Cache("singularity"), Env: a.clientVariables(cfg), Guard: &a.guard,
	}
	if t.ContainerPersistent { // an image is for one instance at a time
		c.Overlay = cfg.Home().Join("singularity", filepath.Base(s.session)+".img")
	}
	return singularity.New(c)
}
