package docker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/internal/environment/docker"
	"hermes/internal/environment/enginetest"
	"hermes/internal/environment/remote"
)

func TestKeptContainerIsFoundAgain(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		c := kept(config(t, e))
		first := mustNew(t, c)
		says(t, first, "echo 1 >/workspace/mine; cat /workspace/mine", "1")
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(t.Context(), "stop", "-t", "5", first.Name()); err != nil {
			t.Fatal(err)
		}
		c.Session = "another"
		says(t, open(t, e, c), "cat /workspace/mine", "1")
		other := c
		other.MemoryMB++ // a container with other options is not used
		says(t, open(t, e, other), "ls /workspace", "")
		elsewhere := c
		elsewhere.Home = t.TempDir()
		says(t, open(t, e, elsewhere), "ls /workspace", "")
		c.SharedKey, elsewhere.SharedKey = t.Name(), t.Name()
		says(t, open(t, e, c), "echo 2 >/workspace/ours; cat /workspace/ours", "2")
		says(t, open(t, e, elsewhere), "cat /workspace/ours", "2")
	})
}

func TestSessionsContainerIsRemovedAtClose(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		for name, c := range map[string]docker.Config{
			"neither": config(t, e), "persistent": {Life: docker.Life{Persistent: true}}, "across": {Life: docker.Life{AcrossProcesses: true}},
		} {
			life := c.Life
			c = config(t, e)
			c.Life = life
			r := mustNew(t, c)
			says(t, r, "echo hi", "hi")
			if err := r.Close(); err != nil {
				t.Error(name, err)
			}
			if left := containers(t, e, c.Home); len(left) > 0 {
				t.Errorf("%s: the container is left", name)
			}
		}
	})
}

func TestStoppedContainerRunsAgainAndARemovedOneIsAnError(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		r := open(t, e, config(t, e))
		says(t, r, "echo 1 >/workspace/mine", "")
		if _, err := e.Run(t.Context(), "stop", "-t", "5", r.Name()); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer // the input is whole, although the first try reads none of it
		code, err := r.Exec(t.Context(), remote.Script{Text: "cat - /workspace/mine", Stdin: strings.NewReader("in "), Stdout: &out})
		if err != nil || code != 0 || out.String() != "in 1\n" {
			t.Errorf("after a stop: %q, %d, %v", out.String(), code, err)
		}
		if _, err := e.Run(t.Context(), "rm", "-f", r.Name()); err != nil {
			t.Fatal(err)
		}
		_, err = r.Exec(t.Context(), remote.Script{Text: "true"})
		if !errors.Is(err, remote.ErrNotRun) || !strings.Contains(err.Error(), "was removed") {
			t.Errorf("after a removal: %v", err)
		}
		says(t, r, "ls /workspace", "")
	})
}

func TestContainerThatEndsDuringACommandIsAnError(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		for order, want := range map[string]string{"kill": "was stopped while", "rm": "was removed while"} {
			r := open(t, e, config(t, e))
			args := map[string][]string{"kill": {"kill", r.Name()}, "rm": {"rm", "-f", r.Name()}}[order]
			w := &lookout{word: "started", seen: make(chan struct{})}
			go func() {
				<-w.seen
				if _, err := e.Run(context.Background(), args...); err != nil {
					t.Error(err)
				}
			}()
			_, err := r.Exec(t.Context(), remote.Script{Text: "echo started; sleep 300", Stdout: w})
			if err == nil || errors.Is(err, remote.ErrNotRun) || !strings.Contains(err.Error(), "outcome is unknown") {
				t.Errorf("%s: got %v, want that it %s it ran", order, err, want)
			}
			says(t, r, "echo hi", "hi")
		}
	})
}

// TestAKilledContainerIsAnErrorAlsoIfTheEngineCallsItRunning, as it does for a moment.
func TestAKilledContainerIsAnErrorAlsoIfTheEngineCallsItRunning(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		c := config(t, e)
		c.Program = filepath.Join(t.TempDir(), filepath.Base(e.Program))
		late := "#!/bin/sh\ncase \"$*\" in *'{{.State.Status}}'*) echo running ;; *) exec '" + e.Program + "' \"$@\" ;; esac\n"
		if err := os.WriteFile(c.Program, []byte(late), 0o755); err != nil {
			t.Fatal(err)
		}
		r := open(t, e, c)
		w := &lookout{word: "started", seen: make(chan struct{})}
		go func() {
			<-w.seen
			if _, err := e.Run(context.Background(), "kill", r.Name()); err != nil {
				t.Error(err)
			}
		}()
		code, err := r.Exec(t.Context(), remote.Script{Text: "echo started; sleep 300", Stdout: w})
		if err == nil || errors.Is(err, remote.ErrNotRun) || !strings.Contains(err.Error(), "outcome is unknown") {
			t.Errorf("got %d, %v", code, err)
		}
	})
}

// lookout closes a channel when a word was written.
type lookout struct {
	word string
	seen chan struct{}

	mu   sync.Mutex
	text string
	done bool
}

func (l *lookout) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text += string(b)
	if !l.done && strings.Contains(l.text, l.word) {
		l.done = true
		close(l.seen)
	}
	return len(b), nil
}

func TestManyStartsAtOnceEndWithOneContainer(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		c := kept(config(t, e))
		var all sync.WaitGroup
		for i := range 6 { // Runners share nothing: they are as in six processes
			c.Session = fmt.Sprint("session", i)
			r := open(t, e, c)
			all.Go(func() {
				var out bytes.Buffer
				if code, err := r.Exec(t.Context(), remote.Script{Text: "hostname", Stdout: &out}); err != nil || code != 0 {
					t.Errorf("%d, %v", code, err)
				}
			})
		}
		all.Wait()
		if got := containers(t, e, c.Home); len(got) != 1 {
			t.Errorf("there are %d containers", len(got))
		}
	})
}

// startVariable holds the Config of a process that makes a container and waits.
const startVariable = "HERMES_TEST_START"

// startAndWait is that process.
func startAndWait() {
	var c docker.Config
	if err := json.Unmarshal([]byte(os.Getenv(startVariable)), &c); err != nil {
		panic(err)
	}
	r, err := docker.New(c)
	if err != nil {
		panic(err)
	}
	fmt.Println("starting")
	_, err = r.Exec(context.Background(), remote.Script{Text: "echo running; sleep 300", Stdout: os.Stdout})
	fmt.Println(err)
}

// TestKilledStartIsUsedOrRemoved kills a process at many points of its start.
func TestKilledStartIsUsedOrRemoved(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		c := kept(config(t, e))
		for i := range 6 {
			text, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), startVariable+"="+string(text))
			w := &lookout{word: "starting", seen: make(chan struct{})}
			cmd.Stdout, cmd.Stderr = w, w
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-w.seen
			begun := time.Now()
			for time.Since(begun) < time.Duration(i)*60*time.Millisecond { // different points, not a time to wait for something
				if len(containers(t, e, c.Home)) > 0 && i%2 == 1 {
					break // in the middle: made, and perhaps not started
				}
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			says(t, open(t, e, c), "echo hi", "hi")
			if got := containers(t, e, c.Home); len(got) != 1 {
				t.Errorf("there are %d containers", len(got))
			}
			removeAll(t, e, c.Home)
		}
	})
}

// TestTheNameOfAHalfMadeContainerIsFreed is about what podman keeps when it is killed while it
// makes a container: a file system with the name, but no container.
func TestTheNameOfAHalfMadeContainerIsFreed(t *testing.T) {
	t.Parallel()
	own := &enginetest.Shared{Start: enginetest.Podman, Needed: os.Getenv("CI") == "true"}
	e := own.Get(t)
	t.Cleanup(func() {
		if err := own.Close(); err != nil {
			t.Error(err)
		}
	})
	r := open(t, e, kept(config(t, e)))
	containersOf := filepath.Join(e.Dir, "data", "libpod", "bolt_state.db")
	before, err := os.ReadFile(containersOf)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), "create", "--name", r.Name(), enginetest.Image, "/bin/sh"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(containersOf, before, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), "create", "--name", r.Name(), enginetest.Image, "/bin/sh"); err == nil || !strings.Contains(err.Error(), "already in use") {
		t.Fatalf("the name is free (%v), so this test shows nothing", err)
	}
	says(t, r, "echo hi", "hi")
}

// TestUnusedContainerEndsByItself is what bounds the life of a container whose Hermes was killed.
func TestUnusedContainerEndsByItself(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		c := kept(config(t, e))
		c.Lifetime = 3 * time.Second
		r := mustNew(t, c)
		t.Cleanup(func() { removeAll(t, e, c.Home) })
		says(t, r, "sleep 300 >/dev/null 2>&1 & echo hi", "hi")
		if _, err := e.Run(t.Context(), "exec", r.Name(), "sleep", "9"); err != nil {
			t.Errorf("it ended although its Runner is open: %v", err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, err := e.Run(t.Context(), "wait", r.Name()); err != nil { // with its timeout, the test fails if it runs on
			t.Error(err)
		}
	})
}

func TestReaperRemovesOldOrphansOfThisHomeOnly(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		c := config(t, e)
		c.Reap, c.Lifetime = true, 3*time.Second
		foreign := c
		foreign.Home = t.TempDir()
		t.Cleanup(func() { removeAll(t, e, foreign.Home) })
		make := func(c docker.Config, session string, more ...string) string {
			c.Session = session
			args := append([]string{"create", "--network", "none", "--label", "hermes-agent=1", "--label", "hermes-home=" + docker.HomeLabel(c.Home)}, more...)
			id, err := e.Run(t.Context(), append(args, enginetest.Image, "sleep", "300")...)
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		old := make(c, "killed")
		running := make(c, "running")
		if _, err := e.Run(t.Context(), "start", running); err != nil {
			t.Fatal(err)
		}
		keptOne := make(c, "kept", "--label", "hermes-kept=true", "--label", "hermes-options=of last week")
		others := make(foreign, "killed")
		for i := 0; slices.Contains(containers(t, e, c.Home), old); i++ { // each session reaps; it is old after six seconds
			if i == 100 {
				t.Fatal("the old container is still there")
			}
			c.Session = fmt.Sprint("session", i)
			r := mustNew(t, c)
			says(t, r, "sleep 1", "")
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		left := append(containers(t, e, c.Home), containers(t, e, foreign.Home)...)
		for what, id := range map[string]string{"running": running, "kept": keptOne, "another home's": others} {
			if !slices.Contains(left, id) {
				t.Errorf("a %s container was removed", what)
			}
		}
		removeAll(t, e, c.Home)
	})
}

// TestEngineIsKilled has an engine of its own.
func TestEngineIsKilled(t *testing.T) {
	t.Parallel()
	s := &enginetest.Shared{Start: enginetest.Docker, Needed: os.Getenv("CI") == "true"}
	e := s.Get(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	r := open(t, e, config(t, e))
	if err := r.Check(t.Context()); err != nil {
		t.Errorf("check: %v", err)
	}
	w := &lookout{word: "started", seen: make(chan struct{})}
	killed := make(chan error)
	go func() {
		<-w.seen
		killed <- e.Kill()
	}()
	_, err := r.Exec(t.Context(), remote.Script{Text: "echo 1 >/workspace/mine; echo started; sleep 300", Stdout: w})
	if err == nil || errors.Is(err, remote.ErrNotRun) || !strings.Contains(err.Error(), "outcome is unknown") {
		t.Errorf("in the middle: %v", err)
	}
	if err := <-killed; err != nil {
		t.Fatal(err)
	}
	if err := r.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "not reachable") {
		t.Errorf("check while it is down: %v", err)
	}
	if _, err := r.Exec(t.Context(), remote.Script{Text: "true"}); !errors.Is(err, remote.ErrNotRun) || !strings.Contains(err.Error(), "not reachable") {
		t.Errorf("while it is down: %v", err)
	}
	if err := e.Restart(); err != nil {
		t.Fatal(err)
	}
	says(t, r, "cat /workspace/mine", "1")
}
