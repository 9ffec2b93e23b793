//go:build amd64 || arm64

package confine_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/internal/confine"
	"hermes/internal/egress"
	"hermes/internal/egress/egresstest"
	"hermes/internal/environment"
	"hermes/internal/policy/shell"
	"hermes/internal/race"
	"hermes/internal/sandbox"
)

// task is a piece of everyday work that must run inside of walls as it does without.
type task struct {
	name string
	// tools are the programs that it needs beside those of a plain system.
	tools string
	// files are there before, relative to the task's folder.
	files map[string]string
	// lines are commands, one after the other. Each must end well, and none may be told
	// that the walls refused something. A line that begins with "! " must fail, for a
	// reason that is not the walls'; one with "& " is started in the background; one
	// with "tty " runs in a terminal.
	lines []string
	// want is in what the last line prints.
	want string
	// alone gives it a workspace of its own. Others share that of their group, and so
	// what their tools keep.
	alone bool
	// slow leaves it to the slow tests.
	slow bool
	// only names the layer in which it must run; empty is both.
	only string
}

// group is tasks of one kind.
type group struct {
	name  string
	tasks []task
}

// in reports whether a program is one that continuous integration has.
func inCI(tool string) bool {
	return os.Getenv("CI") == "true" && slices.Contains([]string{"git", "python3", "gcc", "make", "node", "npm", "go"}, tool)
}

// missing returns a tool of a task that this machine lacks.
func (k task) missing() string {
	for tool := range strings.FieldsSeq(k.tools) {
		if _, err := exec.LookPath(tool); err != nil {
			return tool
		}
	}
	return ""
}

// TestEverydayWorkRunsInside runs each task in each layer.
func TestEverydayWorkRunsInside(t *testing.T) {
	net := newNetwork(t)
	for _, l := range layers[:race.Rounds(len(layers), 1)] {
		t.Run(l.String(), func(t *testing.T) {
			for _, g := range everyday {
				t.Run(g.name, func(t *testing.T) {
					t.Parallel()
					shared := sync.OnceValue(func() *workplace { return newWorkplace(t, net, l, g.name) })
					for _, k := range g.tasks {
						t.Run(k.name, func(t *testing.T) { k.run(t, net, l, shared) })
					}
				})
			}
		})
	}
}

func (k task) run(t *testing.T, net *network, l sandbox.Layer, shared func() *workplace) {
	switch tool := k.missing(); {
	case k.slow && !slowTasks:
		t.Skip("a slow one: .ci/slow sandbox")
	case k.only != "" && k.only != l.String():
		t.Skip("not promised in this layer")
	case tool != "" && inCI(tool):
		t.Fatalf("%s is missing", tool)
	case tool != "":
		t.Skipf("%s is missing", tool)
	}
	w := shared
	if k.alone {
		w = func() *workplace { return newWorkplace(t, net, l, k.name) }
	}
	at := w()
	dir := at.dir
	if !k.alone {
		dir = filepath.Join(at.dir, k.name)
	}
	write(t, dir, k.files)
	out := ""
	for i, line := range k.lines {
		c := hermes.Command{}
		if i == 0 {
			c.Dir = dir
		}
		out = at.line(t, c, line)
	}
	if !strings.Contains(out, k.want) {
		t.Errorf("the last line printed %q, want %q in it", out, k.want)
	}
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// line runs one line of a task and returns what it printed.
func (w *workplace) line(t *testing.T, c hermes.Command, line string) string {
	t.Helper()
	fails := strings.HasPrefix(line, "! ")
	var out string
	var exit hermes.Exit
	switch {
	case strings.HasPrefix(line, "& "):
		w.start(t, c, line[2:])
		return ""
	case strings.HasPrefix(line, "tty "):
		out, exit = w.tty(t, c, line[4:])
	default:
		out, exit = w.run(t, strings.TrimPrefix(line, "! "), func(with *hermes.Command) { with.Dir = c.Dir })
	}
	if fails != (exit.Code != 0) {
		t.Errorf("%s\nended with %d:\n%s", line, exit.Code, out)
	}
	for _, r := range exit.Refused {
		if r.Kind != hermes.OpenedPort && !(r.Kind == hermes.RefusedChange && strings.HasPrefix(r.Note, "a new repository")) {
			t.Errorf("%s\nwas told of a refusal: %s (%s)\n%s", line, r, r.Note, out)
		}
	}
	return out
}

// start leaves a command running until the test ends.
func (w *workplace) start(t *testing.T, c hermes.Command, line string) {
	t.Helper()
	var out bytes.Buffer
	c.Line, c.Stdout, c.Stderr, c.Keep = line, &out, &out, true
	p, err := w.Start(t.Context(), c, false)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	t.Cleanup(func() {
		_ = p.Kill()
		if _, err := p.Wait(t.Context()); err == nil && t.Failed() {
			t.Logf("%s printed:\n%s", line, out.String())
		}
	})
}

// tty runs a line in a terminal.
func (w *workplace) tty(t *testing.T, c hermes.Command, line string) (string, hermes.Exit) {
	t.Helper()
	var out bytes.Buffer
	c.Line, c.Stdout, c.Stderr, c.Keep = line, &out, &out, true
	p, err := w.Start(t.Context(), c, true)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if err := p.Input([]byte("yes\n")); err != nil {
		t.Error(err)
	}
	exit, err := p.Wait(t.Context())
	if err != nil {
		t.Error(err)
	}
	return out.String(), exit
}

// network is what there is outside: servers on loopback, under names.
type network struct {
	*egresstest.World
	authority *egresstest.Authority
	git       string // the folder with the repositories of git.test
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{World: egresstest.New(), authority: egresstest.NewAuthority(t), git: t.TempDir()}
	for host, h := range map[string]http.Handler{
		"pypi.test": egresstest.Python(t, "pypi.test"), "npm.test": egresstest.Node(t, "npm.test", "demo"), "crates.test": egresstest.Rust(t, "crates.test"),
		"goproxy.test": egresstest.Go(t), "files.test": egresstest.Files{"/hello.txt": "hello from outside\n"},
	} {
		n.Site(t, n.authority, h, host)
	}
	if _, err := exec.LookPath("git"); err == nil {
		for _, name := range []string{"one-A", "one-B", "two-A", "two-B"} {
			n.repository(t, name)
		}
		programs, err := exec.Command("git", "--exec-path").Output()
		if err != nil {
			t.Fatal(err)
		}
		n.Site(t, n.authority, egresstest.Git(strings.TrimSpace(string(programs)), n.git), "git.test")
	}
	return n
}

// repository makes an empty repository on the server.
func (n *network) repository(t *testing.T, name string) {
	t.Helper()
	if out, err := exec.Command("git", "init", "-q", "--bare", "-b", "main", filepath.Join(n.git, name+".git")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// workplace is a scene with the tool chains of this machine and a network.
type workplace struct {
	*scene
}

// chains are variables that say where tool chains are.
var chainVariables = []string{"PATH", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "PYENV_ROOT", "PYENV_VERSION", "GOROOT", "JAVA_HOME", "NVM_DIR"}

// toolVariables are those of the machine. The home of the scene is another one, so what
// tools find through the home is named.
func toolVariables() []string {
	vars := []string{"LANG=C.UTF-8"}
	for _, name := range chainVariables {
		value := os.Getenv(name)
		folder := map[string]string{"RUSTUP_HOME": ".rustup", "PYENV_ROOT": ".pyenv"}[name]
		if value == "" && folder != "" {
			value = egresstest.ToolFolder(os.Getenv("PATH"), folder)
		}
		if value != "" {
			vars = append(vars, name+"="+value)
		}
	}
	return vars
}

func newWorkplace(t *testing.T, n *network, l sandbox.Layer, name string) *workplace {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return workplaceIn(t, n, l, name, filepath.Join(root, "home"))
}

// workplaceIn makes one with a home at a path, and with more variables.
func workplaceIn(t *testing.T, n *network, l sandbox.Layer, name, home string, vars ...string) *workplace {
	t.Helper()
	s := &scene{home: home}
	s.dir, s.state = filepath.Join(s.home, "work", name), filepath.Join(s.home, ".hermes")
	write(t, s.dir, nil)
	write(t, s.home, map[string]string{
		".gitconfig":     "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n[credential]\n\thelper = store\n",
		".hermes/.env":   "KEY=secret\n",
		"notes/todo.txt": "private\n",
	})
	proxy := egress.New(egress.Config{Resolve: n.Resolve, Connect: n.Connect, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(proxy.Close)
	var allow []egress.Rule
	for _, text := range []string{"*.test"} {
		r, err := egress.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		allow = append(allow, r)
	}
	p := confine.New(confine.Settings{
		Mode: confine.Auto, Home: s.home, State: s.state, Cache: filepath.Join(s.state, "cache", "sandbox"), Proxy: proxy, Strongest: l, Allow: allow,
		Log: slog.New(slog.DiscardHandler),
	})
	env := slices.Concat(toolVariables(), n.authority.Variables(), []string{
		"HOME=" + s.home, "USER=ada", "LAYER=" + l.String(), "TZ=Europe/Berlin", fmt.Sprintf("PORT=%d", freePort(t)),
		"PIP_INDEX_URL=https://pypi.test/simple/", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PYTHONDONTWRITEBYTECODE=1",
		"npm_config_registry=https://npm.test/", "npm_config_audit=false", "npm_config_fund=false", "npm_config_update_notifier=false", "npm_config_fetch_retries=0",
		"GOPROXY=https://goproxy.test", "GONOSUMDB=example.test", "GOTOOLCHAIN=local", "CGO_ENABLED=0",
		"CARGO_REGISTRIES_CRATES_IO_PROTOCOL=sparse", "CARGO_NET_RETRY=0", "GIT_TERMINAL_PROMPT=0",
	}, vars)
	s.walls = p.Walls(confine.Config{Session: "s1", Workspace: s.dir, Environ: env, Granted: func() []hermes.Need { return s.granted }})
	local, err := environment.NewLocal(environment.LocalConfig{Dir: s.dir, Home: s.home, Env: env, Walls: s.walls})
	if err != nil {
		t.Fatal(err)
	}
	s.Local = local
	t.Cleanup(func() { s.Local.Close() })
	if got := s.walls.Build(t.Context()); !got.Holds || got.Layer != l.String() {
		t.Fatalf("the walls are %+v: %+v", got, p.State())
	}
	return &workplace{s}
}

// freePort is a port that no program uses at the moment. In layer B the ports inside are those
// of the host.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// TestEverydayWorkDoesNotAsk counts the lines about which the user would be asked.
func TestEverydayWorkDoesNotAsk(t *testing.T) {
	t.Parallel()
	const most = 2
	home := t.TempDir()
	on := shell.Context{Home: home, Hermes: filepath.Join(home, ".hermes"), Dir: filepath.Join(home, "work", "app"), Resolve: func(p string) string { return p }, PID: os.Getpid()}
	for _, l := range layers {
		tasks, lines, asking := 0, 0, 0
		for _, g := range everyday {
			for _, k := range g.tasks {
				tasks++
				for _, line := range k.lines {
					for _, mark := range []string{"! ", "& ", "tty "} {
						line = strings.TrimPrefix(line, mark)
					}
					lines++
					if v := shell.Judge(line, on).Within(l.String()); v.Level() > shell.Allow {
						asking++
						t.Logf("%s: %s: asks: %v", l, line, v.Findings)
					}
				}
			}
		}
		t.Logf("%s: %d tasks, %d lines, %d ask", l, tasks, lines, asking)
		if asking > most || tasks < 100 {
			t.Errorf("in layer %s %d of %d lines of %d tasks ask, at most %d may", l, asking, lines, tasks, most)
		}
	}
}

// TestLinkedFoldersAreTheSameInside: a home, a workspace, folders of PATH and system files
// that are reached through links have the same paths inside as outside.
func TestLinkedFoldersAreTheSameInside(t *testing.T) {
	t.Parallel()
	for _, l := range layers {
		root, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		write(t, root, map[string]string{"real/home/.profile": "", "opt/tool/bin/here": "#!/bin/sh\necho here\n", "opt/tool/share/x": "", "opt/mine/bin/mine": "#!/bin/sh\necho mine\n", "opt/mine/share/x": ""})
		home := filepath.Join(root, "home")
		for _, err := range []error{
			os.Symlink("real/home", home), os.Symlink("opt/tool", filepath.Join(root, "linked")), os.Symlink(filepath.Join(root, "opt", "mine"), filepath.Join(root, "real", "home", "mine")),
			os.Chmod(filepath.Join(root, "opt/tool/bin/here"), 0o755), os.Chmod(filepath.Join(root, "opt/mine/bin/mine"), 0o755),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		w := workplaceIn(t, newNetwork(t), l, "app", home, "PATH="+filepath.Join(root, "linked", "bin")+":"+filepath.Join(home, "mine", "bin")+":/usr/bin:/bin")
		for _, line := range []string{
			"pwd && echo x > a.txt", "cat '" + home + "/work/app/a.txt'", "here && mine", "'" + root + "/linked/bin/here'",
			"test -e /etc/os-release || ! test -e /usr/lib/os-release", "test -e /etc/mtab || ! test -L /etc/mtab", "readlink -f /bin/sh", "echo x > ~/y && cat ~/y",
		} {
			if out, exit := w.run(t, line); exit.Code != 0 {
				t.Errorf("%s: %s ended with %d: %s", l, line, exit.Code, out)
			}
		}
		// A link in the private home can be replaced, so PATH does not lead through one.
		if out, _ := w.run(t, "rm -f ~/mine; mkdir -p ~/mine/bin; printf '#!/bin/sh\necho other\n' > ~/mine/bin/mine; chmod +x ~/mine/bin/mine; mine"); out != "mine" {
			t.Errorf("%s: a command replaced a program of PATH: %s", l, out)
		}
	}
}

// TestAFileBesideSecretsCanBeAllowed: layer B cannot let a command make a file beside .env
// while it stays closed. The refusal names what helps, and that does help.
func TestAFileBesideSecretsCanBeAllowed(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t, newNetwork(t), sandbox.B, "app")
	write(t, w.dir, map[string]string{".env": "KEY=CANARY\n", "src/a.txt": "a\n"})
	w.walls.Close()
	w = workplaceIn(t, newNetwork(t), sandbox.B, "app", w.home)
	for _, line := range []string{"cat src/a.txt && echo b > src/b.txt", "! grep CANARY .env"} {
		if out, exit := w.run(t, strings.TrimPrefix(line, "! ")); (exit.Code == 0) == strings.HasPrefix(line, "!") {
			t.Errorf("%s ended with %d: %s", line, exit.Code, out)
		}
	}
	out, exit := w.run(t, "echo x > new.txt")
	want := hermes.Need{Kind: hermes.RefusedRead, Name: filepath.Join(w.dir, ".env")}
	if exit.Code == 0 || len(exit.Refused) != 1 || exit.Refused[0].Kind != want.Kind || exit.Refused[0].Name != want.Name {
		t.Fatalf("ended with %d, refused %v: %s", exit.Code, exit.Refused, out)
	}
	allowed := func(c *hermes.Command) { c.Need = []hermes.Need{want} }
	if out, exit := w.run(t, "echo x > new.txt && mv new.txt renamed.txt && cat renamed.txt", allowed); exit.Code != 0 || out != "x" {
		t.Errorf("allowed, it ended with %d: %s", exit.Code, out)
	}
}

// TestAServerOutlivesAChangeOfGit: a command reaches the server of an earlier one, and can
// end it, although git's settings changed meanwhile.
func TestAServerOutlivesAChangeOfGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil && !inCI("python3") {
		t.Skip(err)
	}
	for _, l := range layers {
		w := newWorkplace(t, newNetwork(t), l, "app")
		for _, line := range []string{
			"git init -q", "python3 -m http.server $PORT >/dev/null 2>&1 & echo $! > pid", "until curl -sf http://127.0.0.1:$PORT/pid; do sleep 0.1; done",
			"git config user.name x && git branch -m other", "curl -sf http://127.0.0.1:$PORT/pid", "kill $(cat pid)", "git status --short",
		} {
			w.line(t, hermes.Command{}, line)
		}
	}
}

// TestAProcessThatIsLeftChangesNoSettings: git replaces its settings as a file, so that
// walls which were built before protect the new one no longer.
func TestAProcessThatIsLeftChangesNoSettings(t *testing.T) {
	t.Parallel()
	for _, l := range layers {
		w := newWorkplace(t, newNetwork(t), l, "app")
		config := filepath.Join(w.dir, ".git", "config")
		for _, line := range []string{
			"git init -q", "(until test -e stop; do echo '[core] fsmonitor=evil' >> .git/config; sleep 0.02; done) >/dev/null 2>&1 &", "git config user.name x", "sleep 0.2",
			"touch stop; sleep 0.2", "true", "echo '[core] fsmonitor=evil' >> .git/config", "(sleep 0.1; echo '[core] fsmonitor=evil' >> .git/config) >/dev/null 2>&1 &",
		} {
			w.run(t, line)
		}
		time.Sleep(300 * time.Millisecond) // what is left writes and ends while no command runs
		w.run(t, "true")
		text, err := os.ReadFile(config)
		if err != nil || strings.Contains(string(text), "evil") {
			t.Errorf("%s: git's settings are %q, %v", l, text, err)
		}
	}
}
