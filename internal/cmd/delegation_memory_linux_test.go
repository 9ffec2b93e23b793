package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hermes/internal/chatserver"
	"hermes/internal/race"
)

// resident is the memory that a process has in use (VmRSS), or had at most (VmHWM), in bytes.
func resident(t *testing.T, pid int, which string) int64 {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if amount, ok := strings.CutPrefix(line, which+":"); ok {
			kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(amount), " kB"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Fatalf("the process has no %s", which)
	return 0
}

// TestFiftySubAgentsTakeLittleMemory: the program takes at most 60 MB more while 50 of them are at work and report.
func TestFiftySubAgentsTakeLittleMemory(t *testing.T) {
	race.Skip(t)
	const many = 50
	begun := make(chan struct{}, 2*many) // a request may come again
	release := make(chan struct{})
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		said := taskOf(r)
		switch {
		case len(r.Tools) == 0: // a title, say
			return chatserver.Answer{Text: "Split up"}, nil
		case strings.HasPrefix(said, "part "):
			begun <- struct{}{}
			<-release
			return chatserver.Answer{Text: "did it"}, nil
		case lastIs(r, "tool"):
			return chatserver.Answer{Text: fmt.Sprintf("%d have reported.", strings.Count(r.Messages[len(r.Messages)-1].Text(), `"status":"completed"`))}, nil
		case strings.Contains(r.Messages[len(r.Messages)-1].Text(), "split it"):
			var tasks []map[string]string
			for i := range many {
				tasks = append(tasks, map[string]string{"goal": fmt.Sprintf("part %d", i)})
			}
			return call("delegate_task", map[string]any{"tasks": tasks}), nil
		}
		return chatserver.Answer{Text: "Good day."}, nil
	})...)
	p.writeConfig("model: {provider: custom, default: played}\ndelegation: {max_concurrent_children: 50}\ntool_loop_guardrails: {loop_caps: {max_subagents: 60}}\n")
	s := p.sit("xterm-256color", "-q", "hello")
	s.shows("Good day.")
	before := resident(t, s.pid, "VmRSS")
	s.press("split it\r")
	for range many {
		<-begun
	}
	during := resident(t, s.pid, "VmRSS")
	close(release)
	s.shows("50 have reported.")
	most := resident(t, s.pid, "VmHWM")
	t.Logf("%d MB before, %d MB with 50 sub-agents, %d MB at most", before>>20, during>>20, most>>20)
	if most-before > 60<<20 {
		t.Errorf("50 sub-agents take %d MB, from %d to %d", (most-before)>>20, before>>20, most>>20)
	}
	s.press("\x04")
	s.left()
}
