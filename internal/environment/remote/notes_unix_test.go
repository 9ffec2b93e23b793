//go:build unix

package remote_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/environment/remote"
	"hermes/internal/liveness"
)

// lasting is a place that goes on without the program.
type lasting struct {
	*host
	name string
}

func (l lasting) Place() string { return l.name }

// TestTheNextProgramEndsWhatAKilledOneLeft in the same place, and nothing of a program that lives.
func TestTheNextProgramEndsWhatAKilledOneLeft(t *testing.T) {
	t.Parallel()
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, shell)
			t.Cleanup(func() { h.check(t) })
			notes := t.TempDir()
			mustOpen := func(place string) *remote.Environment {
				return remote.New(remote.Config{Runner: lasting{h, place}, Shell: h.shell, Notes: notes})
			}
			killed, living, next, elsewhere := mustOpen("a"), mustOpen("a"), mustOpen("a"), mustOpen("b")
			for _, e := range []*remote.Environment{killed, living, next, elsewhere} {
				t.Cleanup(func() {
					if err := e.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			p := mustStart(t, killed, hermes.Command{Line: "(setsid sleep 1000) & sleep 1000"})
			all, err := os.ReadDir(notes)
			if err != nil || len(all) != 1 {
				t.Fatalf("notes %v, %v", all, err)
			}
			note := filepath.Join(notes, all[0].Name())
			endLock(t, filepath.Join(note, liveness.LockName))
			q := mustStart(t, living, hermes.Command{Line: "read a; exit 3"})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if _, err := p.Wait(ctx); err != nil && !strings.Contains(err.Error(), "the process is gone") { // if its folder went before its end was read
				t.Errorf("what the killed program left: %v", err)
			}
			output(t, elsewhere, "true")
			output(t, next, "true")
			if _, err := os.Stat(note); err == nil {
				t.Error("the note is still there")
			}
			if err := q.Input([]byte("x\n")); err != nil {
				t.Error(err)
			}
			if exit, err := q.Wait(t.Context()); err != nil || exit.Code != 3 {
				t.Errorf("what a living program runs: exit %+v, %v", exit, err)
			}
		})
	}
}

// endLock makes a lock file say that its process has ended.
func endLock(t *testing.T, lock string) {
	t.Helper()
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	l, err := liveness.Hold(lock)
	if err == nil {
		err = l.Free()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoNoteIsLeft by a program that ends as it should.
func TestNoNoteIsLeft(t *testing.T) {
	t.Parallel()
	h := newHost(t, "bash")
	notes := t.TempDir()
	e := remote.New(remote.Config{Runner: lasting{h, "a"}, Notes: notes})
	output(t, e, "true")
	if all, err := os.ReadDir(notes); err != nil || len(all) != 1 {
		t.Errorf("while it runs: %v, %v", all, err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if all, err := os.ReadDir(notes); err != nil || len(all) != 0 {
		t.Errorf("left %v, %v", all, err)
	}
}
