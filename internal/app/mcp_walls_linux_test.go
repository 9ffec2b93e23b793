//go:build linux && (amd64 || arm64)

package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/sandbox"
)

// boxed has the server box run a line, and returns what it printed.
func (s *scene) boxed(server, line string) string {
	s.t.Helper()
	raw, err := json.Marshal(map[string]string{"line": line})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.called(fmt.Sprintf("CALL mcp__%s__sh %s", server, raw))
}

// called says lines, and returns what the last call of them answered.
func (s *scene) called(lines ...string) string {
	s.t.Helper()
	s.say(lines...)
	db, err := s.app.Database(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	list, err := db.Messages(s.t.Context(), s.session, hermes.Range{})
	if err != nil {
		s.t.Fatal(err)
	}
	last := ""
	for _, m := range list {
		if m.Role == hermes.RoleTool {
			last = m.Text()
		}
	}
	return last
}

// TestAServerGetsNothingThatItDidNotDeclare drives a server that runs whatever it is told, in each layer
// of the sandbox: what it may read, write and reach, and that it finds no key.
func TestAServerGetsNothingThatItDidNotDeclare(t *testing.T) { // not parallel: it sets the home and the folder
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "REACHED") }))
	t.Cleanup(web.Close)
	mustCurl(t)
	for _, layer := range []sandbox.Layer{sandbox.A, sandbox.B} {
		t.Run(layer.String(), func(t *testing.T) { getsNothing(t, layer, web.Listener.Addr().String()) })
	}
}

func getsNothing(t *testing.T, layer sandbox.Layer, web string) {
	s := walled(t, web)
	t.Chdir(s.dir)
	user, other := os.Getenv("HOME"), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(user, ".ssh", "id_ed25519"): "CANARY-SSH", filepath.Join(user, "notes.txt"): "CANARY-NOTES",
		filepath.Join(s.home, ".env"): "OTHER_API_KEY=CANARY-STORED\n", filepath.Join(s.home, "auth.json"): `{"CANARY-AUTH":1}`, filepath.Join(other, "secret.txt"): "CANARY-PROJECT",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, text)
	}
	s.write("work.txt", "the work")
	base := s.options
	s.options = func(o *app.Options) {
		base(o)
		o.Sandbox.Strongest = layer
		env := map[string]string{"PATH": os.Getenv("PATH"), "HOME": user, "OPENAI_API_KEY": "CANARY-KEY-0123456789", "MY_SECRET_TOKEN": "CANARY-TOKEN-0123456789"}
		o.Getenv = func(name string) string { return env[name] }
		o.Environ = func() (list []string) {
			for k, v := range env {
				list = append(list, k+"="+v)
			}
			return list
		}
	}
	s.config = "mcp_servers:\n" + toolServer(t, "box", "plain", "") +
		toolServer(t, "wide", "plain", fmt.Sprintf(", reach: {write: [%q], hosts: ['api.example.org:8080']}", s.dir))
	s.say("hello") // servers start with the first turn
	for _, name := range []string{"box", "wide"} {
		server, err := s.app.MCPNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if err := server.Ready(ctx); err != nil {
			t.Fatalf("%v: %+v", err, server.State())
		}
	}
	if got := s.boxed("box", "cat work.txt"); !strings.Contains(got, "the work") {
		t.Errorf("a server cannot read the folder of the session: %s", got)
	}
	for _, line := range []string{
		"env; cat /proc/*/environ", "cat " + user + "/.ssh/id_ed25519 " + user + "/notes.txt ~/.ssh/id_ed25519", "cat " + s.home + "/.env " + s.home + "/auth.json " + s.home + "/config.yaml", "cat " + other + "/secret.txt",
		"grep -rs CANARY " + user + " " + s.home + " " + other + "; true",
	} {
		if got := s.boxed("box", line); strings.Contains(strings.ReplaceAll(got, line, ""), "CANARY-") {
			t.Errorf("%s: it read %s", line, got)
		}
	}
	s.boxed("box", "echo x > work.txt; echo x > new.txt; echo x > "+user+"/new.txt; echo x > "+s.home+"/new.txt; rm -rf "+other+"/secret.txt")
	for path, want := range map[string]string{"work.txt": "the work\n", "new.txt": "", filepath.Join(user, "new.txt"): "", filepath.Join(s.home, "new.txt"): "", filepath.Join(other, "secret.txt"): "CANARY-PROJECT"} {
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.dir, path)
		}
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Errorf("%s is %q", path, got)
		}
	}
	if got := s.boxed("wide", "echo more > wide.txt && cat wide.txt"); !strings.Contains(got, "more") {
		t.Errorf("it cannot write what it declared: %s", got)
	}
	// A home of its own, which no other server reads.
	s.boxed("wide", "echo MINE > ~/mine.txt")
	if got := s.boxed("wide", "cat ~/mine.txt; echo; pwd"); !strings.Contains(got, "MINE") {
		t.Errorf("its home keeps nothing: %s", got)
	}
	if got := s.boxed("box", "cat ~/mine.txt; ls -la ~"); strings.Contains(got, "MINE") {
		t.Errorf("a server reads the home of another: %s", got)
	}
	for server, reached := range map[string]bool{"box": false, "wide": true} {
		if got := s.boxed(server, "curl -sS -m 5 http://api.example.org:8080/"); strings.Contains(got, "REACHED") != reached {
			t.Errorf("%s reached a host: %v, want %v: %s", server, !reached, reached, got)
		}
		if got := s.boxed(server, "curl -sS -m 5 http://evil.example.org:8080/; curl -sS -m 5 http://"+web+"/; curl -sS -m 5 --noproxy '*' http://"+web+"/"); strings.Contains(got, "REACHED") {
			t.Errorf("%s reached what it did not declare: %s", server, got)
		}
	}
	// What it started is gone with it, whatever that did to stay.
	s.boxed("box", `(setsid sh -c 'trap "" TERM HUP INT; while :; do sleep 1; done' >/dev/null 2>&1 &) ; setsid sh -c 'trap "" TERM HUP; echo up >~/up; exec sleep 987' >/dev/null 2>&1 & until [ -s ~/up ]; do sleep 0.05; done`)
	eventually(t, 20*time.Second, func() error { // while a process is being replaced, its command line reads as empty
		if below := programsOf(t, serverVariable+"=plain"); !strings.Contains(strings.Join(below, " "), "sleep 987") {
			return fmt.Errorf("programs of servers: %q", below)
		}
		return nil
	})
	s.quit()
	if left := programsOf(t, serverVariable+"=plain"); len(left) > 0 {
		t.Errorf("programs of servers are left: %q", left)
	}
}

// programsOf lists the servers, and what they started, with some variable in their environment.
func programsOf(t *testing.T, variable string) (list []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, _ := os.ReadFile(f)
		raw, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
		words := strings.ReplaceAll(string(raw), "\x00", " ")
		ours := strings.Contains(words, self) || strings.Contains(words, "sleep 987") || strings.Contains(words, "trap ")
		if strings.Contains(string(data), variable+"\x00") && ours {
			list = append(list, filepath.Base(filepath.Dir(f))+" "+words)
		}
	}
	return list
}

// TestAKilledProgramLeavesNoServer kills the whole program, which can clean nothing up then: its servers,
// which ignore every request to end, and their children are gone.
func TestAKilledProgramLeavesNoServer(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(&chatserver.Handler{Model: "m", Decide: (&obedient{}).decide})
	t.Cleanup(web.Close)
	for i := range 3 {
		home := t.TempDir()
		config := fmt.Sprintf("model: {default: m, provider: custom, base_url: '%s/v1'}\nmcp_servers:\n", web.URL)
		mark := fmt.Sprintf("stays:%d%d", os.Getpid(), i)
		for n := range 3 {
			config += toolServer(t, fmt.Sprint("s", n), mark, "")
		}
		writeFile(t, filepath.Join(home, "config.yaml"), config)
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(t.Context(), self)
		c.Dir, c.Stderr = home, os.Stderr
		c.Env = append(os.Environ(), serversChild+"="+home, "HOME="+home)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(out).ReadString('\n')
		if line != "connected 3\n" {
			t.Fatalf("it said %q", line)
		}
		eventually(t, 20*time.Second, func() error { // while a process is being replaced, its command line reads as empty
			if ran := programsOf(t, serverVariable+"="+mark); len(ran) < 6 {
				return fmt.Errorf("of 6 programs of servers run %q", ran)
			}
			return nil
		})
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // it was killed
		eventually(t, 5*time.Second, func() error {
			if left := programsOf(t, serverVariable+"="+mark); len(left) > 0 {
				return fmt.Errorf("left: %q", left)
			}
			return nil
		})
	}
}
