package enginetest_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"hermes/internal/environment/enginetest"
)

func TestEnginesRunTheImageAndLeaveNothing(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func() (*enginetest.Engine, error){"docker": enginetest.Docker, "podman": enginetest.Podman} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := enginetest.Shared{Start: start, Needed: os.Getenv("CI") == "true"}
			e := s.Get(t)
			if got, err := e.Run(t.Context(), "run", "--network", "none", "--name", "left", enginetest.Image, "sh", "-c", "echo $((6 * 7)); exec sleep 0"); err != nil || got != "42" {
				t.Errorf("got %q, %v; want 42", got, err)
			}
			if _, err := e.Run(t.Context(), "run", "-d", "--network", "none", "--stop-timeout", "0", enginetest.Image, "sleep", "1000"); err != nil {
				t.Error(err)
			}
			if name == "docker" {
				kills(t, e)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			mounts, err := os.ReadFile("/proc/mounts")
			if err != nil || strings.Contains(string(mounts), e.Dir) {
				t.Errorf("mounts are left (error %v)", err)
			}
			if left := running(t, e.Dir); len(left) > 0 {
				t.Errorf("processes are left: %q", left)
			}
		})
	}
}

// kills ends the engine and starts it again.
func kills(t *testing.T, e *enginetest.Engine) {
	t.Helper()
	if err := e.Kill(); err != nil {
		t.Error(err)
	}
	if _, err := e.Run(context.Background(), "ps"); err == nil {
		t.Error("a killed engine answers")
	}
	if err := e.Restart(); err != nil {
		t.Error(err)
	}
	if got, err := e.Run(t.Context(), "ps", "-aq", "--filter", "name=left"); err != nil || got == "" {
		t.Errorf("got %q, %v; the container is lost", got, err)
	}
}

// running returns the command lines that name a folder.
func running(t *testing.T, dir string) (lines []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		line, err := os.ReadFile("/proc/" + entry.Name() + "/cmdline")
		if err == nil && strings.Contains(string(line), dir) {
			lines = append(lines, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return lines
}
