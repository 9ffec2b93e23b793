package mcp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes"
	"hermes/internal/environment"
	"hermes/internal/mcp"
	"hermes/internal/mcp/setting"
	"hermes/internal/proc"
	"hermes/internal/race"
)

// cyclesVariable is how often TestConnectsAndKillsLeaveNothing connects.
const cyclesVariable = "HERMES_SLOW_MCP_CYCLES"

// TestConnectsAndKillsLeaveNothing connects to servers again and again, kills them in the middle or with
// all they started, asks for another connection, reloads and closes: no process, no file descriptor,
// no goroutine and no folder is left.
func TestConnectsAndKillsLeaveNothing(t *testing.T) { // not parallel: it counts goroutines and descriptors
	t.Cleanup(proc.AdoptOrphans()) // as the program does
	cycles := race.Rounds(48, 12)
	if v := os.Getenv(cyclesVariable); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatal(err)
		}
		cycles = n
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, mark := t.TempDir(), fmt.Sprintf("cycles-%d", os.Getpid())
	t.Setenv("TMPDIR", filepath.Join(dir, "tmp"))
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	set := func(name, kind string) setting.Server {
		s, _, err := setting.Parse(name, map[string]any{"command": self, "env": map[string]any{serverKind: kind, marker: mark}}, setting.Vars{})
		if err != nil {
			t.Fatal(err)
		}
		s.Times.Call = 5 * time.Second
		return s
	}
	list := []setting.Server{set("a", "plain"), set("b", "hostile:stubborn-children@tools/call"), set("c", "hostile:hang@initialize"), set("d", "plain")}
	round := func(i int) {
		servers, err := mcp.New(mcp.Config{
			Cache: dir + "/cache", Approvals: dir + "/mcp-tools.json",
			Environment: func(setting.Server) (hermes.Environment, error) {
				return environment.NewLocal(environment.LocalConfig{Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}})
			},
		}, list)
		if err != nil {
			t.Fatal(err)
		}
		servers.Start()
		for _, name := range []string{"a", "b", "d"} {
			s, _ := servers.Server(name)
			if i%8 == 7 {
				break // closed while they connect
			}
			if err := s.Ready(t.Context()); err != nil {
				t.Fatal(name, err)
			}
		}
		a, _ := servers.Server("a")
		switch i % 8 {
		case 0, 1: // killed in the middle of a call
			done := make(chan struct{})
			go func() {
				defer close(done)
				callOf(t, a, "mcp__a__slow")
			}()
			for _, pid := range marked(t, mark) {
				n, _ := strconv.Atoi(pid)
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
			<-done
		case 2, 3:
			a.Again()
			callOf(t, a, "mcp__a__add")
		case 4:
			changed := set("a", "plain")
			changed.Untrusted = true
			if _, err := servers.Reload([]setting.Server{changed, list[2]}, i%16 == 4); err != nil {
				t.Error(err)
			}
		case 5:
			b, _ := servers.Server("b")
			callOf(t, b, "mcp__b__add") // starts children that stay
		case 6:
			go func() { _, _ = servers.Reload(list, true) }() // Close comes in between
		}
		if err := servers.Close(); err != nil {
			t.Error(err)
		}
	}
	round(7) // what is made once
	goroutines, open := runtime.NumGoroutine(), descriptors(t)
	began := time.Now()
	for i := range (cycles + 3) / 4 { // four servers each
		round(i)
	}
	gone(t, mark)
	steady(t, goroutines)
	for range 200 {
		if descriptors(t) <= open {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := descriptors(t); n > open {
		t.Errorf("%d descriptors are open, before %d", n, open)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "tmp", "*")); err != nil || len(left) > 0 {
		t.Errorf("folders are left: %v %v", left, err)
	}
	t.Logf("%d connects in %v", cycles, time.Since(began).Round(time.Millisecond))
}

// callOf calls a tool that may fail.
func callOf(t *testing.T, s *mcp.Server, name string) {
	tools, _ := s.Live()
	for _, tool := range tools {
		if tool.Spec().Name == name {
			_, _ = tool.Run(t.Context(), &hermes.Call{Name: name, Arguments: []byte(`{"a":1,"b":1}`), Host: &host{}})
		}
	}
}

// descriptors counts the open files, pipes and sockets.
func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range list {
		if to, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && !strings.Contains(to, "[eventpoll]") && !strings.Contains(to, "/proc/") {
			n++
		}
	}
	return n
}
