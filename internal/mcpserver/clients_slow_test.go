//go:build slow && unix

package mcpserver_test

import (
	"bufio"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/mcpserver"
	"hermes/internal/store/sqlite"
)

// counterpart is the path of what `.ci/slow mcp` installs.
func counterpart(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(os.Getenv("HERMES_SLOW_MCP"), name)
	if _, err := os.Stat(path); os.Getenv("HERMES_SLOW_MCP") == "" || err != nil {
		t.Fatalf("%s is missing; run .ci/slow mcp", name)
	}
	return path
}

// program is the built program with a home that has one conversation.
type program struct {
	path string
	env  []string
	home string
}

func newProgram(t *testing.T) program {
	t.Helper()
	p := program{path: filepath.Join(t.TempDir(), "hermes"), home: t.TempDir()}
	build := exec.Command("go", "build", "-o", p.path, "hermes/cmd/hermes")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.env = []string{"HERMES_HOME=" + p.home, "HOME=" + t.TempDir(), "PATH=" + filepath.Dir(counterpart(t, "node/node_modules/.bin/node")) + ":" + os.Getenv("PATH")}
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(p.home, "hermes.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.CreateSession(t.Context(), hermes.Session{ID: "s1", Platform: "cli", Title: "Garden", Started: time.Now().Add(-time.Hour)}); err != nil {
		t.Fatal(err)
	}
	l, err := db.Acquire(t.Context(), "s1", hermes.Owner{Name: "test"}, time.Minute)
	if err == nil {
		_, err = db.Commit(t.Context(), l, hermes.Change{Append: []hermes.Message{{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "plant tulips"}}, Time: time.Now().Add(-time.Hour)}}})
	}
	if err == nil {
		err = db.Release(t.Context(), l)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// endpoint starts the program over HTTP and returns its address and its token.
func (p program) endpoint(t *testing.T) (address, token string) {
	t.Helper()
	c := exec.Command(p.path, "mcp", "serve", "--http", "127.0.0.1:0")
	c.Env = p.env
	errs, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
	})
	line, err := bufio.NewReader(errs).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(line, "Serving MCP at ")
	address, _, _ = strings.Cut(rest, ". ")
	raw, err := os.ReadFile(filepath.Join(p.home, "run", "mcp-token"))
	if err != nil {
		t.Fatal(err)
	}
	token, _, _ = strings.Cut(string(raw), "\n")
	return address, token
}

// did is what each client prints after the version.
const did = `tools 15
conversation Garden
message plant tulips
events 0
error %s there is no conversation "nope"; list them with conversations_list
resources 4 3
resource %s
`

// TestClientsOfOthers are the official SDKs in Python and TypeScript and the command of the
// inspector, over both transports and in both eras.
func TestClientsOfOthers(t *testing.T) {
	p := newProgram(t)
	address, token := p.endpoint(t)
	python := []string{counterpart(t, "python/bin/python"), "testdata/client.py"}
	node := []string{counterpart(t, "node/node_modules/.bin/node"), "testdata/client.mjs", counterpart(t, "node/node_modules")}
	stdio := []string{p.path, "mcp", "serve"}
	yes := map[string]string{"py": fmt.Sprintf(did, "True", "True"), "ts": fmt.Sprintf(did, "true", "true")}
	for _, tt := range []struct {
		name    string
		command []string
		want    string
	}{
		{"python legacy stdio", append(append(python, "legacy"), stdio...), "version 2025-11-25\n" + yes["py"]},
		{"python auto stdio", append(append(python, "auto"), stdio...), "version 2026-07-28\n" + yes["py"]},
		{"python legacy http", append(python, "legacy", address), "version 2025-11-25\n" + yes["py"]},
		{"python auto http", append(python, "auto", address), "version 2026-07-28\n" + yes["py"]},
		{"typescript stdio", append(node, stdio...), yes["ts"]},
		{"typescript http", append(node, address), yes["ts"]},
		{"inspector stdio", []string{counterpart(t, "node/node_modules/.bin/mcp-inspector"), "--cli", "-e", "HERMES_HOME=" + p.home, p.path, "mcp", "serve", "--method", "tools/call", "--tool-name", "messages_read", "--tool-arg", "conversation_id=Garden"}, "plant tulips"},
		{"inspector http", []string{counterpart(t, "node/node_modules/.bin/mcp-inspector"), "--cli", address, "--transport", "http", "--header", "Authorization: Bearer " + token, "--method", "tools/list"}, `"permissions_list_open"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), tt.command[0], tt.command[1:]...)
			c.Env = append(p.env, "TOKEN="+token)
			out, err := c.CombinedOutput()
			if err != nil || !strings.Contains(string(out), tt.want) {
				t.Errorf("%v: %s, want %s", err, out, tt.want)
			}
		})
	}
}

// TestConformance runs the public suite for servers, of both eras, against an endpoint with the
// guard of the product: once with the tools of the product and the fixtures that the suite asks
// for. What is expected to fail is in testdata/conformance-*.yml, with the reason.
func TestConformance(t *testing.T) {
	suite := counterpart(t, "node/node_modules/.bin/conformance")
	path := "PATH=" + filepath.Dir(suite) + ":" + os.Getenv("PATH")
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			r := newRig(t, nil)
			r.server.AddFixtures()
			valid, err := mcpserver.FixedToken(token)
			if err != nil {
				t.Fatal(err)
			}
			s := httptest.NewUnstartedServer(nil) // the suite sends no token
			s.Config.Handler = mcpserver.WithToken(r.server.Handler(mcpserver.HTTP{Valid: valid}, s.Listener.Addr()), token)
			s.Start()
			t.Cleanup(s.Close)
			c := exec.CommandContext(t.Context(), suite, "server", "--url", s.URL+"/mcp", "--requirements", version, "--expected-failures", "testdata/conformance-"+version+".yml")
			c.Env = append(os.Environ(), path)
			out, err := c.CombinedOutput()
			if i := strings.Index(string(out), "=== SUMMARY"); err == nil && i >= 0 {
				out = out[i:]
			}
			t.Logf("%s", out)
			if err != nil || !strings.Contains(string(out), "dns-rebinding-protection") {
				t.Error(err)
			}
		})
	}
}
