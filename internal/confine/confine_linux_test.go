//go:build amd64 || arm64

package confine_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/confine"
	"hermes/internal/egress"
	"hermes/internal/environment"
	"hermes/internal/proc"
	"hermes/internal/sandbox"
)

func TestMain(m *testing.M) {
	confine.Main(os.Getenv("HTTPS_PROXY")) // the tests are the program that becomes a keeper
	attacker()
	os.Exit(m.Run())
}

// scene is a user's home, a workspace and an environment with walls.
type scene struct {
	*environment.Local
	home, state, dir string
	program          *confine.Program
	walls            *confine.Walls
	granted          []hermes.Need
	given            []string
}

func newScene(t testing.TB, strongest sandbox.Layer, prepare ...func(home string)) *scene {
	t.Helper()
	return newSceneIn(t, strongest, "project", prepare...)
}

// newSceneIn is newScene with another folder of the home as the workspace.
func newSceneIn(t testing.TB, strongest sandbox.Layer, workspace string, prepare ...func(home string)) *scene {
	t.Helper()
	return newSceneAt(t, strongest, t.TempDir(), workspace, prepare...)
}

// newSceneAt is newSceneIn with another folder around the home.
func newSceneAt(t testing.TB, strongest sandbox.Layer, root, workspace string, prepare ...func(home string)) *scene {
	t.Helper()
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{home: filepath.Join(root, "home"), dir: filepath.Join(root, "home", workspace)}
	s.state = filepath.Join(s.home, ".hermes")
	for _, dir := range []string{filepath.Join(s.home, "project"), s.state, filepath.Join(s.home, ".ssh")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{".ssh/id_ed25519": "CANARY-SSH", ".hermes/.env": "CANARY-ENV", "notes.txt": "CANARY-NOTES", ".hermes/config.yaml": "a: b\n", "project/a.txt": "inside\n"} {
		if err := os.WriteFile(filepath.Join(s.home, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range prepare {
		f(s.home)
	}
	proxy := egress.New(egress.Config{
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		},
		Connect: func(context.Context, string, string) (net.Conn, error) { return nil, os.ErrDeadlineExceeded },
	})
	t.Cleanup(proxy.Close)
	p := confine.New(confine.Settings{
		Mode: confine.Auto, Home: s.home, State: s.state, Cache: filepath.Join(s.state, "cache", "sandbox"), Proxy: proxy, Strongest: strongest,
	})
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/go/bin", "HOME=" + s.home, "LANG=C.UTF-8"}
	s.program = p
	s.walls = p.Walls(confine.Config{Session: "s1", Workspace: s.dir, Environ: env, Granted: func() []hermes.Need { return s.granted }, Given: func() []string { return s.given }})
	s.Local, err = environment.NewLocal(environment.LocalConfig{Dir: s.dir, Home: s.home, Env: env, Walls: s.walls})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Local.Close() })
	if got := s.walls.Build(t.Context()); !got.Holds || got.Layer != strongest.String() {
		t.Fatalf("the walls are %+v: %+v", got, p.State())
	}
	return s
}

// run runs a line and returns what it printed and how it ended.
func (s *scene) run(t testing.TB, line string, change ...func(*hermes.Command)) (string, hermes.Exit) {
	t.Helper()
	var out bytes.Buffer
	c := hermes.Command{Line: line, Stdout: &out, Stderr: &out, Keep: true}
	for _, f := range change {
		f(&c)
	}
	exit, err := s.Exec(t.Context(), c)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return strings.TrimSpace(out.String()), exit
}

var layers = []sandbox.Layer{sandbox.A, sandbox.B}

// TestCommandsStayInside: what a user would miss if it did not hold, in both layers.
func TestCommandsStayInside(t *testing.T) {
	t.Parallel()
	for _, l := range layers {
		s := newScene(t, l)
		git := filepath.Join(s.dir, ".git")
		for _, c := range []struct {
			line    string
			says    string // is in the output
			code    int    // -1: not 0
			refused string // begins one of the refusals; "" is none
		}{
			{"cat a.txt; echo x > b.txt && cat b.txt", "inside\nx", 0, ""},
			{"export A=1; cd /", "", 0, ""},
			{"echo $A; pwd; cd " + s.dir, "1\n/", 0, ""},
			{"cat ~/notes.txt", "No such file", -1, "read " + s.home + "/notes.txt"},
			{"cat " + s.home + "/.hermes/.env", "", -1, "read " + s.home + "/.hermes/.env"},
			{"cat " + s.home + "/.ssh/id_ed25519", "", -1, "read " + s.home + "/.ssh/id_ed25519"},
			{"cat nothing.txt", "No such file", -1, ""},
			{"git init -q .", "", 0, "changed " + git},
			{"git config user.name x && git config user.email a@b", "", 0, ""},
			{"git add -A && git commit -qm x && git log --format=%s", "x", 0, ""},
			{"git config core.fsmonitor ./x; git config user.name y", "", 0, "changed " + git + "/config"},
			{`test "$(git config core.fsmonitor; git config user.name)" = y`, "", 0, ""}, // what is harmless stays
			{"curl -sS https://example.org/", "403", -1, "host example.org:443"},
			{"python3 -m http.server 8123 >/dev/null 2>&1 & until curl -s -o /dev/null http://127.0.0.1:8123/; do sleep 0.05; done", "", 0, "port 8123"},
			{"curl -s http://127.0.0.1:8123/a.txt", "inside", 0, ""},
		} {
			out, exit := s.run(t, c.line)
			found := c.refused == ""
			for _, r := range exit.Refused {
				if c.refused == "" {
					t.Errorf("layer %s: %s: refused %s", l, c.line, r)
				}
				found = found || strings.HasPrefix(r.String(), c.refused)
			}
			if !strings.Contains(out, c.says) || !found || (exit.Code == 0) != (c.code == 0) {
				t.Errorf("layer %s: %s: %q, exit code %d, refused %v", l, c.line, out, exit.Code, exit.Refused)
			}
			if strings.Contains(out, "CANARY") {
				t.Errorf("layer %s: %s: a secret was read: %s", l, c.line, out)
			}
		}
		out, exit := s.run(t, "echo x > .git/hooks/pre-commit; mv .git gone; cat .git/hooks/pre-commit")
		if _, err := os.Stat(filepath.Join(git, "hooks", "pre-commit")); err == nil || len(exit.Refused) == 0 {
			t.Errorf("layer %s: a hook was left: %q %v", l, out, exit.Refused)
		}
		if _, err := os.Stat(git); err != nil {
			t.Errorf("layer %s: the repository was moved: %v", l, err)
		}
	}
}

// TestNeedsOpenTheWalls for one command, or for those after a grant.
func TestNeedsOpenTheWalls(t *testing.T) {
	t.Parallel()
	for _, l := range layers {
		s := newScene(t, l)
		notes := filepath.Join(s.home, "notes.txt")
		need := hermes.Need{Kind: hermes.RefusedRead, Name: notes}
		if out, _ := s.run(t, "cat "+notes, func(c *hermes.Command) { c.Need = []hermes.Need{need} }); out != "CANARY-NOTES" {
			t.Errorf("layer %s: with the need the file says %q", l, out)
		}
		if out, _ := s.run(t, "cat "+notes); strings.Contains(out, "CANARY") {
			t.Errorf("layer %s: the need held for the next command", l)
		}
		s.granted = []hermes.Need{need}
		if out, _ := s.run(t, "cat "+notes); out != "CANARY-NOTES" {
			t.Errorf("layer %s: with the grant the file says %q", l, out)
		}
		if out, exit := s.run(t, "echo x >> "+notes); exit.Code == 0 {
			t.Errorf("layer %s: what may be read was written: %q", l, out)
		}
	}
}

// TestLimitsOfACommandAreKept: less network, fewer paths.
func TestLimitsOfACommandAreKept(t *testing.T) {
	t.Parallel()
	for _, l := range layers {
		s := newScene(t, l)
		out, exit := s.run(t, "curl -sS http://127.0.0.1:1/ ; env | grep -i _proxy=; echo x > made.txt; echo y > $TMPDIR/y && cat $TMPDIR/y", func(c *hermes.Command) {
			c.Limits = hermes.Limits{Network: hermes.NetworkOff, Write: []string{}}
		})
		if _, err := os.Stat(filepath.Join(s.dir, "made.txt")); err == nil || strings.Contains(out, "://hermes:") || !strings.HasSuffix(out, "y") {
			t.Errorf("layer %s: %q, %+v", l, out, exit)
		}
		if _, err := s.Exec(t.Context(), hermes.Command{Line: "true", Limits: hermes.Limits{Processes: 3}}); err == nil {
			t.Errorf("layer %s: a limit that is not kept was accepted", l)
		}
	}
}

// TestWhatRunsOutsideIsNotConfined, and what is inside stops until it has started.
func TestWhatRunsOutsideIsNotConfined(t *testing.T) {
	t.Parallel()
	for _, l := range layers {
		s := newScene(t, l)
		s.run(t, "export PATH="+s.dir+":$PATH LD_PRELOAD=x BASH_ENV="+s.dir+"/evil")
		out, _ := s.run(t, "cat "+s.home+"/notes.txt; echo; echo $PATH $LD_PRELOAD $BASH_ENV", func(c *hermes.Command) { c.Outside = true })
		if !strings.HasPrefix(out, "CANARY-NOTES") || strings.Contains(out, s.dir) || strings.Contains(out, "evil") {
			t.Errorf("layer %s: %q", l, out)
		}
	}
}

// TestAPortIsOpenedToTheHostAfterAsking, and not before, in layer A, whose loopback is its
// own.
func TestAPortIsOpenedToTheHostAfterAsking(t *testing.T) {
	t.Parallel()
	s := newScene(t, sandbox.A)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	_, port, _ := net.SplitHostPort(at)
	get := func() string {
		resp, err := http.Get("http://" + at + "/a.txt")
		if err != nil {
			return ""
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return string(b)
	}
	need := func(c *hermes.Command) { c.Need = []hermes.Need{{Kind: hermes.OpenedPort, Name: port}} }
	var out bytes.Buffer
	if _, err := s.Exec(t.Context(), hermes.Command{Line: "true", Stdout: &out, Need: []hermes.Need{{Kind: hermes.OpenedPort, Name: port}}}); err == nil {
		t.Error("a port that is taken was said to be opened")
	}
	l.Close()
	s.run(t, "python3 -m http.server "+port+" >/dev/null 2>&1 & until curl -s -o /dev/null http://127.0.0.1:"+port+"/; do sleep 0.05; done")
	if got := get(); got != "" {
		t.Errorf("before the user allowed it the port said %q", got)
	}
	s.run(t, "true", need)
	if got := get(); got != "inside\n" {
		t.Errorf("the port said %q", got)
	}
	s.Close()
	if got := get(); got != "" {
		t.Errorf("after the session the port said %q", got)
	}
}

// TestAHomeThatIsWorkedIn: what is made directly in it must not go to a private home, where
// the user never finds it. It is refused, and what is in its folders works.
func TestAHomeThatIsWorkedIn(t *testing.T) {
	t.Parallel()
	for _, l := range layers {
		// Not below /tmp, which is a private one in layer A.
		root, err := os.MkdirTemp(".", "home")
		if err == nil {
			root, err = filepath.Abs(root)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(root) })
		if strings.HasPrefix(root, "/tmp/") {
			t.Skip("the tests run in a temporary folder")
		}
		s := newSceneAt(t, l, root, ".")
		out, exit := s.run(t, "echo x >> project/a.txt && cat project/a.txt notes.txt && touch ~/mine && ls ~/mine >/dev/null")
		if exit.Code != 0 || !strings.Contains(out, "inside\nx\nCANARY-NOTES") {
			t.Errorf("layer %s: %q, %+v", l, out, exit)
		}
		for _, line := range []string{"touch new.txt", "mkdir new", "rmdir project/ || rm -r project", "mv notes.txt other.txt", "echo x > " + s.home + "/new.txt"} {
			out, exit := s.run(t, line)
			refused := false
			for _, r := range exit.Refused {
				refused = refused || r.Kind == hermes.RefusedWrite && r.Name == s.home
			}
			if exit.Code == 0 || !refused {
				t.Errorf("layer %s: %s: %q, exit code %d, refused %v", l, line, out, exit.Code, exit.Refused)
			}
		}
		if out, _ := s.run(t, "cat .ssh/id_ed25519 .hermes/.env; ls -a .ssh"); strings.Contains(out, "CANARY") || strings.Contains(out, "id_ed25519\n") {
			t.Errorf("layer %s: a secret was read: %s", l, out)
		}
		if list, err := os.ReadDir(s.home); err != nil || len(list) != 4 {
			t.Errorf("layer %s: the home holds %v, %v", l, list, err)
		}
	}
}

// TestKeepersDoNotPileUp: what one command asked for, and walls that are out of date, end
// with the next command.
func TestKeepersDoNotPileUp(t *testing.T) {
	stop := proc.AdoptOrphans()
	t.Cleanup(stop)
	for _, l := range layers {
		s := newScene(t, l)
		few := func(after string) {
			s.run(t, "true")
			if n := len(proc.Children(os.Getpid())); n > 2 { // a keeper, or its guard, and one that is about to end
				t.Errorf("layer %s: %d processes are left after %s", l, n, after)
			}
		}
		for i := range 5 {
			dir := filepath.Join(s.home, "other", strconv.Itoa(i))
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			s.run(t, "ls "+dir, func(c *hermes.Command) { c.Need = []hermes.Need{{Kind: hermes.RefusedRead, Name: dir}} })
		}
		few("commands that needed more")
		for i := range 5 {
			s.run(t, "git init -q "+strconv.Itoa(i))
		}
		few("new repositories")
		s.Close()
	}
}
