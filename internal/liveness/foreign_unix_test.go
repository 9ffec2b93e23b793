//go:build unix

package liveness_test

import (
	"os"
	"path/filepath"
	"testing"

	"hermes/internal/liveness"
)

func TestSweepLeavesTheFoldersOfOthers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can make folders of others")
	}
	parent := t.TempDir()
	dir := filepath.Join(parent, "x-1")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c := holder(t, filepath.Join(dir, "owner.lock"))
	_ = c.Process.Kill()
	_ = c.Wait()
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	liveness.Sweep(parent, "x-")
	if _, err := os.Stat(dir); err != nil {
		t.Error("the folder of another user was removed")
	}
}
