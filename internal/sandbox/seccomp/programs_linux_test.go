//go:build amd64 || arm64

package seccomp_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"hermes/internal/sandbox/seccomp"
)

func pointer(b *byte) uintptr { return uintptr(unsafe.Pointer(b)) }

// httpInside serves and asks in one Go program.
func httpInside(map[string]string) map[string]string {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		return map[string]string{"listen": err.Error()}
	}
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	got := make(map[string]string)
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]"} {
		reply, err := http.Get(fmt.Sprint("http://", host, ":", l.Addr().(*net.TCPAddr).Port))
		if err != nil {
			got[host] = err.Error()
			continue
		}
		text, _ := io.ReadAll(reply.Body)
		reply.Body.Close()
		got[host] = string(text)
	}
	return got
}

func TestGoServesAndAsks(t *testing.T) {
	got := mustStart(t, walls{Filter: seccomp.Filter{Notify: true}, Rules: mustRules(t, mustFolder(t)), Probe: "http"}, &seccomp.Supervisor{}).answers()
	want := map[string]string{"127.0.0.1": "hello", "localhost": "hello", "[::1]": "hello"}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
}

const pythonServer = `
import http.server, os, sys
class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"hello")
    def log_message(self, *a): pass
server = http.server.ThreadingHTTPServer(("", 0), Hello)
open("port.new", "w").write(str(server.server_port)); os.rename("port.new", "port")
server.serve_forever()
`

const pythonClient = `
import urllib.request
port = open("port").read()
for host in "127.0.0.1", "localhost":
    assert urllib.request.urlopen("http://%s:%s/" % (host, port)).read() == b"hello"
`

const nodeServer = `
const fs = require("fs");
require("os").networkInterfaces();
const server = require("http").createServer((q, r) => r.end("hello"));
server.listen(0, () => { fs.writeFileSync("port.new", String(server.address().port)); fs.renameSync("port.new", "port"); });
`

const nodeClient = `
const port = require("fs").readFileSync("port");
(async () => {
  for (const host of ["127.0.0.1", "localhost", "[::1]"]) {
    const reply = await fetch("http://" + host + ":" + port);
    if (await reply.text() !== "hello") process.exit(1);
  }
})().catch(e => { console.error(host, e); process.exit(1); });
`

// TestProgramsServeAndAsk starts a server and a client as two processes, each in
// Python and in Node.
func TestProgramsServeAndAsk(t *testing.T) {
	for _, c := range []struct{ program, option, server, client string }{
		{"python3", "-c", pythonServer, pythonClient},
		{"node", "-e", nodeServer, nodeClient},
	} {
		t.Run(c.program, func(t *testing.T) {
			t.Setenv("PATH", "/usr/bin:/bin")
			path, err := exec.LookPath(c.program)
			if err != nil {
				t.Skip(err)
			}
			folder := mustFolder(t)
			must(t, os.WriteFile(filepath.Join(folder, "server"), []byte(c.server), 0o666))
			must(t, os.WriteFile(filepath.Join(folder, "client"), []byte(c.client), 0o666))
			script := fmt.Sprintf(`cd %[1]s; %[2]s %[3]s "$(cat server)" & server=$!
while ! [ -e port ]; do kill -0 $server || exit 1; sleep 0.02; done
%[2]s %[3]s "$(cat client)"; status=$?; kill $server; exit $status`, folder, path, c.option)
			var refused reports
			p := mustStart(t, walls{
				Filter: seccomp.Filter{Notify: true}, Rules: mustRules(t, folder), Program: []string{"/bin/sh", "-c", script},
			}, &seccomp.Supervisor{Refused: refused.add})
			if err := p.wait(); err != nil {
				t.Errorf("%v: %s", err, p.complain.String())
			}
			if len(refused.all) > 0 {
				t.Errorf("refused: %v", refused.all)
			}
		})
	}
}

func TestListeningIsKnown(t *testing.T) {
	folder := mustFolder(t)
	must(t, os.WriteFile(filepath.Join(folder, "server"), []byte(pythonServer), 0o666))
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip(err)
	}
	s := &seccomp.Supervisor{}
	p := mustStart(t, walls{
		Filter:  seccomp.Filter{Notify: true},
		Program: []string{"/bin/sh", "-c", fmt.Sprintf(`cd %s; exec /usr/bin/python3 -c "$(cat server)"`, folder)},
	}, s)
	var port []byte
	for end := time.Now().Add(10 * time.Second); len(port) == 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		port, _ = os.ReadFile(filepath.Join(folder, "port"))
	}
	// The port is bound before it listens.
	want := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:" + string(port))}
	var got []netip.AddrPort
	for end := time.Now().Add(5 * time.Second); len(got) == 0 && time.Now().Before(end); {
		got = s.Listening()
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	p.command.Process.Kill()
	_ = p.wait()
	if got := s.Listening(); len(got) != 0 {
		t.Errorf("after the end: %v", got)
	}
}

func TestSimulations(t *testing.T) {
	for _, c := range []struct {
		name string
		s    seccomp.Simulation
		want map[string]string
	}{
		{"docker", seccomp.Simulation{Docker: true}, map[string]string{"mount": "EPERM", "landlock": "", "routing": ""}},
		{"ubuntu", seccomp.Simulation{Ubuntu: true}, map[string]string{"mount": "EACCES", "routing": "EACCES", "user namespace": ""}},
		{"old kernel", seccomp.Simulation{Landlock: unix.ENOSYS}, map[string]string{"landlock": "this kernel has none"}},
		{"off", seccomp.Simulation{Landlock: unix.EOPNOTSUPP}, map[string]string{"landlock": "not switched on"}},
		{"forbidden", seccomp.Simulation{Landlock: unix.EPERM, Docker: true}, map[string]string{"landlock": "forbids it", "mount": "EPERM"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := mustStart(t, walls{Filter: seccomp.Filter{Nested: true, Unix: true}, Simulation: &c.s, Probe: "namespaces"}, nil).answers()
			for name, want := range c.want {
				if got[name] != want && (len(want) < 8 || !strings.Contains(got[name], want)) {
					t.Errorf("%s: got %q, want %q", name, got[name], want)
				}
			}
			if _, ok := c.want["user namespace"]; !ok && c.s.Docker && got["user namespace"] == "" {
				t.Error("a user namespace was made")
			}
		})
	}
	p := mustStart(t, walls{Filter: seccomp.Filter{Notify: true}, Simulation: &seccomp.Simulation{NoListener: true}, Probe: "sockets"}, nil)
	if err := p.wait(); err == nil {
		t.Error("a listener was made in spite of the simulation")
	}
}
