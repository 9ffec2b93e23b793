// Package sshdtest runs a real sshd for tests, with keys and a client's configuration of
// its own, and a network between both that can be frozen and cut. It is for tests only.
//
// Every connection gets an sshd of its own, behind a listener of the test: nothing binds a
// port that another program could take meanwhile. Start at New.
package sshdtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/internal/proc"
)

// Server is an sshd on this machine into which the current user can log in. Its methods
// may be called concurrently.
type Server struct {
	// Dir has all files of the server and of its client, and home, the home folder of who
	// logs in. Its path is short.
	Dir string
	// User is who logs in.
	User string
	// Port is where the server listens, on 127.0.0.1.
	Port int
	// Key is the file of the user's private key, Config that of the client's
	// configuration, which names the host "box", and Known that of the known hosts.
	Key, Config, Known string

	sshd     string
	log      *os.File
	listener net.Listener
	mu       sync.Mutex
	stopped  bool // refuses connections
	running  map[*proc.Process]bool
	ended    chan struct{} // closed, and made again, when one of them has ended
	accepted int
	serving  sync.WaitGroup
}

// Env is the environment of a client without an agent.
var Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"}

// New starts a server, which ends with the test. Where sshd is not installed, the test is
// skipped; it fails if must is set. options are lines for sshd_config, which go before the others.
func New(t testing.TB, must bool, options ...string) *Server {
	t.Helper()
	s := &Server{running: map[*proc.Process]bool{}, ended: make(chan struct{})}
	for _, name := range []string{"/usr/sbin/sshd", "ssh", "ssh-keygen"} {
		path, err := exec.LookPath(name)
		switch {
		case err != nil && must:
			t.Fatalf("%s is not installed; .ci/run installs it", name)
		case err != nil:
			t.Skipf("%s is not installed", name)
		case s.sshd == "":
			s.sshd = path
		}
	}
	me, err := user.Current()
	check(t, err)
	s.User = me.Username
	s.Dir, err = os.MkdirTemp("", "ssh")
	check(t, err)
	s.Dir, err = filepath.EvalSymlinks(s.Dir)
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(s.Dir) })
	s.Key, s.Config, s.Known = s.path("id"), s.path("config"), s.path("known_hosts")
	check(t, os.Mkdir(s.path("home"), 0o700))
	s.Keygen(t, "host")
	s.Keygen(t, "id")
	s.listener, err = net.Listen("tcp4", "127.0.0.1:0")
	check(t, err)
	s.Port = s.listener.Addr().(*net.TCPAddr).Port
	s.log, err = os.Create(s.path("log"))
	check(t, err)
	config := append(options, "HostKey "+s.path("host"), "PidFile none", "AuthorizedKeysFile "+s.path("id.pub"), "StrictModes no", "UsePAM no",
		"PasswordAuthentication no", "PermitRootLogin prohibit-password", "MaxStartups 100",
		"SetEnv HOME="+s.path("home")) // else the login shell reads the start files of whoever runs the test
	if !strings.Contains(strings.Join(options, "\n"), "Subsystem") {
		config = append(config, "Subsystem sftp internal-sftp")
	}
	s.Write(t, "sshd_config", strings.Join(config, "\n")+"\n")
	s.Trust(t, "host")
	s.Write(t, "config", s.ClientConfig(s.Port))
	_ = os.MkdirAll("/run/sshd", 0o755) // where sshd of root locks itself up before a login
	s.serving.Go(s.serve)
	t.Cleanup(s.close)
	return s
}

// ClientConfig is the text of a client's configuration that reaches the server at a port.
func (s *Server) ClientConfig(port int) string {
	return fmt.Sprintf("Host box\n  HostName 127.0.0.1\n  HostKeyAlias box\n  Port %d\n  User %s\n  IdentityFile %s\n  IdentitiesOnly yes\n  IdentityAgent none\n  UserKnownHostsFile %s\n  GlobalKnownHostsFile /dev/null\n",
		port, s.User, s.Key, s.Known)
}

// Trust makes a key of the server's folder the only known key of the host.
func (s *Server) Trust(t testing.TB, key string) {
	t.Helper()
	public, err := os.ReadFile(s.path(key + ".pub"))
	check(t, err)
	s.Write(t, "known_hosts", "box "+string(public)+"[127.0.0.1]:"+strconv.Itoa(s.Port)+" "+string(public))
}

// Keygen makes a key pair in the folder.
func (s *Server) Keygen(t testing.TB, name string) {
	t.Helper()
	var out strings.Builder
	st, err := proc.Run(t.Context(), proc.Command{Path: "ssh-keygen", Args: []string{"-q", "-t", "ed25519", "-N", "", "-C", name, "-f", s.path(name)}, Env: Env, Files: nil, Stdout: &out, Stderr: &out})
	if err != nil || st.Code != 0 {
		t.Fatalf("ssh-keygen: %v %s", err, out.String())
	}
}

// Write writes a file of the folder.
func (s *Server) Write(t testing.TB, name, text string) {
	t.Helper()
	check(t, os.WriteFile(s.path(name), []byte(text), 0o600))
}

// Accepted is how many connections the server has accepted.
func (s *Server) Accepted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// Log is what the server has logged.
func (s *Server) Log() string {
	b, _ := os.ReadFile(s.path("log"))
	return string(b)
}

// Stop ends all connections, and closes new ones at once, until Go is called.
func (s *Server) Stop() {
	s.mu.Lock()
	s.stopped = true
	all := make([]*proc.Process, 0, len(s.running))
	for p := range s.running {
		all = append(all, p)
	}
	s.mu.Unlock()
	for _, p := range all {
		_ = p.Kill()
	}
}

// Go accepts connections again.
func (s *Server) Go() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = false
}

func (s *Server) path(name string) string { return filepath.Join(s.Dir, name) }

func (s *Server) close() {
	s.listener.Close()
	s.Stop()
	s.serving.Wait()
	s.log.Close()
}

func (s *Server) serve() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.accepted++
		if !s.stopped {
			s.answer(c)
		}
		s.mu.Unlock()
		c.Close()
	}
}

// answer hands a connection to an sshd. The lock is held.
func (s *Server) answer(c net.Conn) {
	f, err := c.(*net.TCPConn).File()
	if err != nil {
		return
	}
	defer f.Close()
	p, err := proc.Start(context.Background(), proc.Command{
		Path: s.sshd, Args: []string{"-i", "-f", s.path("sshd_config"), "-E", s.path("log")}, Env: Env, Files: nil, Stdin: io.Reader(f), Stdout: io.Writer(f),
	})
	if err != nil {
		return
	}
	s.running[p] = true
	s.serving.Go(func() {
		<-p.Done()
		s.mu.Lock()
		delete(s.running, p)
		close(s.ended)
		s.ended = make(chan struct{})
		s.mu.Unlock()
		p.Close()
	})
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Connections is how many are open at the server.
func (s *Server) Connections() int {
	n, _ := s.open()
	return n
}

func (s *Server) open() (n int, ended <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running), s.ended
}

// Await waits until no more than some connections are open at the server. After a time it fails
// the test.
func (s *Server) Await(t testing.TB, most int, within time.Duration) {
	t.Helper()
	late := time.After(within)
	for {
		n, ended := s.open()
		if n <= most {
			return
		}
		select {
		case <-ended:
		case <-late:
			t.Fatalf("%d connections are open at the server after %v, want %d at most", n, within, most)
		}
	}
}

// Fingerprint is that of a key in the folder, as SHA256:….
func (s *Server) Fingerprint(t testing.TB, name string) string {
	t.Helper()
	var out strings.Builder
	st, err := proc.Run(t.Context(), proc.Command{Path: "ssh-keygen", Args: []string{"-l", "-f", s.path(name + ".pub")}, Env: Env, Files: nil, Stdout: &out})
	words := strings.Fields(out.String())
	if err != nil || st.Code != 0 || len(words) < 2 {
		t.Fatalf("ssh-keygen -l: %v %s", err, out.String())
	}
	return words[1]
}
