package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"hermes/internal/app"
	"hermes/internal/liveness"
)

// TestOnlyTheLockSaysWhetherAnOwnerLives: neither the host nor the process id decides.
func TestOnlyTheLockSaysWhetherAnOwnerLives(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	defer a.Close()
	cfg, err := a.Config()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	held, err := liveness.Hold(filepath.Join(home, "run", "00000000000000aa.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	// What a killed process leaves: its file, without the lock.
	of, err := os.ReadFile(filepath.Join(home, "run", "00000000000000aa.lock"))
	if err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		if err := os.WriteFile(filepath.Join(home, "run", "00000000000000bb.lock"), of, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	host, _ := os.Hostname()
	gone := app.StoreConfig(cfg).OwnerGone
	for name, tt := range map[string]struct {
		owner string
		want  bool
	}{
		"another container of the same name, where the id means nothing": {host + ":999999999:00000000000000aa", false},
		"a living process of another host":                               {"elsewhere:1:00000000000000aa", false},
		"a killed process whose id is used again":                        {fmt.Sprintf("%s:%d:00000000000000bb", host, os.Getpid()), runtime.GOOS != "windows"},
		"a killed process in another container":                          {"elsewhere:1:00000000000000bb", runtime.GOOS != "windows"},
		"a process without a lock, which a read-only home cannot have":   {host + ":999999999:00000000000000cc", false},
		"a process of an earlier version":                                {host + ":999999999:00000000", false},
		"a number that is a path":                                        {host + ":1:../run/00000000000000bb", false},
		"nothing":                                                        {"", false},
	} {
		if got := gone(tt.owner); got != tt.want {
			t.Errorf("%s: gone is %v", name, got)
		}
	}
}
