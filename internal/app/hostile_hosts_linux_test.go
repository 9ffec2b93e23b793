//go:build linux && (amd64 || arm64)

package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/mcp"
	"hermes/internal/race"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/seccomp"
)

// host is a machine that allows less than this one, and what must come of it for a server and a plugin.
type host struct {
	Name       string
	Simulation seccomp.Simulation
	Layer      sandbox.Layer // in force with terminal.sandbox auto
}

var hosts = []host{
	{Name: "plain", Layer: sandbox.A},
	{Name: "user namespaces forbidden", Simulation: seccomp.Simulation{Docker: true}, Layer: sandbox.B},
	{Name: "no Landlock", Simulation: seccomp.Simulation{Landlock: unix.ENOSYS}, Layer: sandbox.None},
}

// hostVariable says, in the test program that was started once more, on which host it is.
const hostVariable = "APP_TEST_HOST"

// TestHostileProgramsOnEachHost has a server and a plugin that do whatever they are told try the same attempts on
// each host, as this user and as an ordinary one: the outcome is a wall, or a refusal where walls are demanded, or
// programs without walls of which the user is told.
func TestHostileProgramsOnEachHost(t *testing.T) {
	if os.Getenv(hostVariable) != "" {
		t.Skip("this is a simulated host")
	}
	t.Parallel()
	mustCurl(t)
	needsPython(t)
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hosts {
		order, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		for _, uid := range []uint32{uint32(os.Getuid()), 65534} {
			if uid == 65534 && (os.Getuid() != 0 || race.Enabled) {
				continue
			}
			name := h.Name + " as a user"
			if uid == 0 {
				name = h.Name + " as root"
			}
			t.Run(name, func(t *testing.T) {
				folder, err := os.MkdirTemp("", "host") // sockets have short paths
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { os.RemoveAll(folder) })
				binary := filepath.Join(folder, "app.test")
				if out, err := exec.Command("cp", own, binary).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				for path, mode := range map[string]os.FileMode{folder: 0o777, binary: 0o755} { // whatever the umask
					if err := os.Chmod(path, mode); err != nil {
						t.Fatal(err)
					}
				}
				c := exec.Command(binary, "-test.run=^TestHostileProgramsHere$", "-test.timeout=5m", "-test.v")
				c.Dir = folder
				c.Env = append(os.Environ(), hostVariable+"="+string(order), "TMPDIR="+folder, "HOME="+folder, "OWNERS_SECRET=CANARY-OWNER-0123456789")
				if os.Getuid() == 0 {
					c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
				}
				out, err := c.CombinedOutput()
				if err == nil && bytes.Contains(out, []byte("--- SKIP: TestHostileProgramsHere ")) && os.Getenv("CI") != "true" {
					t.Skipf("%s", out)
				}
				if err != nil || !bytes.Contains(out, []byte("--- PASS: TestHostileProgramsHere ")) {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}

// TestHostileProgramsHere is run by TestHostileProgramsOnEachHost.
func TestHostileProgramsHere(t *testing.T) { // not parallel: it sets the folder
	order := os.Getenv(hostVariable)
	if order == "" {
		t.Skip("see TestHostileProgramsOnEachHost")
	}
	var h host
	if err := json.Unmarshal([]byte(order), &h); err != nil {
		t.Fatal(err)
	}
	if err := h.Simulation.Install(); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("CI") != "true" {
		h.skipsIfLess(t)
	}
	t.Run("auto", func(t *testing.T) { h.auto(t) })
	t.Run("strict", func(t *testing.T) { h.strict(t) })
}

// skipsIfLess skips the test on a machine that allows less than this host should.
func (h host) skipsIfLess(t *testing.T) {
	t.Helper()
	o := app.Options{Home: t.TempDir(), Getenv: os.Getenv}
	o.Sandbox.Keeper = true
	a := app.New(o)
	defer a.Close()
	w := a.HostWalls(t.Context())
	if h.Layer == sandbox.B && w.Layer == "" || h.Layer == sandbox.A && w.Layer != sandbox.A.String() {
		t.Skipf("this machine allows the layer %q: %s", w.Layer, w.Why)
	}
}

func (h host) auto(t *testing.T) {
	s := newHostileScene(t)
	s.begin()
	if w := s.app.HostWalls(t.Context()); w.Layer != h.Layer.String() && (w.Layer != "" || h.Layer > sandbox.None) {
		t.Fatalf("the layer is %q, want %s: %s", w.Layer, h.Layer, w.Why)
	}
	if h.Layer == sandbox.None {
		s.saysThatThereIsNone()
	}
	s.run("wide", "echo CANA''RY > ~/of-wide.txt")
	s.works(h.Layer)
	s.attack(h.Layer)
	if h.Layer == sandbox.None {
		return
	}
	s.floods()
	s.plantsPrograms()
	if h.Layer == sandbox.A {
		s.unplanted(obeyed[:3]...) // what was there before cannot even be written
	}
	s.quit()
	s.unplanted(obeyed...)
}

// saysThatThereIsNone: walls that cannot be built are never silently off.
func (s *hostileScene) saysThatThereIsNone() {
	s.t.Helper()
	if w := s.app.HostWalls(s.t.Context()); !strings.Contains(w.Why, "this kernel has none") {
		s.t.Errorf("the reason is %q", w.Why)
	}
	if line := s.app.Sandbox(s.t.Context()); !strings.Contains(line, "No sandbox on this host") {
		s.t.Errorf("the user reads %q", line)
	}
}

// strict demands layer A: without it no program of a server or plugin runs.
func (h host) strict(t *testing.T) {
	s := newHostileScene(t)
	if h.Layer < sandbox.A {
		s.config = "terminal: {sandbox: strict}\n" + s.config
		s.refused()
		return
	}
	s.config = "terminal: {sandbox: strict}\n" + s.config
	s.begin()
	s.works(h.Layer)
}

// refused starts a session in which nothing of a server or plugin may run.
func (s *hostileScene) refused() {
	s.t.Helper()
	marks, err := filepath.Glob(filepath.Join(s.home, "cache", "sandbox", "*", "*", "home", "started"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range marks {
		if err := os.Remove(m); err != nil {
			s.t.Fatal(err)
		}
	}
	s.say("hello", `CALL plug_sh {"line":"echo ran"}`)
	for _, name := range []string{"box", "wide"} {
		server, err := s.app.MCPNamed(name)
		if err != nil {
			s.t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
		defer cancel()
		err = server.Ready(ctx)
		if state := server.State(); err == nil || state.Phase != mcp.Failed || !saysWhatToDo(state.Reason) {
			s.t.Errorf("%s: %v, %+v", name, err, state)
		}
	}
	if got := s.model.results(); strings.Contains(got, "ran[") || !saysWhatToDo(got) {
		s.t.Errorf("the call of the plugin says %s", got)
	}
	if left := programsOf(s.t, serverVariable+"=plain"); len(left) > 0 {
		s.t.Errorf("servers run: %q", left)
	}
	if marks, _ = filepath.Glob(filepath.Join(s.home, "cache", "sandbox", "*", "*", "home", "started")); len(marks) > 0 {
		s.t.Errorf("the plugin ran: %q", marks)
	}
}

// saysWhatToDo reports whether a refusal names the setting, and the way out.
func saysWhatToDo(text string) bool {
	return strings.Contains(text, "terminal.sandbox is strict") && strings.Contains(text, "hermes config set terminal.sandbox auto")
}

const gitConfig = "[core]\n\tbare = false\n"

const plugProgram = `
import os, subprocess
from hermes_plugin import Plugin
open(os.path.join(os.environ["HOME"], "started"), "w").close()
plugin = Plugin("plug", "1")
text = {"type": "object", "properties": {"line": {"type": "string"}}, "required": ["line"]}

@plugin.tool("Run a line.", text)
def plug_sh(call, line):
    r = subprocess.run(["sh", "-c", line], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return r.stdout.decode("utf-8", "replace") + "[%d]" % r.returncode

plugin.run()
`

const plugManifest = `name: plug
version: "1"
program: [python3, ./main.py]
kinds: [tools]
capabilities:
  write: [%s]
  secrets: [{name: SPY_KEY, hosts: [vault.example.org]}]
  hosts: [vault.example.org, "api.example.org:8080", "inner.example.org:8080", "metadata.google.internal:8080"]
`

// hostileScene is a session with the servers "box", which declares nothing, and "wide", and the plugin "plug", and
// what they look for.
type hostileScene struct {
	*scene
	user, other, out, keys string
	abstract               string
	port, datagrams        int
	number                 int
	before                 map[string]string // files that are not theirs
	listens                []func()          // each returns once all earlier connections were seen

	mu       sync.Mutex
	hits     []string // connections that they made
	requests []string // what a host that they declared got
}

func newHostileScene(t *testing.T) *hostileScene {
	t.Helper()
	s := &hostileScene{user: t.TempDir(), other: t.TempDir(), out: t.TempDir(), keys: t.TempDir()}
	t.Setenv("HOME", s.user)
	web := httptest.NewServer(http.HandlerFunc(s.answer))
	t.Cleanup(web.Close)
	s.scene = withPlugin(t, hermes.AllowOnce, false, "plug", plugProgram, fmt.Sprintf(plugManifest, s.out+", "+s.keys))
	t.Chdir(s.dir)
	s.options = func(o *app.Options) {
		o.Sandbox.Keeper = true
		o.Sandbox.Resolve = func(_ context.Context, host string) ([]netip.Addr, error) {
			address := map[string]string{"inner.example.org": "10.1.2.3", "metadata.google.internal": "169.254.169.254"}[host]
			if address == "" {
				address = "93.184.216.34"
			}
			return []netip.Addr{netip.MustParseAddr(address)}, nil
		}
		o.Sandbox.Connect = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, web.Listener.Addr().String())
		}
		env := map[string]string{"PATH": os.Getenv("PATH"), "HOME": s.user, "OPENAI_API_KEY": "CANARY-KEY-0123456789", "MY_SECRET_TOKEN": "CANARY-TOKEN-0123456789"}
		o.Getenv = func(name string) string { return env[name] }
		o.Environ = func() (list []string) {
			for k, v := range env {
				list = append(list, k+"="+v)
			}
			return list
		}
	}
	s.config += "security: {egress: {allow: ['commands.example.org:8080']}} # CANARY-SETTINGS\nmcp_servers:\n" + toolServer(t, "box", "plain", "") +
		toolServer(t, "wide", "plain", fmt.Sprintf(", reach: {write: [%q, %q], hosts: ['api.example.org:8080', 'inner.example.org:8080', 'metadata.google.internal:8080']}", s.out, s.keys))
	s.plant()
	s.listen()
	return s
}

// answer is what hosts of the network answer.
func (s *hostileScene) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Host != "api.example.org:8080" {
		s.hits = append(s.hits, r.Host)
		fmt.Fprint(w, "CANARY-HOST")
		return
	}
	body, _ := io.ReadAll(r.Body)
	s.requests = append(s.requests, fmt.Sprint(r.URL, r.Header, string(body)))
	fmt.Fprint(w, "REACHED")
}

// plant makes what they look for.
func (s *hostileScene) plant() {
	t := s.t
	for path, text := range map[string]string{
		filepath.Join(s.user, ".ssh", "id_ed25519"): "CANARY-SSH", filepath.Join(s.user, "notes.txt"): "CANARY-NOTES",
		filepath.Join(s.home, ".env"):        "SPY_KEY=CANARY-DECLARED-0123456789\nOTHER_KEY=CANARY-STORED-0123456789\n",
		filepath.Join(s.home, "auth.json"):   `{"CANARY-AUTH":1}`,
		filepath.Join(s.other, "secret.txt"): "CANARY-PROJECT", filepath.Join(s.other, "tool"): "#!/bin/sh\necho CANARY-PROGRAM\n",
		filepath.Join(s.dir, "work.txt"): "the work CANARY-WORK", filepath.Join(s.keys, ".env"): "KEY=CANARY-OUT\n",
		filepath.Join(s.out, ".git", "config"): gitConfig, filepath.Join(s.out, ".vscode", "settings.json"): "{}", filepath.Join(s.out, ".git", "HEAD"): "ref: refs/heads/main\n",
		filepath.Join(s.out, ".git", "hooks", "x.sample"): "", filepath.Join(s.out, ".git", "objects", "x"): "", filepath.Join(s.out, ".git", "refs", "x"): "",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, text)
	}
	if err := os.Chmod(filepath.Join(s.other, "tool"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// listen makes what they may not connect to.
func (s *hostileScene) listen() {
	t := s.t
	s.abstract = fmt.Sprint("of-the-user-", os.Getpid(), "-", s.other)
	for name, address := range map[string]string{
		"tcp": "127.0.0.1:0", "a socket in $O": filepath.Join(s.other, "s.sock"), "a socket in $OUT": filepath.Join(s.out, "s.sock"), "a socket in $D": filepath.Join(s.dir, "s.sock"), "an abstract socket": "@" + s.abstract,
	} {
		network := "unix"
		if name == "tcp" {
			network = "tcp"
		}
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		if a, ok := l.Addr().(*net.TCPAddr); ok {
			s.port = a.Port
		}
		go s.accept(name, l)
		s.listens = append(s.listens, func() {
			c, err := net.Dial(network, l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			s.confirm(c, name)
		})
	}
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	s.datagrams = u.LocalAddr().(*net.UDPAddr).Port
	go func() {
		for {
			from := make([]byte, 1)
			_, a, err := u.ReadFrom(from)
			if err != nil {
				return
			}
			s.add("a datagram")
			_, _ = u.WriteTo(from, a) // an attacker may not wait
		}
	}()
	s.listens = append(s.listens, func() {
		c, err := net.Dial("udp", u.LocalAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		s.confirm(c, "a datagram")
	})
}

func (s *hostileScene) accept(name string, l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s.add(name)
		_, _ = c.Write([]byte("x")) // an attacker may not wait
		c.Close()
	}
}

func (s *hostileScene) add(hit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hits = append(s.hits, hit)
}

// confirm waits until a connection of the test was counted, and so were all before it, and takes it out.
func (s *hostileScene) confirm(c net.Conn, name string) {
	if _, err := c.Read(make([]byte, 1)); err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.hits) - 1; i >= 0; i-- {
		if s.hits[i] == name {
			s.hits = append(s.hits[:i], s.hits[i+1:]...)
			return
		}
	}
}

// begin opens a session and waits for its servers.
func (s *hostileScene) begin() {
	s.t.Helper()
	s.say("hello") // servers start with the first turn
	for _, name := range []string{"box", "wide"} {
		server, err := s.app.MCPNamed(name)
		if err != nil {
			s.t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
		defer cancel()
		if err := server.Ready(ctx); err != nil {
			s.t.Fatalf("%v: %+v", err, server.State())
		}
	}
	s.run("plug", "true")
	s.before = map[string]string{}
	for _, path := range s.theirs() {
		if b, err := os.ReadFile(path); err == nil {
			s.before[path] = string(b)
		}
	}
}

// theirs are files of the user and of Hermes, also those that are not there.
func (s *hostileScene) theirs() (list []string) {
	for dir, names := range map[string][]string{
		s.user: {".bashrc", "notes.txt"}, s.other: {"secret.txt", "tool", "new", "moved"}, s.dir: {"work.txt"}, s.keys: {".env", "e", "l"},
		s.home: {
			"config.yaml", ".env", "auth.json", "permissions.yaml", "memories/MEMORY.md", "skills/evil/SKILL.md", "mcp-tools.json",
			"plugins/plug/main.py", "plugins/plug/plugin.yaml", "plugins/.enabled.json",
		},
	} {
		for _, n := range names {
			list = append(list, filepath.Join(dir, n))
		}
	}
	return list
}

// changed says which of these files are others now.
func (s *hostileScene) changed() (list string) {
	for _, path := range s.theirs() {
		b, err := os.ReadFile(path)
		if was, ok := s.before[path]; ok != (err == nil) || was != string(b) {
			list += " " + path
		}
	}
	return list
}

// restore makes them what they were.
func (s *hostileScene) restore() {
	s.t.Helper()
	if s.changed() == "" {
		return
	}
	for _, path := range s.theirs() {
		text, ok := s.before[path]
		if !ok {
			os.Remove(path) // it may not be there
			continue
		}
		mode := os.FileMode(0o600)
		if filepath.Base(path) == "tool" {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			s.t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			s.t.Fatal(err)
		}
	}
}

// hit says what they connected to since the last time.
func (s *hostileScene) hit() string {
	for _, wait := range s.listens {
		wait()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	got := strings.Join(s.hits, ", ")
	s.hits = nil
	return got
}

// sent says which secrets a host got.
func (s *hostileScene) sent() (got string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if strings.Contains(r, "CANARY") {
			got += r
		}
	}
	if len(s.requests) == 0 {
		got = "nothing was sent, which proves nothing"
	}
	return got
}

// variables are those of the lines.
func (s *hostileScene) variables() string {
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("export H='%s' S='%s' D='%s' OUT='%s' K='%s' O='%s' OWNER=%d N='%s' P=%d U=%d A='%s'", s.user, s.home, s.dir, s.out, s.keys, s.other, os.Getpid(), namespace, s.port, s.datagrams, s.abstract)
}
