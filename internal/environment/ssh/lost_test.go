package ssh_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/environment/remote"
)

// TestACutInTheMiddleIsAnUnknownOutcome cuts the network while a command runs, and ends the
// command there once the machine can be reached.
func TestACutInTheMiddleIsAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, library bool) {
		s := newServer(t)
		n := s.NewNetwork(t)
		e := mustEnvironment(t, config(t, s, library))
		defer e.Close()
		out := &said{first: make(chan struct{})}
		done := make(chan error, 1)
		go func() {
			_, err := e.Exec(t.Context(), hermes.Command{Line: "echo begun; while :; do echo x >>beats; sleep 0.05; done", Stdout: out})
			done <- err
		}()
		<-out.first
		n.Cut()
		err := <-done
		if err == nil || errors.Is(err, remote.ErrNotRun) || !strings.Contains(err.Error(), "outcome is unknown") || !strings.Contains(err.Error(), "box") {
			t.Errorf("a cut in the middle: %v", err)
		}
		var after bytes.Buffer
		if _, err := e.Exec(t.Context(), hermes.Command{Line: "a=$(wc -c <beats); sleep 0.4; b=$(wc -c <beats); [ $a = $b ] && echo ended", Stdout: &after}); err != nil || after.String() != "ended\n" {
			t.Errorf("after the cut: %q, %v", after.String(), err)
		}
		if n := s.Accepted(); n != 2 {
			t.Errorf("%d connections, want a second one", n)
		}
	})
}

// TestASilentNetworkIsNoticed freezes the network: after three signs of life that do not come,
// the connection counts as lost. What was not sent by then did not run.
func TestASilentNetworkIsNoticed(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, library bool) {
		s := newServer(t)
		n := s.NewNetwork(t)
		r := mustNew(t, config(t, s, library))
		run(t, r, "true", "")
		out := &said{first: make(chan struct{})}
		during := make(chan error, 1)
		go func() {
			_, err := r.Exec(t.Context(), remote.Script{Text: "echo begun; exec sleep 20", Stdout: out})
			during <- err
		}()
		<-out.first
		n.Freeze()
		begin := time.Now()
		ran := filepath.Join(s.Dir, "ran")
		later := make(chan error, 1)
		go func() {
			_, err := r.Exec(t.Context(), remote.Script{Text: "echo x >>" + ran})
			later <- err
		}()
		if err := <-during; err == nil || errors.Is(err, remote.ErrNotRun) || !strings.Contains(err.Error(), "outcome is unknown") {
			t.Errorf("what ran: %v", err)
		}
		if took := time.Since(begin); took > 15*time.Second {
			t.Errorf("it took %v", took)
		}
		n.Cut() // what was frozen on the way is gone
		err := <-later
		if out, _, _ := run(t, r, "cat "+ran+" 2>/dev/null; echo back", ""); !(err == nil && out == "x\nback\n") && !(errors.Is(err, remote.ErrNotRun) && out == "back\n") {
			t.Errorf("what was sent into the silence: %v, and the machine has %q", err, out)
		}
	})
}

func TestTheNextScriptConnectsAgain(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, library bool) {
		s := newServer(t)
		n := s.NewNetwork(t)
		r := mustNew(t, config(t, s, library))
		files := r.Files(nowhere{})
		// Which runs a script again that certainly did not run, as Runner says.
		e := remote.New(remote.Config{Runner: r, Dir: t.TempDir(), Env: []string{"HOME=" + os.TempDir()}})
		for round := range 3 {
			var out bytes.Buffer
			if _, err := e.Exec(t.Context(), hermes.Command{Line: "echo here", Stdout: &out}); err != nil || out.String() != "here\n" {
				t.Errorf("round %d: %q, %v", round, out.String(), err)
			}
			if info, err := files.Stat(t.Context(), s.Dir); err != nil || !info.IsDir() {
				t.Errorf("round %d: files: %v", round, err)
			}
			switch round {
			case 0:
				n.Cut()
			case 1:
				s.Stop() // as when sshd is restarted
				_, err := r.Exec(t.Context(), remote.Script{Text: "true"})
				if !errors.Is(err, remote.ErrNotRun) {
					t.Errorf("while the server is down: %v, want ErrNotRun", err)
				}
				s.Go()
			}
		}
	})
}

// nowhere are files over scripts that must not be needed.
type nowhere struct{ remote.ScriptFiles }

func (nowhere) Resolve(path string) (string, error) { return path, nil }

// TestOnlyTheStarterOfAConnectionStops: others that wait for the same connection go on.
func TestOnlyTheStarterOfAConnectionStops(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, library bool) {
		s := newServer(t)
		n := s.NewNetwork(t)
		r := mustNew(t, config(t, s, library))
		n.Freeze()
		ctx, cancel := context.WithCancel(t.Context())
		first, second := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := r.Exec(ctx, remote.Script{Text: "true"})
			first <- err
		}()
		for s.Accepted() == 0 {
			time.Sleep(time.Millisecond)
		}
		go func() {
			_, err := r.Exec(t.Context(), remote.Script{Text: "true"})
			second <- err
		}()
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) || !errors.Is(err, remote.ErrNotRun) {
			t.Errorf("the first: %v", err)
		}
		n.Thaw()
		if err := <-second; err != nil {
			t.Errorf("the second: %v", err)
		}
	})
}

func TestCloseLeavesNothing(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, library bool) {
		s := newServer(t)
		c := config(t, s, library)
		dead := filepath.Join(c.Run, "ssh-dead")
		if err := os.MkdirAll(dead, 0o700); err != nil { // no lock: its owner is not known to have ended
			t.Fatal(err)
		}
		r := mustNew(t, c)
		run(t, r, "true", "")
		if _, err := r.Files(nowhere{}).Stat(t.Context(), "/"); err != nil {
			t.Fatal(err)
		}
		folders, _ := filepath.Glob(filepath.Join(c.Run, "ssh-*"))
		for _, f := range folders {
			if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%s: %v, %v", f, info, err)
			}
		}
		if !library && len(folders) != 2 {
			t.Errorf("folders %q, want one more", folders)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if folders, _ := filepath.Glob(filepath.Join(c.Run, "ssh-*")); len(folders) != 1 {
			t.Errorf("left: %q", folders)
		}
		if _, err := r.Exec(t.Context(), remote.Script{Text: "true"}); !errors.Is(err, remote.ErrNotRun) {
			t.Errorf("after Close: %v", err)
		}
		s.Await(t, 0, 10*time.Second)
	})
}
