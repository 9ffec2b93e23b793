//go:build unix

package cmd_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/chatserver"
	"hermes/internal/race"
)

// runUnread runs the program with a standard output whose reader takes some bytes and
// goes away; 0 closes it before the program starts.
func (p *user) runUnread(takes int, both bool, args ...string) (errs string, status int, signaled bool) {
	p.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		p.t.Fatal(err)
	}
	c := p.command(args...)
	var stderr bytes.Buffer
	c.Stdout, c.Stderr = w, &stderr
	if both {
		c.Stderr = w
	}
	if takes == 0 {
		r.Close()
	}
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	w.Close()
	if takes > 0 {
		_, _ = r.Read(make([]byte, takes))
		r.Close()
	}
	err = c.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return stderr.String(), exit.ExitCode(), !exit.Exited()
	}
	return stderr.String(), 0, false
}

// TestLostOutputEndsInOrder: nothing is ended by a signal, no session stays open, and a
// reader that has gone is no reason for a message.
func TestLostOutputEndsInOrder(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("A line of the answer.\n", race.Rounds(20_000, 5_000)) // more than a pipe holds
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		return chatserver.Answer{Text: long}, nil
	})...)
	if _, errs, status := p.run("-z", "fill the store"); status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	all := []int{0, 1}[:race.Rounds(2, 1)]
	for _, args := range [][]string{
		{"-z", "one"}, {"-q", "two"}, {"-q", "three", "-Q"}, {"chat", "-q", "four"}, {"-q", "five", "-v"}, {"-z", "six", "--json"}, {"-q", "seven", "--json-stream"},
		{"sessions", "list", "--all"}, {"sessions", "show", "latest"}, {"sessions", "export", "-"}, {"sessions", "stats"},
		{"--help"}, {"sessions", "search", "answer"}, {"config", "show"}, {"tools"}, {"doctor"}, {"logs"}, {"insights"}, {"completion", "bash"},
	} {
		for _, takes := range all {
			errs, status, signaled := p.runUnread(takes, takes == 1, args...)
			if signaled || status != 0 && status != 1 {
				t.Errorf("%q: status %d, ended by a signal: %v\n%s", args, status, signaled, errs)
			}
			if strings.Contains(errs, "pipe") || strings.Contains(errs, "/dev/stdout") {
				t.Errorf("%q: a message about the reader:\n%s", args, errs)
			}
		}
	}
	rows, err := p.store().ListSessions(t.Context(), hermes.SessionFilter{Limit: -1})
	if err != nil || len(rows) < 1+7*len(all) {
		t.Fatalf("%d sessions, %v", len(rows), err)
	}
	for _, r := range rows {
		if r.Ended.IsZero() {
			t.Errorf("session %s is still open", r.ID)
		}
	}
}

// TestCommandsOfTheAgentEndAtAClosedPipe: they do not inherit how Hermes treats the signal.
func TestCommandsOfTheAgentEndAtAClosedPipe(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		if results(r) == 0 {
			return call("terminal", map[string]string{"command": "(yes; echo $? >status) 2>errors | head -1; cat status errors"}), nil
		}
		return chatserver.Answer{Text: r.Messages[len(r.Messages)-1].Text()}, nil
	})...)
	out, errs, status := p.run("-z", "run it", "--yolo")
	raw, _ := os.ReadFile(filepath.Join(p.dir, "status"))
	if status != 0 || strings.TrimSpace(string(raw)) != "141" {
		t.Errorf("status %d, yes ended with %q\n%s%s", status, raw, out, errs)
	}
}
