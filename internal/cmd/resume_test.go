package cmd_test

import (
	"fmt"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/chatserver"
)

// TestMaxResumeMessages: a session that is too long is not read into memory; the message
// says how to go on.
func TestMaxResumeMessages(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		return chatserver.Answer{Text: fmt.Sprintf("answer %d", len(r.Messages))}, nil
	})...)
	if out, errs, status := p.run("-z", "hello", "-m", "played"); status != 0 {
		t.Fatalf("status %d: %s%s", status, out, errs)
	}
	list, err := p.store().ListSessions(t.Context(), hermes.SessionFilter{Limit: -1})
	if err != nil || len(list) != 1 {
		t.Fatalf("stored %+v, %v", list, err)
	}
	id := list[0].ID
	for n := 4; n <= 6; n += 2 {
		if _, errs, status := p.run("--resume", id, "-z", "more", "-m", "played"); status != 0 {
			t.Fatalf("status %d: %s", status, errs)
		}
	}
	p.configure("sessions: {max_resume_messages: 5}\n")
	_, errs, status := p.run("--resume", id, "-z", "more", "-m", "played")
	if status != 1 || !strings.Contains(errs, "it has 6 messages") || !strings.Contains(errs, "`hermes config set sessions.max_resume_messages 12`") {
		t.Errorf("status %d: %s", status, errs)
	}
	if out, errs, status := p.run("-z", "a new one", "-m", "played"); status != 0 {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	if out, errs, status := p.run("sessions", "show", id); status != 0 || !strings.Contains(out, "hello") {
		t.Errorf("it cannot be read: %d, %s%s", status, out, errs)
	}
	if out, errs, status := p.run("config", "set", "sessions.max_resume_messages", "6"); status != 0 {
		t.Fatalf("status %d: %s%s", status, out, errs)
	}
	if out, errs, status := p.run("--resume", id, "-z", "more", "-m", "played"); status != 0 {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
}
