package docker_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/environment/docker"
	"hermes/internal/environment/enginetest"
	"hermes/internal/environment/remote"
)

// carrier has one file.
type carrier struct{ path, text string }

func (c carrier) Changed(all bool) ([]remote.CarriedFile, []string) {
	if !all {
		return nil, nil
	}
	return []remote.CarriedFile{{Path: c.path, Data: []byte(c.text)}}, nil
}

// mustFile writes a file of this machine.
func mustFile(t *testing.T, text string) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "a, b")
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return at
}

// said runs a line in an environment and returns what it printed.
func said(t *testing.T, e hermes.Environment, line string) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := e.Exec(t.Context(), hermes.Command{Line: line, Stdout: &out, Stderr: &out}); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// TestFilesAreMountedForReading into the home folder of a container of its own session, whoever its user is; the walls
// hold. A file that the engine does not have is no error: it is copied.
func TestFilesAreMountedForReading(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		for name, asUser := range map[string]bool{"root": false, "host user": true} {
			t.Run(name, func(t *testing.T) {
				c := config(t, e)
				source := mustFile(t, "secret\n")
				c.AsHostUser, c.Files = asUser, []remote.HomeFile{{Source: source, Path: ".aws/credentials"}}
				r := mustNew(t, c)
				if !r.Describe().Isolation.Holds {
					t.Error("a file that can be read breaks the walls")
				}
				env := remote.New(remote.Config{Runner: r, Carry: carrier{".aws/credentials", "secret\n"}})
				if got := said(t, env, "cat ~/.aws/credentials; echo x >>~/.aws/credentials || rm -f ~/.aws/credentials"); !strings.HasPrefix(got, "secret\n") || !strings.Contains(got, "Read-only file system") || !strings.Contains(got, "busy") {
					t.Errorf("got %q", got)
				}
				if text, err := os.ReadFile(source); string(text) != "secret\n" || err != nil || len(env.Untold()) > 0 {
					t.Errorf("the file has %q, %v", text, err)
				}
				if err := env.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		t.Run("elsewhere", func(t *testing.T) {
			c := config(t, e)
			c.Files = []remote.HomeFile{{Source: "/no/such/file", Path: ".aws/credentials"}}
			env := remote.New(remote.Config{Runner: open(t, e, c), Carry: carrier{".aws/credentials", "copied"}})
			if got := said(t, env, "cat ~/.aws/credentials; ls -ln ~/.aws/credentials | cut -c1-10"); got != "copied-rw-------" {
				t.Errorf("got %q, %q", got, env.Untold())
			}
		})
	})
}

// TestAFileThatCommandsCanReplaceIsNotMounted: the engine would follow a link that they put there, to any file of this
// machine, when the container starts again. It is copied.
func TestAFileThatCommandsCanReplaceIsNotMounted(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		for name, set := range map[string]func(c *docker.Config, dir string){
			"workspace": func(c *docker.Config, dir string) { c.Workspace = dir },
			"volume":    func(c *docker.Config, dir string) { c.Volumes = []string{dir + ":/workspace"} },
			"argument": func(c *docker.Config, dir string) {
				c.ExtraArgs = []string{"--mount=type=bind,source=" + dir + ",target=/workspace"}
			},
		} {
			t.Run(name, func(t *testing.T) {
				c := config(t, e)
				source, other := mustFile(t, "named"), mustFile(t, "not-named")
				set(&c, filepath.Dir(source))
				c.Files = []remote.HomeFile{{Source: source, Path: ".key"}}
				r := open(t, e, c)
				env := remote.New(remote.Config{Runner: r, Carry: carrier{".key", "named"}})
				if got := said(t, env, "cat ~/.key; rm '/workspace/a, b'; ln -s '"+other+"' '/workspace/a, b'"); got != "named" {
					t.Errorf("got %q, %q", got, env.Untold())
				}
				if _, err := e.Run(t.Context(), "stop", "--time", "1", r.Name()); err != nil {
					t.Fatal(err)
				}
				if got := said(t, env, "cat ~/.key"); got != "named" {
					t.Errorf("after the next start it has %q, %q", got, env.Untold())
				}
			})
		}
	})
}

// TestAKeptContainerKeepsNoFile: they are copied for the session, and it starts again when they are gone here.
func TestAKeptContainerKeepsNoFile(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		c := kept(config(t, e))
		source := mustFile(t, "secret")
		c.Files = []remote.HomeFile{{Source: source, Path: ".key"}}
		t.Cleanup(func() { removeAll(t, e, c.Home) })
		env := remote.New(remote.Config{Runner: mustNew(t, c), Carry: carrier{".key", "secret"}})
		if got := said(t, env, "cat ~/.key; echo mine >~/work"); got != "secret" {
			t.Errorf("got %q", got)
		}
		if err := env.Close(); err != nil {
			t.Error(err)
		}
		if err := os.Remove(source); err != nil {
			t.Fatal(err)
		}
		for _, id := range containers(t, e, c.Home) {
			if _, err := e.Run(t.Context(), "stop", "--time", "1", id); err != nil {
				t.Fatal(err)
			}
		}
		says(t, mustNew(t, c), "cat ~/work; ls -A ~ | grep -c -e key -e hermes || true", "mine\n0")
	})
}

// TestAScriptForWhatRunsStartsNothing: neither before the container was made, nor when it was stopped.
func TestAScriptForWhatRunsStartsNothing(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		c := config(t, e)
		r := open(t, e, c)
		script := remote.Script{Text: "true", Running: true}
		if _, err := r.Exec(t.Context(), script); !errors.Is(err, remote.ErrNotRun) || len(containers(t, e, c.Home)) > 0 {
			t.Errorf("before it was made: %v", err)
		}
		says(t, r, "echo up", "up")
		if code, err := r.Exec(t.Context(), script); code != 0 || err != nil {
			t.Errorf("while it runs: %d, %v", code, err)
		}
		if _, err := e.Run(t.Context(), "stop", "--time", "1", r.Name()); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Exec(t.Context(), script); !errors.Is(err, remote.ErrNotRun) {
			t.Errorf("after it was stopped: %v", err)
		}
		if out, err := e.Run(t.Context(), "inspect", "--type", "container", "--format", "{{.State.Running}}", r.Name()); err != nil || strings.TrimSpace(out) != "false" {
			t.Errorf("it runs again: %s, %v", out, err)
		}
	})
}
