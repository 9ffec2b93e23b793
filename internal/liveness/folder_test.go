package liveness_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"hermes/internal/liveness"
)

// TestSweepRemovesWhatKilledProcessesLeft: and nothing else.
func TestSweepRemovesWhatKilledProcessesLeft(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	mkdir := func(name string) string {
		dir := filepath.Join(parent, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "1"), []byte("state"), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	end := func(dir string) {
		c := holder(t, filepath.Join(dir, "owner.lock"))
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	killed, other, living, unlocked := mkdir("x-killed"), mkdir("y-killed"), mkdir("x-living"), mkdir("x-unlocked")
	end(killed)
	end(other)
	holder(t, filepath.Join(living, "owner.lock"))
	mine, err := liveness.TempFolder(parent, "x-")
	if err != nil {
		t.Fatal(err)
	}
	target := t.TempDir()
	end(target)
	link := filepath.Join(parent, "x-link")
	if err := os.Symlink(target, link); err != nil {
		t.Log(err)
		link = target
	}
	before := func(name, kernel string, age time.Duration) string {
		dir := mkdir(name)
		path := filepath.Join(dir, "owner.lock")
		machine := liveness.MachineID()
		if err := os.WriteFile(path, []byte("\x00"+kernel+"\n"+machine), 0o600); err != nil {
			t.Fatal(err)
		}
		if then := time.Now().Add(-age); os.Chtimes(path, then, then) != nil {
			t.Fatal("the time cannot be set")
		}
		return dir
	}
	earlier, young := before("x-earlier", "linux of-yesterday", 25*time.Hour), before("x-young", "linux of-today", time.Hour)
	liveness.Sweep(parent, "x-")
	for dir, stays := range map[string]bool{killed: false, earlier: liveness.MachineID() == "", young: true, other: true, living: true, unlocked: true, mine.Path: true, link: true, target: true} {
		if _, err := os.Lstat(dir); stays != (err == nil) {
			t.Errorf("%s stays: want %v, %v", filepath.Base(dir), stays, err)
		}
	}
	if err := mine.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mine.Path); err == nil {
		t.Error("the folder stays after its removal")
	}
	liveness.Sweep(filepath.Join(parent, "none"), "x-")
}
