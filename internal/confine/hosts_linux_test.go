//go:build amd64 || arm64

package confine_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"hermes"
	"hermes/internal/confine"
	"hermes/internal/environment"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/seccomp"
)

// host is a machine that allows less than this one, and what must come of it.
type host struct {
	Name       string
	Simulation seccomp.Simulation
	ABI        int
	Layer      sandbox.Layer // in force with the mode auto
	Reason     string        // why layer A does not hold; what strict says, too
}

// hosts are those of section 10 of the design. A filter sees no file: that Ubuntu refuses
// to write uid_map, and that /proc is masked in a container, is not simulated here. The
// latter is a test of package mount.
var hosts = []host{
	{Name: "plain", Layer: sandbox.A},
	{Name: "Ubuntu 24.04", Simulation: seccomp.Simulation{Ubuntu: true}, Layer: sandbox.B, Reason: "permission denied"},
	{Name: "Docker", Simulation: seccomp.Simulation{Docker: true}, Layer: sandbox.B, Reason: "operation not permitted"},
	{Name: "Landlock unknown", Simulation: seccomp.Simulation{Landlock: unix.ENOSYS}, Layer: sandbox.None, Reason: "this kernel has none"},
	{Name: "Landlock not switched on", Simulation: seccomp.Simulation{Landlock: unix.EOPNOTSUPP}, Layer: sandbox.None, Reason: "not switched on"},
	{Name: "Landlock forbidden", Simulation: seccomp.Simulation{Landlock: unix.EPERM}, Layer: sandbox.None, Reason: "a filter around this process"},
	{Name: "ABI 1", ABI: 1, Layer: sandbox.A},
	{Name: "ABI 3", ABI: 3, Layer: sandbox.A},
	{Name: "ABI 5", ABI: 5, Layer: sandbox.A},
	{Name: "Docker with ABI 1", Simulation: seccomp.Simulation{Docker: true}, ABI: 1, Layer: sandbox.B, Reason: "operation not permitted"},
	{Name: "Docker with ABI 5", Simulation: seccomp.Simulation{Docker: true}, ABI: 5, Layer: sandbox.B, Reason: "operation not permitted"},
	{Name: "another supervisor", Simulation: seccomp.Simulation{NoListener: true}, Layer: sandbox.A},
	{Name: "Docker with another supervisor", Simulation: seccomp.Simulation{Docker: true, NoListener: true}, Layer: sandbox.None, Reason: "operation not permitted"},
	{Name: "neither", Simulation: seccomp.Simulation{Docker: true, Landlock: unix.ENOSYS}, Layer: sandbox.None, Reason: "operation not permitted"},
}

// hostVariable says, in the test binary that was started once more, on which host it is.
const hostVariable = "CONFINE_TEST_HOST"

// TestHosts runs TestOnHost on each simulated host, as this user and as an ordinary one.
func TestHosts(t *testing.T) {
	if os.Getenv(hostVariable) != "" {
		t.Skip("this is a simulated host")
	}
	binary, folder := reachableBinary(t)
	for _, h := range hosts {
		order, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		for _, uid := range []uint32{uint32(os.Getuid()), 65534} {
			if os.Getuid() != 0 && uid == 65534 {
				continue
			}
			name := h.Name + " as a user"
			if uid == 0 {
				name = h.Name + " as root"
			}
			t.Run(name, func(t *testing.T) {
				c := exec.Command(binary, "-test.run=^TestOnHost$", "-test.timeout=60s", "-test.v")
				c.Dir = folder
				c.Env = append(os.Environ(), hostVariable+"="+string(order), "TMPDIR="+folder, "HOME="+folder)
				if os.Getuid() == 0 {
					c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
				}
				out, err := c.CombinedOutput()
				if err != nil || !bytes.Contains(out, []byte("--- PASS: TestOnHost ")) {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}

// reachableBinary copies the test binary to a folder that every user may enter.
func reachableBinary(t *testing.T) (binary, folder string) {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	if folder, err = os.MkdirTemp("", "confine"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	binary = filepath.Join(folder, "confine.test")
	if err := os.WriteFile(binary, content, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{folder: 0o777, binary: 0o755} { // whatever the umask
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	return binary, folder
}

// TestOnHost is run by TestHosts.
func TestOnHost(t *testing.T) {
	order := os.Getenv(hostVariable)
	if order == "" {
		t.Skip("see TestHosts")
	}
	var h host
	if err := json.Unmarshal([]byte(order), &h); err != nil {
		t.Fatal(err)
	}
	if err := h.Simulation.Install(); err != nil {
		t.Fatal(err)
	}
	t.Run("auto", func(t *testing.T) { h.auto(t) })
	t.Run("strict", func(t *testing.T) { h.strict(t) })
	if h.Layer > sandbox.None {
		t.Run("never weaker", func(t *testing.T) { h.neverWeaker(t) })
	}
}

// auto runs commands with the strongest layer that holds.
func (h host) auto(t *testing.T) {
	s := newHostScene(t, confine.Auto, h.ABI)
	out, exit, err := s.try("cat a.txt && echo x > b.txt && cat b.txt")
	if err != nil || exit.Code != 0 || out != "inside\nx" {
		t.Fatalf("a command printed %q and ended with %d, %v", out, exit.Code, err)
	}
	state := s.program.State()
	if !state.Known || state.Layer != h.Layer {
		t.Fatalf("the layer is %s, want %s: %v", state.Layer, h.Layer, state.Reasons)
	}
	if weaker := h.Layer < sandbox.A; weaker != (len(state.Reasons) > 0) || weaker && !strings.Contains(state.Reasons[0], h.Reason) {
		t.Errorf("the reasons are %q, want %q", state.Reasons, h.Reason)
	}
	described := s.walls.Describe()
	if described.Holds != (h.Layer > sandbox.None) || described.Layer != h.Layer.String() {
		t.Errorf("the walls say %+v", described)
	}
	if h.ABI > 0 && len(described.Lacks) == 0 {
		t.Error("the walls do not say what an old kernel lacks")
	}
	if h.Layer == sandbox.None {
		return
	}
	for _, line := range []string{"cat " + s.home + "/.hermes/.env", "cat " + s.home + "/.ssh/id_ed25519", "echo x > " + s.home + "/new", "truncate -s 0 " + s.home + "/notes.txt"} { // in layer A of the private home
		if out, exit, err := s.try(line); err != nil || strings.Contains(out, "CANARY") {
			t.Errorf("%s printed %q and ended with %d, %v", line, out, exit.Code, err)
		}
	}
	if _, err := os.Stat(s.home + "/new"); err == nil {
		t.Error("a command made a file in the home folder")
	}
	if b, err := os.ReadFile(s.home + "/notes.txt"); err != nil || string(b) != "CANARY-NOTES" {
		t.Errorf("a command changed a file in the home folder: %q, %v", b, err)
	}
}

// strict runs commands with layer A, or none.
func (h host) strict(t *testing.T) {
	s := newHostScene(t, confine.Strict, h.ABI)
	out, _, err := s.try("echo x > ran; echo ran")
	if h.Layer == sandbox.A {
		if err != nil || out != "ran" {
			t.Errorf("a command printed %q, %v", out, err)
		}
		return
	}
	if err == nil || !strings.Contains(err.Error(), "strict") || !strings.Contains(err.Error(), h.Reason) {
		t.Errorf("got %v, want a diagnosis with %q", err, h.Reason)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "ran")); err == nil {
		t.Error("the command ran")
	}
}

// neverWeaker takes the layer away after it was chosen: the next session's commands fail.
func (h host) neverWeaker(t *testing.T) {
	s := newHostScene(t, confine.Auto, h.ABI)
	if _, _, err := s.try("true"); err != nil {
		t.Fatal(err)
	}
	if err := (seccomp.Simulation{Docker: true, Landlock: unix.ENOSYS}).Install(); err != nil {
		t.Fatal(err)
	}
	later := s.session(t)
	for range 2 {
		if out, exit, err := later.try("echo ran"); err == nil {
			t.Errorf("a command of a later session printed %q and ended with %d", out, exit.Code)
		}
	}
	if out, _, err := s.try("echo ran"); err != nil || out != "ran" {
		t.Errorf("a command of the first session printed %q, %v", out, err)
	}
}

// hostScene is a session on a simulated host.
type hostScene struct {
	*environment.Local
	program   *confine.Program
	walls     *confine.Walls
	t         *testing.T
	home, dir string
	environ   []string
}

func newHostScene(t *testing.T, mode confine.Mode, abi int) *hostScene {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &hostScene{t: t, home: filepath.Join(root, "home"), dir: filepath.Join(root, "home", "project")}
	for path, text := range map[string]string{".ssh/id_ed25519": "CANARY-SSH", ".hermes/.env": "CANARY-ENV", "notes.txt": "CANARY-NOTES", "project/a.txt": "inside\n"} {
		path = filepath.Join(s.home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	state := filepath.Join(s.home, ".hermes")
	s.environ = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + s.home, "LANG=C.UTF-8"}
	s.program = confine.New(confine.Settings{Mode: mode, Home: s.home, State: state, Cache: filepath.Join(state, "cache", "sandbox"), ABI: abi})
	return s.session(t)
}

// session returns another session of the same program.
func (s *hostScene) session(t *testing.T) *hostScene {
	t.Helper()
	n := *s
	n.walls = s.program.Walls(confine.Config{Workspace: s.dir, Environ: s.environ})
	var err error
	n.Local, err = environment.NewLocal(environment.LocalConfig{Dir: s.dir, Home: s.home, Env: s.environ, Walls: n.walls})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Local.Close() })
	return &n
}

// try runs a line.
func (s *hostScene) try(line string) (string, hermes.Exit, error) {
	var out bytes.Buffer
	exit, err := s.Exec(s.t.Context(), hermes.Command{Line: line, Stdout: &out, Stderr: &out})
	return strings.TrimSpace(out.String()), exit, err
}

// TestOnlyAHostThatRefusesHasNoWalls: a workspace around which walls fail, a shortage, and a
// keeper that dies prove nothing about the host.
func TestOnlyAHostThatRefusesHasNoWalls(t *testing.T) {
	t.Parallel()
	other := errors.New("the message is malformed: 9048213 bytes")
	refuses := fmt.Errorf("build the sandbox: %w", sandbox.ErrUnavailable)
	for name, test := range map[string]struct {
		workspace, empty error
		bare, known      bool
	}{
		"the workspace":      {workspace: other, known: true},
		"it seems the host":  {workspace: refuses, known: true},
		"a shortage":         {workspace: syscall.EAGAIN, empty: syscall.EAGAIN},
		"the keeper died":    {workspace: io.EOF, empty: io.EOF},
		"the host refuses":   {workspace: refuses, empty: refuses, bare: true, known: true},
		"the host, and more": {workspace: other, empty: refuses, bare: true, known: true},
	} {
		dir := t.TempDir()
		p := confine.New(confine.Settings{Mode: confine.Auto, Home: dir, State: filepath.Join(dir, "state"), Cache: filepath.Join(dir, "cache")})
		bare, err := p.ChooseAfter(t.Context(), test.workspace, test.empty)
		if s := p.State(); bare != test.bare || (err == nil) != test.bare || s.Known != test.known || (s.Layer == sandbox.None) != (test.bare || !test.known) {
			t.Errorf("%s: without walls: %v, %v; the host is %+v", name, bare, err, s)
		}
	}
}
