package docker_test

import (
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/checkpoint"
	"hermes/internal/checkpoint/checkpointtest"
	"hermes/internal/environment/docker"
	"hermes/internal/environment/enginetest"
	"hermes/internal/environment/remote"
)

// mustSite is a folder in a container with checkpoints there.
func mustSite(t *testing.T, c docker.Config, mirror string) checkpointtest.Site {
	t.Helper()
	env := remote.New(remote.Config{Runner: mustNew(t, c), Dir: docker.Workspace})
	t.Cleanup(func() {
		if err := env.Close(); err != nil {
			t.Error(err)
		}
	})
	s := checkpointtest.In(env, env.Files().Write, checkpoint.New(checkpoint.Config{Folder: mirror, Place: env}), "")
	s.Dir = strings.TrimSpace(string(s.Run(t, "d=$(mktemp -d /workspace/XXXXXX)/project && mkdir $d && echo $d")))
	return s
}

// TestCheckpointsUndoRandomChangesInAContainer, of tools and commands, with edits of the user in
// between.
func TestCheckpointsUndoRandomChangesInAContainer(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		s := mustSite(t, config(t, e), filepath.Join(t.TempDir(), "mirror"))
		if strings.HasSuffix(e.Program, "podman") {
			s.Rounds = 6 // it takes several times as long for each command
		}
		s.UndoesRandomChanges(t, 0)
	})
}
