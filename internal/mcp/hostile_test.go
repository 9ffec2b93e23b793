package mcp_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/internal/environment"
	"hermes/internal/mcp"
	"hermes/internal/mcp/setting"
	"hermes/internal/proc"
	"hermes/internal/race"
)

// marker is the variable by which a test finds the programs that it started.
const marker = "MCP_TEST_MARK"

// marked lists the processes that have a mark in their environment.
func marked(t *testing.T, mark string) []string {
	t.Helper()
	if runtime.GOOS != "linux" {
		return nil
	}
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(files) == 0 {
		t.Fatal("processes cannot be listed:", err)
	}
	var list []string
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil || !strings.Contains(string(data), marker+"="+mark) {
			continue
		}
		list = append(list, filepath.Base(filepath.Dir(f)))
	}
	return list
}

// gone fails if a process with a mark is there. It waits for those that were killed to be reaped by
// the system.
func gone(t *testing.T, mark string) {
	t.Helper()
	var left []string
	for range 200 {
		if left = marked(t, mark); len(left) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("processes are left: %s", strings.Join(left, " "))
}

// memory watches how much memory is in use, until stopped.
func memory() (stop func() (peak uint64)) {
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var peak uint64
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapInuse)
			select {
			case <-over:
				return
			case <-tick.C:
			}
		}
	})
	return func() uint64 {
		close(over)
		watching.Wait()
		return peak - min(peak, before.HeapInuse)
	}
}

// steady fails if there are more goroutines than before, once they had time to end.
func steady(t *testing.T, before int) {
	t.Helper()
	now := 0
	for range 500 {
		if now = runtime.NumGoroutine(); now <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%d goroutines, before %d:\n%s", now, before, stacks[:runtime.Stack(stacks, true)])
}

// methods are those at which a server goes wrong.
var methods = []string{"server/discover", "initialize", "notifications/initialized", "tools/list", "tools/call", "resources/list", "resources/read", "prompts/list", "prompts/get"}

// TestAHostileServerHarmsOnlyItself: for everything that a server can do wrong, at each message: calls
// of it end, another server answers, memory stays bounded, and no process and no goroutine is left.
func TestAHostileServerHarmsOnlyItself(t *testing.T) { // not parallel: it counts goroutines and memory
	for _, fault := range []string{
		"die", "hang", "half", "wrong-id", "twice", "deep", "bytes", "nulls", "null", "array", "text", "asks", "insists", "pings",
		"line", "lines", "floods", "screams", "closes-input", "closes-output", "stubborn", "stubborn-children",
	} {
		t.Run(fault, func(t *testing.T) { harmsOnlyItself(t, fault) })
	}
}

func harmsOnlyItself(t *testing.T, fault string) {
	t.Cleanup(proc.AdoptOrphans()) // as the program does
	before := runtime.NumGoroutine()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, mark := t.TempDir(), fmt.Sprintf("%s-%d", fault, os.Getpid())
	var list []setting.Server
	add := func(name, kind string) {
		set, _, err := setting.Parse(name, map[string]any{"command": self, "env": map[string]any{serverKind: kind, marker: mark}}, setting.Vars{})
		if err != nil {
			t.Fatal(err)
		}
		if name != "good" {
			set.Times.Connect, set.Times.Call = time.Second, time.Second
		}
		list = append(list, set)
	}
	add("good", "plain")
	at := methods
	if race.Enabled || slices.Contains([]string{"insists", "pings", "lines", "floods", "screams", "closes-output"}, fault) {
		at = []string{"initialize", "tools/list", "tools/call"} // these take long
	}
	for i, m := range at {
		add(fmt.Sprint("bad", i), "hostile:"+fault+"@"+m)
	}
	peak := memory()
	servers, err := mcp.New(mcp.Config{
		Cache: dir + "/cache", Approvals: dir + "/mcp-tools.json", Roots: func() []string { return []string{dir} },
		Sample: func(context.Context, mcp.Sample) (mcp.Sampled, error) { return mcp.Sampled{Model: "m", Text: "t"}, nil },
		Environment: func(setting.Server) (hermes.Environment, error) {
			return environment.NewLocal(environment.LocalConfig{Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}})
		},
	}, list)
	if err != nil {
		t.Fatal(err)
	}
	servers.Start()
	var calls sync.WaitGroup
	for i := range at {
		calls.Go(func() {
			s, _ := servers.Server(fmt.Sprint("bad", i))
			_ = s.Ready(t.Context()) // it may have failed
			tools, _ := s.Live()
			for _, tool := range tools {
				h := &host{session: "s", approve: hermes.AllowOnce, slow: fault == "insists"}
				_, _ = tool.Run(t.Context(), &hermes.Call{Name: tool.Spec().Name, Arguments: []byte(`{"uri":"x://a","name":"p"}`), Host: h}) // how it fails is another test's
			}
		})
	}
	good, _ := servers.Server("good")
	if err := good.Ready(t.Context()); err != nil {
		t.Error("the good server:", err)
	}
	check := func() {
		tools, _ := good.Live()
		for _, tool := range tools {
			if tool.Spec().Name == "mcp__good__add" {
				if r, err := tool.Run(t.Context(), &hermes.Call{Name: tool.Spec().Name, Arguments: []byte(`{"a":2,"b":3}`), Host: &host{}}); err != nil || r.Text != "5" {
					t.Errorf("the good server: %+v %v", r, err)
				}
			}
		}
	}
	for range 20 {
		check()
	}
	calls.Wait()
	check()
	began := time.Now()
	if err := servers.Close(); err != nil {
		t.Error(err)
	}
	closed := time.Since(began)
	most := peak()
	t.Logf("at most %d MB more, closed in %v", most>>20, closed.Round(time.Millisecond))
	if most > 600<<20 {
		t.Errorf("%d MB of memory", most>>20)
	}
	if closed > 20*time.Second {
		t.Errorf("closing took %v", closed)
	}
	gone(t, mark)
	steady(t, before)
}

// TestQuestionsOfAHostileServerHarmNothing: forms that refer to themselves, are of another kind or are
// none, to a user who agrees to all: each call ends, at once.
func TestQuestionsOfAHostileServerHarmNothing(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"questions", "inputs"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			f := start(t, "hostile:"+fault+"@tools/call", func(s *setting.Server, c *mcp.Config) {
				s.Times.Call = 20 * time.Second
			})
			f.ready(t)
			for i, q := range questions {
				began := time.Now()
				_, _, err := f.call(t.Context(), &host{session: "s", agrees: true}, "write", `{}`, false)
				if err != nil && strings.Contains(err.Error(), "did not answer within") {
					t.Errorf("question %d, %.200s: no answer after %v: %v", i, q, time.Since(began), err)
				}
			}
		})
	}
}
