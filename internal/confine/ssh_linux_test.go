//go:build amd64 || arm64

package confine_test

import (
	"context"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/confine"
	"hermes/internal/egress"
	"hermes/internal/environment"
	"hermes/internal/sandbox"
)

// remote is an sshd with a repository, and the agent of a user whose key may log in.
type remote struct {
	address string // of the server
	socket  string // of the agent
	known   string // the line of known_hosts
	dir     string
}

// newRemote starts both, or skips the test where they are not installed.
func newRemote(t *testing.T) remote {
	t.Helper()
	sshd := mustFind(t, "sshd", "/usr/sbin/sshd")
	mustFind(t, "ssh-agent")
	dir, err := os.MkdirTemp("", "ssh") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	r := remote{dir: dir, socket: filepath.Join(dir, "agent")}
	run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, "host"))
	run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "the user's key", "-f", filepath.Join(dir, "id"))
	public := mustRead(t, filepath.Join(dir, "host.pub"))
	r.known = "git.example.org " + public
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.address = l.Addr().String()
	l.Close()
	config := []string{
		"Port " + strconv.Itoa(l.Addr().(*net.TCPAddr).Port), "ListenAddress 127.0.0.1", "HostKey " + filepath.Join(dir, "host"), "PidFile none",
		"AuthorizedKeysFile " + filepath.Join(dir, "id.pub"), "StrictModes no", "UsePAM no", "PasswordAuthentication no", "PermitRootLogin prohibit-password",
	}
	mustWrite(t, filepath.Join(dir, "sshd_config"), strings.Join(config, "\n")+"\n")
	_ = os.MkdirAll("/run/sshd", 0o755) // where sshd of root locks itself up before a login
	start(t, exec.Command(sshd, "-D", "-f", filepath.Join(dir, "sshd_config"), "-E", filepath.Join(dir, "log")))
	start(t, exec.Command("ssh-agent", "-D", "-a", r.socket))
	waitFor(t, func() bool {
		for network, address := range map[string]string{"tcp": r.address, "unix": r.socket} { // the agent's file is there before it listens
			c, err := net.Dial(network, address)
			if err != nil {
				return false
			}
			c.Close()
		}
		return true
	})
	add := exec.Command("ssh-add", "-q", filepath.Join(dir, "id"))
	add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+r.socket)
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("ssh-add: %v %s", err, out)
	}
	run(t, "git", "init", "-q", "--bare", "-b", "main", filepath.Join(dir, "repo.git"))
	return r
}

func mustFind(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed; .ci/run installs it", names[0])
	}
	t.Skipf("%s is not installed", names[0])
	return ""
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v %s", name, args, err, out)
	}
}

func start(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain")
		}
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// sshScene is a session of the user of a remote. Every name leads to its server.
func sshScene(t *testing.T, l sandbox.Layer, r remote, known string) *scene {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{home: filepath.Join(root, "home"), dir: filepath.Join(root, "home", "project")}
	s.state = filepath.Join(s.home, ".hermes")
	for _, dir := range []string{s.dir, s.state, filepath.Join(s.home, ".ssh")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	mustWrite(t, filepath.Join(s.home, ".ssh", "known_hosts"), known)
	mustWrite(t, filepath.Join(s.home, ".gitconfig"), "[user]\n\tname = A\n\temail = a@example.org\n")
	proxy := egress.New(egress.Config{
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		},
		Connect: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, r.address)
		},
	})
	t.Cleanup(proxy.Close)
	p := confine.New(confine.Settings{
		Mode: confine.Auto, Home: s.home, State: s.state, Cache: filepath.Join(s.state, "cache", "sandbox"), Proxy: proxy, Strongest: l,
	})
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "LANG=C.UTF-8", "SSH_AUTH_SOCK=" + r.socket}
	s.program = p
	s.walls = p.Walls(confine.Config{Session: "s1", Workspace: s.dir, Environ: env, Granted: func() []hermes.Need { return s.granted }})
	s.Local, err = environment.NewLocal(environment.LocalConfig{Dir: s.dir, Home: s.home, Env: env, Walls: s.walls})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Local.Close() })
	return s
}

// needs allows a command what the user has just allowed.
func needs(list ...string) func(*hermes.Command) {
	return func(c *hermes.Command) {
		for _, text := range list {
			n, _ := hermes.ParseNeed(text)
			c.Need = append(c.Need, n)
		}
	}
}

const sshNeed = "host git.example.org:22"

// url is the repository of a remote; the user of the machine logs in.
func (r remote) url() string { return "git.example.org:" + r.dir + "/repo.git" }

func TestGitOverSSH(t *testing.T) {
	r := newRemote(t)
	s := sshScene(t, sandbox.A, r, r.known)
	if out, exit := s.run(t, "git clone "+r.url()+" refused"); exit.Code == 0 || !refuses(exit, sshNeed) {
		t.Fatalf("a clone from a host that no one allowed: %s %+v", out, exit)
	}
	if out, exit := s.run(t, "git clone "+r.url()+" repo", needs(sshNeed)); exit.Code != 0 {
		t.Fatalf("clone: %s %+v %s", out, exit, mustRead(t, filepath.Join(r.dir, "log")))
	}
	if out, exit := s.run(t, "cd repo && echo x > a && git add a && git commit -qm x && git push origin HEAD:main", needs(sshNeed)); exit.Code != 0 {
		t.Fatalf("push: %s %+v", out, exit)
	}
	run(t, "git", "--git-dir", filepath.Join(r.dir, "repo.git"), "rev-parse", "--verify", "main")
	// What the session allowed is the connection. A login asks again.
	n, _ := hermes.ParseNeed(sshNeed)
	s.granted = []hermes.Need{n}
	out, exit := s.run(t, "git ls-remote origin")
	if exit.Code == 0 || !strings.Contains(out, "Permission denied") || !refuses(exit, sshNeed) {
		t.Errorf("a login that no one allowed: %s %+v", out, exit)
	}
}

// TestOnlyItsOwnSessionReachesAnAgent looks for the agents of a session from outside of it: its
// socket is in a folder that all sessions of the project have.
func TestOnlyItsOwnSessionReachesAnAgent(t *testing.T) {
	r := newRemote(t)
	s := sshScene(t, sandbox.A, r, r.known)
	other := s.program.Walls(confine.Config{Session: "s2", Workspace: s.dir, Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "SSH_AUTH_SOCK=" + r.socket}})
	second, err := environment.NewLocal(environment.LocalConfig{Dir: s.dir, Home: s.home, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home}, Walls: other})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { second.Close() })
	list := `for a in /tmp/ssh-agent-*; do SSH_AUTH_SOCK=$a ssh-add -l >/dev/null 2>&1 && echo open || echo closed; done`
	if out, _ := s.run(t, list); strings.TrimSpace(out) != "open" {
		t.Fatalf("the session itself: %q", out)
	}
	b := &scene{Local: second, walls: other, home: s.home, dir: s.dir, state: s.state}
	out, _ := b.run(t, list)
	words := strings.Fields(out)
	slices.Sort(words)
	if !slices.Equal(words, []string{"closed", "open"}) { // that of the first, and its own
		t.Errorf("another session: %q", out)
	}
}

func refuses(e hermes.Exit, item string) bool {
	for _, r := range e.Refused {
		if string(r.Kind)+" "+r.Name == item {
			return true
		}
	}
	return false
}

func TestNoKeyForAnUnknownHost(t *testing.T) {
	r := newRemote(t)
	s := sshScene(t, sandbox.A, r, "other.example.org "+strings.SplitN(r.known, " ", 2)[1])
	if out, exit := s.run(t, "git clone "+r.url()+" repo", needs(sshNeed)); exit.Code == 0 {
		t.Fatalf("cloned from an unknown host: %s", out)
	}
	// A command that believes every host gets no signature either.
	out, exit := s.run(t, `GIT_SSH_COMMAND="$GIT_SSH_COMMAND"; export GIT_SSH_COMMAND="${GIT_SSH_COMMAND%%StrictHost*}StrictHostKeyChecking=no'${GIT_SSH_COMMAND#*Checking=yes\'}"; git clone `+r.url()+` repo`, needs(sshNeed))
	if exit.Code == 0 || !strings.Contains(out, "Permission denied") || !refuses(exit, sshNeed) {
		t.Errorf("a login at an unknown host: %s %+v", out, exit)
	}
}

func TestSSHKeysNeedLayerA(t *testing.T) {
	r := newRemote(t)
	s := sshScene(t, sandbox.B, r, r.known)
	out, exit := s.run(t, "git clone "+r.url()+" repo", needs(sshNeed))
	if exit.Code == 0 || !strings.Contains(out, "run the command with escalate") {
		t.Errorf("in layer B: %s %+v", out, exit)
	}
}
