package rented_test

import (
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/checkpoint"
	"hermes/internal/checkpoint/checkpointtest"
	"hermes/internal/environment/remote"
)

// TestCheckpointsUndoRandomChangesInASandbox of every service, with edits of the user in between.
func TestCheckpointsUndoRandomChangesInASandbox(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s server, i int) {
		env := remote.New(remote.Config{Runner: mustOpen(t, s, config(t))})
		t.Cleanup(func() {
			if err := env.Close(); err != nil {
				t.Error(err)
			}
		})
		store := checkpoint.New(checkpoint.Config{Folder: filepath.Join(t.TempDir(), "mirror"), Place: env})
		site := checkpointtest.In(env, env.Files().Write, store, "")
		site.Rounds = 4
		site.Dir = strings.TrimSpace(string(site.Run(t, "cd && mkdir project && cd project && pwd -P")))
		site.UndoesRandomChanges(t, uint64(i))
	})
}
