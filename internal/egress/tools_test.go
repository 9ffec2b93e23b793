package egress_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/internal/egress"
	"hermes/internal/egress/egresstest"
)

// program finds a tool, or skips the test where it is missing; in CI it must be there.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" {
		t.Fatal(err)
	}
	t.Skip(err)
	return ""
}

// shell is where a tool runs: a home of its own and the variables of the proxy.
type shell struct {
	t    *testing.T
	dir  string
	vars []string
}

func (c *child) shell(t *testing.T, a *egresstest.Authority, vars ...string) *shell {
	t.Helper()
	s := &shell{t: t, dir: t.TempDir()}
	s.vars = slices.Concat([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "LANG=C"}, a.Variables(), c.Environ(c.port), vars)
	return s
}

// run runs a tool and returns all its output and whether it ended well.
func (s *shell) run(name string, args ...string) (string, bool) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.dir, s.vars, time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// must runs a tool that has to end well.
func (s *shell) must(name string, args ...string) string {
	s.t.Helper()
	out, ok := s.run(name, args...)
	if !ok {
		s.t.Fatalf("%s %v:\n%s", filepath.Base(name), args, out)
	}
	return out
}

// refuses runs a tool that has to fail and to show the refusal.
func (s *shell) refuses(c *child, shown, name string, args ...string) {
	s.t.Helper()
	before := time.Now()
	out, ok := s.run(name, args...)
	if ok || !strings.Contains(out, shown) {
		s.t.Errorf("%s %v: ended well: %t; does it show %q?\n%s", filepath.Base(name), args, ok, shown, out)
	}
	if len(c.Refused(before)) == 0 {
		s.t.Errorf("%s: no refusal is recorded", filepath.Base(name))
	}
}

func (s *shell) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func TestCurl(t *testing.T) {
	t.Parallel()
	curl := program(t, "curl")
	w, a := newWorld(), egresstest.NewAuthority(t)
	w.Site(t, a, says("secure"), "a.test", "b.test")
	w.plain(t, says("plain"), "a.test", "b.test")
	c := w.allowed(t, "a.test")
	s := c.shell(t, a)
	for address, want := range map[string]string{"https://a.test/": "secure", "http://a.test/": "plain"} {
		if out := s.must(curl, "-sS", address); out != want {
			t.Errorf("%s: %q", address, out)
		}
	}
	s.refuses(c, "403", curl, "-sS", "https://b.test/")
	s.refuses(c, "b.test:443 is refused: no rule allows it", curl, "-v", "https://b.test/")
	s.refuses(c, `need: ["host b.test:80"]`, curl, "-sS", "--fail-with-body", "http://b.test/")
	s.refuses(c, "169.254.169.254:80", curl, "-sS", "--fail-with-body", "http://169.254.169.254/latest/meta-data/")
	// Another name in TLS, and another in Host, than that of the tunnel.
	s.refuses(c, "curl", curl, "-sS", "--connect-to", "b.test:443:a.test:443", "https://b.test/")
	s.refuses(c, "b.test", curl, "-sS", "--fail-with-body", "-p", "--connect-to", "b.test:80:a.test:80", "http://b.test/")
	// SOCKS5 alone.
	only := c.shell(t, a)
	for i, v := range only.vars {
		if name, _, _ := strings.Cut(v, "="); strings.HasSuffix(strings.ToUpper(name), "HTTP_PROXY") || strings.HasSuffix(strings.ToUpper(name), "HTTPS_PROXY") {
			only.vars[i] = "X=1"
		}
	}
	for address, want := range map[string]string{"https://a.test/": "secure", "http://a.test/": "plain"} {
		if out := only.must(curl, "-sS", address); out != want {
			t.Errorf("socks %s: %q", address, out)
		}
	}
	only.refuses(c, "(2)", curl, "-sS", "https://b.test/")
	if looked, _ := w.Asked(); strings.Contains(strings.Join(looked, " "), "b.test") {
		t.Errorf("looked up %v", looked)
	}
}

func TestGitOverHTTPS(t *testing.T) {
	t.Parallel()
	git := program(t, "git")
	w, a := newWorld(), egresstest.NewAuthority(t)
	root := t.TempDir()
	path, err := exec.Command(git, "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	w.Site(t, a, egresstest.Git(strings.TrimSpace(string(path)), root), "git.test", "other.test")
	c := w.allowed(t, "git.test")
	s := c.shell(t, a, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@a.test", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@a.test")
	s.must(git, "init", "-q", "--bare", filepath.Join(root, "repo.git"))
	s.must(git, "clone", "-q", "https://git.test/repo.git", "work")
	s.write("work/file", strings.Repeat("text\n", 1000))
	s.must(git, "-C", "work", "add", "file")
	s.must(git, "-C", "work", "commit", "-q", "-m", "one")
	s.must(git, "-C", "work", "push", "-q", "origin", "HEAD:refs/heads/main")
	s.must(git, "clone", "-q", "-b", "main", "https://git.test/repo.git", "again")
	if _, err := os.Stat(filepath.Join(s.dir, "again", "file")); err != nil {
		t.Error(err)
	}
	s.refuses(c, "403", git, "clone", "https://other.test/repo.git", "no")
}

func TestPip(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(program(t, "python3"), "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Fatal(err)
	}
	python := strings.TrimSpace(string(out)) // not a version manager's stand-in, which needs the user's home
	if err := exec.Command(python, "-m", "pip", "--version").Run(); err != nil && os.Getenv("CI") != "true" {
		t.Skip("no pip")
	}
	w, a := newWorld(), egresstest.NewAuthority(t)
	w.Site(t, a, egresstest.Python(t, "files.test"), "pypi.test", "files.test")
	c := w.allowed(t, "pypi.test", "files.test")
	s := c.shell(t, a, "PIP_INDEX_URL=https://pypi.test/simple/", "PIP_NO_CACHE_DIR=1", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_RETRIES=1", "PIP_CONFIG_FILE=/dev/null")
	s.must(python, "-m", "pip", "install", "--target", "site", "demo")
	if out := s.must(python, "-c", "import sys; sys.path.insert(0, 'site'); import demo; print(demo.word)"); strings.TrimSpace(out) != "hello" {
		t.Errorf("%q", out)
	}
	s.refuses(c, "other.test:443 is refused: no rule allows it", python, "-m", "pip", "install", "--target", "no", "-i", "https://other.test/simple/", "demo")
}

func TestNpm(t *testing.T) {
	t.Parallel()
	npm := program(t, "npm")
	w, a := newWorld(), egresstest.NewAuthority(t)
	w.Site(t, a, egresstest.Node(t, "npm.test", "demo"), "npm.test")
	c := w.allowed(t, "npm.test")
	s := c.shell(t, a, "npm_config_registry=https://npm.test/", "npm_config_audit=false", "npm_config_fund=false",
		"npm_config_update_notifier=false", "npm_config_fetch_retries=0", "npm_config_cache="+t.TempDir())
	s.write("package.json", `{"name":"app","version":"1.0.0"}`)
	s.must(npm, "install", "demo")
	if out := s.must(program(t, "node"), "-p", "require('demo')"); strings.TrimSpace(out) != "hello" {
		t.Errorf("%q", out)
	}
	s.refuses(c, "403", npm, "view", "demo", "--registry=https://other.test/")
}

func TestGo(t *testing.T) {
	t.Parallel()
	gobin := program(t, "go")
	w, a := newWorld(), egresstest.NewAuthority(t)
	w.Site(t, a, egresstest.Go(t), "goproxy.test")
	c := w.allowed(t, "goproxy.test")
	s := c.shell(t, a, "GOPROXY=https://goproxy.test", "GONOSUMDB=example.test", "GOTOOLCHAIN=local", "GOENV=off", "GOFLAGS=-modcacherw", "GOMODCACHE="+filepath.Join(t.TempDir(), "mod"), "CGO_ENABLED=0")
	s.write("go.mod", "module app\n\ngo 1.21\n")
	s.write("main.go", "package main\n\nimport \"example.test/demo\"\n\nfunc main() { _ = demo.Word }\n")
	s.must(gobin, "get", "example.test/demo")
	if out := s.must(gobin, "list", "-deps", "example.test/demo"); !strings.Contains(out, "example.test/demo") {
		t.Errorf("%q", out)
	}
	s.vars = append(s.vars, "GOPROXY=https://other.test")
	s.refuses(c, "other.test:443 is refused: no rule allows it", gobin, "mod", "download", "example.test/other@v1.0.0")
}

func TestCargo(t *testing.T) {
	t.Parallel()
	cargo := program(t, "cargo")
	w, a := newWorld(), egresstest.NewAuthority(t)
	w.Site(t, a, egresstest.Rust(t, "crates.test"), "crates.test")
	c := w.allowed(t, "crates.test")
	// Where rustup keeps the program that its stand-in starts.
	chain := cmp.Or(os.Getenv("RUSTUP_HOME"), egresstest.ToolFolder(os.Getenv("PATH"), ".rustup"))
	s := c.shell(t, a, "RUSTUP_HOME="+chain, "CARGO_HOME="+filepath.Join(t.TempDir(), "cargo"), "CARGO_NET_RETRY=0")
	registry := func(host string) string {
		return "[source.crates-io]\nreplace-with = \"t\"\n[source.t]\nregistry = \"sparse+https://" + host + "/index/\"\n"
	}
	s.write(".cargo/config.toml", registry("crates.test"))
	s.write("Cargo.toml", "[package]\nname = \"app\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[dependencies]\ndemo = \"1\"\n")
	s.write("src/lib.rs", "pub use demo::WORD;\n")
	s.must(cargo, "fetch")
	s.must(cargo, "metadata", "--offline", "--format-version=1")
	s.write(".cargo/config.toml", registry("other.test"))
	if err := os.Remove(filepath.Join(s.dir, "Cargo.lock")); err != nil {
		t.Fatal(err)
	}
	s.refuses(c, "403", cargo, "fetch")
}

func TestNodeFetch(t *testing.T) {
	t.Parallel()
	node := program(t, "node")
	version, err := exec.Command(node, "-p", "process.versions.node.split('.')[0] >= 24").Output()
	if err != nil || strings.TrimSpace(string(version)) != "true" {
		t.Skip("this Node knows no NODE_USE_ENV_PROXY")
	}
	w, a := newWorld(), egresstest.NewAuthority(t)
	w.Site(t, a, says("secure"), "a.test")
	c := w.allowed(t, "a.test")
	s := c.shell(t, a)
	if out := s.must(node, "-e", "fetch('https://a.test/').then(r => r.text()).then(x => console.log(x))"); strings.TrimSpace(out) != "secure" {
		t.Errorf("%q", out)
	}
}

func TestEnvironHoldsOnlyTheToken(t *testing.T) {
	t.Parallel()
	s := egress.New(egress.Config{}).Session(egress.SessionConfig{})
	defer s.Close()
	seen := map[string]string{}
	for _, v := range s.Environ(4321) {
		name, value, _ := strings.Cut(v, "=")
		seen[name] = value
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "npm_config_https_proxy"} {
		if !strings.HasPrefix(seen[name], "http://hermes:") || !strings.HasSuffix(seen[name], "@127.0.0.1:4321") {
			t.Errorf("%s=%s", name, seen[name])
		}
	}
	if !strings.HasPrefix(seen["ALL_PROXY"], "socks5h://hermes:") || seen["all_proxy"] != seen["ALL_PROXY"] || !strings.Contains(seen["NO_PROXY"], "127.0.0.1") || seen["no_proxy"] != seen["NO_PROXY"] {
		t.Errorf("%v", seen)
	}
}
