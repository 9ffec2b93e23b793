//go:build unix

package cmd_test

import (
	"errors"
	"os/exec"
	"testing"
	"time"

	"hermes/internal/chatserver"
)

// TestDestructiveSlashConfirm has a chat on a terminal: /new asks first, unless
// approvals.destructive_slash_confirm is off.
func TestDestructiveSlashConfirm(t *testing.T) {
	t.Parallel()
	for settings, asks := range map[string]bool{
		"": true,
		"approvals: {destructive_slash_confirm: maybe}\n": true,
		"approvals: {destructive_slash_confirm: false}\n": false,
	} {
		p := newUser(t, serve(t, func(*chatserver.Request) (chatserver.Answer, error) { return chatserver.Answer{Text: "Good day."}, nil })...)
		p.configure(settings)
		s := p.sit("dumb", "-q", "hello", "-m", "played")
		s.shows("Good day.")
		s.press("/new\n")
		if asks {
			s.shows("[y/N]")
			s.press("n\n")
		}
		s.press("/history\n")
		if asks { // the session is the same
			s.shows("Good day.")
		} else {
			s.shows("No messages yet.")
		}
		s.press("\x04")
		s.left()
	}
}

// TestNoChatWithUnclearSpendSettings has the chat on a terminal: it ends at once.
func TestNoChatWithUnclearSpendSettings(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"chat"}, {"-c"}, {"-q", "hi"}} {
		p, requests := counted(t)
		p.configure("spend:\n  per_session: 5\n")
		s := p.sit("dumb", append(args, "-m", "played")...)
		s.shows("config.yaml, line 2: spend.per_session is not a known setting")
		s.shows("hermes config unset spend.per_session")
		if status := s.status(); status != 2 || requests.Load() > 0 {
			t.Errorf("%v: status %d, %d requests", args, status, requests.Load())
		}
	}
}

// TestPlannedSafetyWarnsInTheChat has the warning at the start of a chat on a terminal.
func TestPlannedSafetyWarnsInTheChat(t *testing.T) {
	t.Parallel()
	p, _ := counted(t)
	p.configure("privacy: {redact_pii: true}\n")
	s := p.sit("dumb", "-m", "played")
	s.shows("privacy.redact_pii is set but does not protect you yet")
	s.press("\x04")
	s.left()
}

// status waits until the program ends and returns its exit status.
func (s *seat) status() int {
	s.t.Helper()
	limit := time.After(2 * time.Minute)
	for {
		select {
		case <-s.read:
		case err := <-s.end:
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				return exit.ExitCode()
			}
			return 0
		case <-limit:
			s.t.Fatal("the program did not end")
		}
	}
}
