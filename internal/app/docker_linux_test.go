package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/environment/enginetest"
)

// TestASessionWorksInAContainer of a real engine, with the settings: its image, its variables and the user's folder.
func TestASessionWorksInAContainer(t *testing.T) {
	t.Parallel()
	shared := enginetest.Shared{Start: enginetest.Docker, Needed: os.Getenv("CI") == "true"}
	engine := shared.Get(t)
	t.Cleanup(func() {
		if err := shared.Close(); err != nil {
			t.Error(err)
		}
	})
	for name, tt := range map[string]struct {
		mount bool
		asks  int
	}{"alone": {false, 0}, "with the user's folder": {true, 1}} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, hermes.AllowOnce)
			s.config = "terminal: {backend: docker, docker_image: '" + enginetest.Image + "', container_persistent: false, docker_network: false, docker_env: {GIVEN: by-the-settings}, docker_forward_env: [NAMED]"
			if tt.mount {
				s.config += ", docker_mount_cwd_to_workspace: true"
			}
			s.config += "}\n"
			s.options = func(o *app.Options) {
				o.Environ = func() []string {
					return append([]string{"NAMED=by-the-user", "PLAIN=host-canary", "OPENAI_API_KEY=sk-host-canary-2"}, engine.Env...)
				}
			}
			s.say(`CALL terminal {"command":"pwd; env; cat notes.md; mkdir sub; rm -rf sub; echo made > a.txt"}`, `CALL read_file {"path":"a.txt"}`)
			got := s.model.results()
			if !strings.Contains(got, "/workspace") || !strings.Contains(got, "GIVEN=by-the-settings") || !strings.Contains(got, "NAMED=by-the-user") || strings.Contains(got, "host-canary") {
				t.Errorf("got %s", got)
			}
			if strings.Contains(got, "DO:memory") != tt.mount || len(s.asked) != tt.asks {
				t.Errorf("asked %d; got %s", len(s.asked), got)
			}
			if _, err := os.Stat(filepath.Join(s.dir, "a.txt")); (err == nil) != tt.mount {
				t.Errorf("the user's folder: %v", err)
			}
			s.quit()
			if left, err := engine.Run(t.Context(), "ps", "-aq"); err != nil || strings.TrimSpace(left) != "" {
				t.Errorf("left %q, %v", left, err)
			}
		})
	}
}

// TestAnEngineThatIsDownIsAnError, of the session and of the doctor.
func TestAnEngineThatIsDownIsAnError(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.config = "terminal: {backend: docker}\n"
	s.options = func(o *app.Options) {
		o.Environ = func() []string {
			return []string{"PATH=" + os.Getenv("PATH"), "DOCKER_HOST=unix:///no/such.sock", "HOME=" + s.home}
		}
	}
	s.enter()
	err := s.live.Do(t.Context(), hermes.From{}, saying("hello"))
	for err == nil {
		if done, ok := (<-s.events).(hermes.TurnDone); ok {
			if err = done.Err(); err == nil {
				t.Fatal("the turn was done")
			}
		}
	}
	if !strings.Contains(err.Error(), "this session works in docker, which cannot be used now") {
		t.Error(err)
	}
	if name, err := s.app.CheckBackend(t.Context()); name != "docker" || err == nil {
		t.Errorf("doctor: %s, %v", name, err)
	}
}
