//go:build unix

package cmd_test

import (
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"hermes"
	"hermes/internal/chatserver"
)

// TestSubAgentsSurviveSIGKILL: when the program is killed, one has ended and two work. After the resume,
// /continue has three reports of three sub-agents, and none did anything twice.
func TestSubAgentsSurviveSIGKILL(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	var working sync.WaitGroup
	working.Add(3)
	var mu sync.Mutex
	asked := map[string]int{}
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		said, reports := taskOf(r), ""
		for _, m := range r.Messages {
			if m.Role == "tool" {
				reports = m.Text()
			}
		}
		switch {
		case len(r.Tools) == 0: // a title, say
			return chatserver.Answer{Text: "Split up"}, nil
		case strings.Contains(said, "split it") && reports == "":
			return call("delegate_task", map[string]any{"tasks": []map[string]any{{"goal": "part one"}, {"goal": "part two"}, {"goal": "part three"}}}), nil
		case strings.Contains(said, "split it"):
			mu.Lock()
			defer mu.Unlock()
			if strings.Count(reports, `"status":"completed"`) == 3 && strings.Contains(reports, "did part two") {
				return chatserver.Answer{Text: "All three are done."}, nil
			}
			return chatserver.Answer{Text: "Something is missing: " + reports}, nil
		}
		part, _, _ := strings.Cut(said, "\n")
		mu.Lock()
		asked[part]++
		first := asked[part] == 1
		mu.Unlock()
		if first {
			working.Done()
		}
		if first && part != "part one" {
			<-release
		}
		return chatserver.Answer{Text: "did " + part}, nil
	})...)
	s := p.sit("xterm-256color", "-m", "custom:played", "-q", "split it")
	working.Wait()
	st := p.store()
	children := func() []hermes.Session {
		list, err := st.ListSessions(t.Context(), hermes.SessionFilter{Platform: hermes.PlatformChild, Limit: -1})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for ended := 0; ended == 0; { // its report is stored
		for _, c := range children() {
			if c.EndReason == "completed" {
				ended++
			}
		}
	}
	s.signal(syscall.SIGKILL)
	s.left()

	s = p.sit("xterm-256color", "-m", "custom:played", "-c")
	s.shows("Use /continue to resume it.")
	s.press("/continue\r")
	s.shows("All three are done.")
	s.press("\x04")
	s.left()
	if n := len(children()); n != 3 {
		t.Errorf("%d sub-agents", n)
	}
	for _, c := range children() {
		list, err := st.Messages(t.Context(), c.ID, hermes.Range{})
		if err != nil || len(list) != 2 || c.EndReason != "completed" {
			t.Errorf("%s ended as %q, with %d messages, %v", c.ID, c.EndReason, len(list), err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if asked["part one"] != 1 || asked["part two"] != 2 || asked["part three"] != 2 {
		t.Errorf("the model was asked %v times", asked)
	}
}

// TestAnUndoneDelegationLeavesOnlyWhatHoldsWork: the program is killed while two sub-agents work in worktrees of their own. After
// the undo the empty one is gone, and the user reads where the other one is.
func TestAnUndoneDelegationLeavesOnlyWhatHoldsWork(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("worktrees are kept here")
	}
	release := make(chan struct{})
	defer close(release)
	working := make(chan struct{}, 64)
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		said := taskOf(r)
		switch {
		case len(r.Tools) == 0: // a title, say
			return chatserver.Answer{Text: "Split up"}, nil
		case strings.Contains(said, "split it"):
			return call("delegate_task", map[string]any{"worktree": true, "tasks": []map[string]any{{"goal": "write"}, {"goal": "read"}}}), nil
		case strings.HasPrefix(said, "write") && results(r) == 0:
			return call("write_file", map[string]string{"path": "new.txt", "content": "new\n"}), nil
		}
		working <- struct{}{}
		<-release
		return chatserver.Answer{Text: "done"}, nil
	})...)
	p.repository()
	s := p.sit("xterm-256color", "-m", "custom:played", "-q", "split it")
	for range 2 {
		<-working
	}
	if all := p.trees(); len(all) != 2 {
		t.Fatalf("before: %+v", all)
	}
	s.signal(syscall.SIGKILL)
	s.left()

	s = p.sit("xterm-256color", "-m", "custom:played", "-c")
	s.shows("Use /continue to resume it.")
	s.press("/undo\r")
	s.shows("Undo the last exchange")
	s.press("y\r")
	s.shows("Remove it with: hermes worktree remove")
	s.press("\x04")
	s.left()
	if all := p.trees(); len(all) != 1 || len(all[0].Lost) != 1 || !strings.Contains(all[0].Lost[0], "new.txt") {
		t.Errorf("after: %+v", all)
	}
}

// taskOf returns the first message of the user, which is the task of a child.
func taskOf(r *chatserver.Request) string {
	for _, m := range r.Messages {
		if m.Role == "user" {
			return m.Text()
		}
	}
	return ""
}
