package cmd_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
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

// TestASessionKeepsItsOptions: options that hold for the life of a session are refused when it is
// resumed with others, and need not be given again.
func TestASessionKeepsItsOptions(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var all []chatserver.Request
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, *r)
		return chatserver.Answer{Text: fmt.Sprintf("answer %d", len(r.Messages))}, nil
	})...)
	requests := func() []chatserver.Request {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
	ask := func(args ...string) (errs string, status int) {
		t.Helper()
		_, errs, status = p.run(append([]string{"-z", "hello", "-m", "played"}, args...)...)
		return errs, status
	}
	if errs, status := ask("-t", "file,todo", "--pass-session-id", "--source", "tool"); status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	list, err := p.store().ListSessions(t.Context(), hermes.SessionFilter{Platform: "tool", Limit: -1})
	if err != nil || len(list) != 1 {
		t.Fatalf("stored %+v, %v", list, err)
	}
	id := list[0].ID
	if row, err := p.store().FindSession(t.Context(), id); err != nil || row.Run.Origin.Platform != "oneshot" || row.Run.Origin.Label != "tool" {
		t.Errorf("the run is %+v, %v", row.Run, err)
	}
	if system := requests()[0].Messages[0].Text(); !strings.Contains(system, id) {
		t.Errorf("the prompt does not have the id %s:\n%s", id, system)
	}
	keeps := ": session " + id + " keeps the tools, the prompt and the backend that it was started with; resume it without "
	for _, tt := range []struct {
		args []string
		want string // "" if it is resumed
	}{
		{args: nil},
		{args: []string{"-t", "file,todo"}},
		{args: []string{"--pass-session-id", "-t", "file,todo"}},
		{args: []string{"--yolo", "--max-turns", "3", "--source", "other"}},
		{args: []string{"--backend", "local"}},
		{[]string{"--backend", "docker"}, "--backend" + keeps + "--backend, or"},
		{[]string{"-t", "file"}, "--toolsets" + keeps + "--toolsets, or"},
		{[]string{"-t", "terminal", "--ignore-rules"}, "--toolsets and --ignore-rules" + keeps + "--toolsets and --ignore-rules, or"},
		{[]string{"--ignore-rules"}, "--ignore-rules" + keeps + "--ignore-rules, or"},
		{[]string{"-s", "debugging"}, "--skills" + keeps + "--skills, or"},
	} {
		before := len(requests())
		errs, status := ask(append([]string{"--resume", id}, tt.args...)...)
		sent := requests()
		if tt.want == "" && (status != 0 || len(sent) != before+1 || len(sent[before].Tools) != len(sent[0].Tools)) {
			t.Errorf("%q: status %d, %d requests: %s", tt.args, status, len(sent)-before, errs)
		}
		if tt.want != "" && (status != 2 || !strings.Contains(errs, tt.want) || len(sent) != before) {
			t.Errorf("%q: status %d, %d requests: %s", tt.args, status, len(sent)-before, errs)
		}
	}
	branch, errs, status := p.run("sessions", "branch", id)
	if status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	copied, err := p.store().ListSessions(t.Context(), hermes.SessionFilter{Parent: id, Limit: -1})
	if err != nil || len(copied) != 1 {
		t.Fatalf("branches %+v, %v: %s", copied, err, branch)
	}
	if errs, status := ask("--resume", copied[0].ID, "-t", "file"); status != 2 || !strings.Contains(errs, "--toolsets: session "+copied[0].ID) {
		t.Errorf("the branch: status %d, %s", status, errs)
	}
}
