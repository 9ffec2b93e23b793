//go:build slow

package app_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/internal/chatserver"
	"hermes/internal/mcp"
)

// TestRealServersNeverChangeThePrefix: in fifty turns a server on the SDK for Python adds and removes tools by calls,
// and another comes late. Each request begins with the bytes of the one before, and the model is told of the changes.
func TestRealServersNeverChangeThePrefix(t *testing.T) { // not parallel: it starts real programs
	python := filepath.Join(os.Getenv("HERMES_SLOW_MCP_CLIENT"), "python", "bin", "python")
	if _, err := os.Stat(python); err != nil {
		t.Fatalf("%s is missing; run .ci/slow mcp-client", python)
	}
	program, err := filepath.Abs(filepath.Join("..", "mcp", "testdata", "real", "changing.py"))
	if err != nil {
		t.Fatal(err)
	}
	for _, protocol := range []string{"auto", "legacy"} {
		t.Run(protocol, func(t *testing.T) {
			s := newScene(t, hermes.AllowOnce)
			var mu sync.Mutex
			var bodies [][]byte
			web := httptest.NewServer(&chatserver.Handler{Model: "m", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
				mu.Lock()
				if len(r.Tools) > 0 {
					bodies = append(bodies, bytes.Clone(r.Body))
				}
				mu.Unlock()
				return s.model.decide(r)
			}})
			defer web.Close()
			comes := filepath.Join(t.TempDir(), "comes")
			s.url, s.evidence = web.URL+"/v1", "false"
			s.config = fmt.Sprintf("mcp_servers:\n  grows: {command: %q, args: [%q], protocol: %s}\n  late: {command: %q, args: [%q, %q], protocol: %s}\n", python, program, protocol, python, program, comes, protocol)
			s.say("hello") // the next session is offered the tools of the first server
			s.waitFor("grows", "add", true)
			s.quit()
			s.session = ""
			steps := map[int]func(){
				5:  func() { s.say(`CALL mcp__grows__add {"name":"extra"}`); s.waitFor("grows", "extra", true) },
				12: func() { s.say(`CALL mcp__grows__extra {}`) },
				20: func() { writeFile(t, comes, ""); s.waitFor("late", "get", true) },
				25: func() { s.say(`CALL mcp__late__get {"what":"late news"}`) },
				30: func() { s.say(`CALL mcp__grows__drop {"name":"get"}`); s.waitFor("grows", "get", false) },
				40: func() { s.say(`CALL mcp__late__add {"name":"more"}`); s.waitFor("late", "more", true) },
			}
			mu.Lock()
			bodies = nil
			mu.Unlock()
			for i := range 50 {
				if f := steps[i]; f != nil {
					f()
				}
				s.say(fmt.Sprintf("turn %d <&>", i))
			}
			read := s.model.results()
			for _, want := range []string{
				"[Tools of the server grows: new, found with tool_search: mcp__grows__extra]", "ran", "got late news",
				"[Tools of the server late: new, found with tool_search: mcp__late__add, mcp__late__drop, mcp__late__get, mcp__late__get_prompt, ",
				"gone: mcp__grows__get]", "mcp__late__more",
			} {
				if !strings.Contains(read, want) {
					t.Errorf("the model does not read %q in\n%s", want, read)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if len(bodies) < 56 {
				t.Errorf("%d requests were made", len(bodies))
			}
			for i := 1; i < len(bodies); i++ {
				end := bytes.LastIndexByte(bodies[i-1], ']') // of the messages
				if !bytes.HasPrefix(bodies[i], bodies[i-1][:end]) || !bytes.HasSuffix(bodies[i], bodies[i-1][end:]) {
					at := 0
					for at < min(len(bodies[i]), len(bodies[i-1])) && bodies[i][at] == bodies[i-1][at] {
						at++
					}
					t.Fatalf("request %d does not begin with the one before, but has\n%s\nin place of\n%s", i, around(bodies[i], at), around(bodies[i-1], at))
				}
			}
		})
	}
}

// waitFor waits until a server has a tool, or has it no more.
func (s *scene) waitFor(server, tool string, there bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	var state mcp.State
	for ctx.Err() == nil {
		if one, err := s.app.MCPNamed(server); err == nil {
			state = one.State()
			if has := slices.ContainsFunc(state.Tools, func(k mcp.ToolState) bool { return k.Original == tool }); state.Phase == mcp.Connected && has == there {
				return
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
	s.t.Fatalf("%s: the tool %s: %v; %+v", server, tool, !there, state)
}
