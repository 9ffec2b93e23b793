//go:build amd64 || arm64

package confine_test

import (
	"bytes"
	"context"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/confine"
	"hermes/internal/egress"
	"hermes/internal/environment"
	"hermes/internal/sandbox"
)

func TestMain(m *testing.M) {
	confine.Main(os.Getenv("HTTPS_PROXY")) // the tests are the program that becomes a keeper
	os.Exit(m.Run())
}

// scene is a user's home, a workspace and an environment with walls.
type scene struct {
	*environment.Local
	home, state, dir string
	walls            *confine.Walls
	granted          []hermes.Need
}

func newScene(t testing.TB, strongest sandbox.Layer) *scene {
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
	for path, text := range map[string]string{".ssh/id_ed25519": "CANARY-SSH", ".hermes/.env": "CANARY-ENV", "notes.txt": "CANARY-NOTES", ".hermes/config.yaml": "a: b\n", "project/a.txt": "inside\n"} {
		if err := os.WriteFile(filepath.Join(s.home, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
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
	s.walls = p.Walls(confine.Config{Session: "s1", Workspace: s.dir, Environ: env, Granted: func() []hermes.Need { return s.granted }})
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

func TestTry(t *testing.T) {
	for _, l := range layers {
		s := newScene(t, l)
		for _, line := range []string{
			"pwd; cat a.txt; echo x > b.txt; ls", "cat ~/notes.txt", "cat " + s.home + "/notes.txt", "cat " + s.home + "/.hermes/.env", "cat " + s.home + "/.ssh/id_ed25519",
			"git init -q . && git config user.name x && ls -a .git", "echo x > .git/hooks/pre-commit", "mv .git x", "echo '[core] fsmonitor=x' >> .git/config; cat .git/config",
			"git add -A; git -c user.email=a@b commit -qm x; git log --oneline", "curl -sS https://example.org/", "export A=1; cd /", "echo $A; pwd", "env | sort", "python3 -c 'print(1)'; go version; node -v",
			"(python3 -m http.server 8123 >/dev/null 2>&1 &) ; sleep 0.5; curl -s http://127.0.0.1:8123/ | head -3", "touch " + s.home + "/x", "echo x > .envrc",
		} {
			out, exit := s.run(t, line)
			t.Logf("%s> %s\n%s\n[%d] %v", l, line, out, exit.Code, exit.Refused)
		}
	}
}
