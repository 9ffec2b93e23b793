package docker_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/environment/docker"
	"hermes/internal/environment/enginetest"
	"hermes/internal/environment/remote"
	"hermes/internal/race"
)

// The engines that the tests of this package share.
var (
	dockerEngine = &enginetest.Shared{Start: enginetest.Docker, Needed: os.Getenv("CI") == "true"}
	podmanEngine = &enginetest.Shared{Start: enginetest.Podman, Needed: os.Getenv("CI") == "true"}
)

func TestMain(m *testing.M) {
	if os.Getenv(keepVariable) != "" {
		keepAndWait()
		return
	}
	if os.Getenv(startVariable) != "" {
		startAndWait()
		return
	}
	code := m.Run()
	for _, e := range []*enginetest.Shared{dockerEngine, podmanEngine} {
		if err := e.Close(); err != nil {
			fmt.Println(err)
			code = 1
		}
	}
	os.Exit(code)
}

// both runs a test with Docker and with podman. With the race detector Docker suffices: the
// engines differ, and not what goes on beside each other here.
func both(t *testing.T, test func(t *testing.T, e *enginetest.Engine)) {
	t.Parallel()
	for name, s := range map[string]*enginetest.Shared{"docker": dockerEngine, "podman": podmanEngine} {
		if race.Enabled && name != "docker" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s.Get(t))
		})
	}
}

// config is a Config for an engine, with a home and a session of the test.
func config(t *testing.T, e *enginetest.Engine) docker.Config {
	return docker.Config{
		Program: e.Program, Environ: e.Env, Home: t.TempDir(), Session: t.Name(), Image: enginetest.Image,
		Limits: docker.Limits{CPU: 1, MemoryMB: 256, DiskMB: 1024}, Life: docker.Life{Lifetime: 5 * time.Minute},
	}
}

func kept(c docker.Config) docker.Config {
	c.Persistent, c.AcrossProcesses = true, true
	return c
}

func mustNew(t testing.TB, c docker.Config) *docker.Runner {
	t.Helper()
	r, err := docker.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// open is mustNew for a test that does not close the Runner itself. It also removes a kept container.
func open(t *testing.T, e *enginetest.Engine, c docker.Config) *docker.Runner {
	t.Helper()
	r := mustNew(t, c)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		removeAll(t, e, c.Home)
	})
	return r
}

// containers returns the ids of the containers of a home.
func containers(t *testing.T, e *enginetest.Engine, home string) []string {
	t.Helper()
	out, err := e.Run(context.Background(), "ps", "-aq", "--no-trunc", "--filter", "label=hermes-home="+docker.HomeLabel(home))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(out)
}

func removeAll(t *testing.T, e *enginetest.Engine, home string) {
	t.Helper()
	for _, id := range containers(t, e, home) {
		if _, err := e.Run(context.Background(), "rm", "-f", id); err != nil {
			t.Error(err)
		}
	}
}

// run runs a script and returns its whole output and exit code.
func run(t testing.TB, r *docker.Runner, text string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	code, err := r.Exec(t.Context(), remote.Script{Text: text, Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
	return out.String(), code
}

func says(t *testing.T, r *docker.Runner, text, want string) {
	t.Helper()
	if got, code := run(t, r, text); strings.TrimSuffix(got, "\n") != want || code != 0 {
		t.Errorf("%.200s printed %q with exit code %d, want %q", text, got, code, want)
	}
}

func TestContract(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		c := kept(config(t, e)) // all cases share one container, as sessions do
		t.Cleanup(func() { removeAll(t, e, c.Home) })
		hermestest.RunEnvironment(t, func(t *testing.T) hermes.Environment {
			r := mustNew(t, c)
			dir, _ := run(t, r, "mktemp -d /workspace/XXXXXX")
			return remote.New(remote.Config{Runner: r, Dir: strings.TrimSpace(dir)})
		})
	})
}
