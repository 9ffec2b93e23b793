package rented_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/environment/remote"
)

// carrier has one file.
type carrier struct{}

func (carrier) Changed(all bool) ([]remote.CarriedFile, []string) {
	if !all {
		return nil, nil
	}
	return []remote.CarriedFile{{Path: ".aws/credentials", Data: []byte("secret\x00\xff\n")}}, nil
}

// TestASandboxGetsFilesOfThisMachine, and so does the one after it; a kept one has none after the session.
func TestASandboxGetsFilesOfThisMachine(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s server, i int) {
		c := config(t)
		c.Persistent = true
		has := func(e *remote.Environment) string {
			t.Helper()
			var out bytes.Buffer
			if _, err := e.Exec(t.Context(), hermes.Command{Line: "cat ~/.aws/credentials 2>/dev/null; ls -A ~ | grep -c hermes", Stdout: &out}); err != nil {
				t.Fatal(err)
			}
			return strings.TrimSpace(out.String())
		}
		e := remote.New(remote.Config{Runner: mustOpen(t, s, c), Carry: carrier{}})
		if got := has(e); got != "secret\x00\xff\n1" {
			t.Errorf("the sandbox has %q, told %q", got, e.Untold())
		}
		gone := c
		gone.Persistent = false
		other := mustOpen(t, s, gone)
		output(t, other, "true", "")
		if err := other.Close(); err != nil { // deletes it
			t.Fatal(err)
		}
		if got := has(e); got != "secret\x00\xff\n1" {
			t.Errorf("the sandbox after it has %q, told %q", got, e.Untold())
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e = remote.New(remote.Config{Runner: mustOpen(t, s, c)})
		if got := has(e); got != "0" {
			t.Errorf("the next session has %q", got)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestAScriptForWhatRunsWakesNothing before a sandbox was made.
func TestAScriptForWhatRunsWakesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s server, i int) {
		r := mustOpen(t, s, config(t))
		defer r.Close()
		script := remote.Script{Text: "true", Running: true}
		if _, err := r.Exec(t.Context(), script); !errors.Is(err, remote.ErrNotRun) || s.count("", "") != 0 {
			t.Errorf("before: %v, %d requests", err, s.count("", ""))
		}
		output(t, r, "true", "")
		if code, err := r.Exec(t.Context(), script); code != 0 || err != nil {
			t.Errorf("while it runs: %d, %v", code, err)
		}
	})
}
