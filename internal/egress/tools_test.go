package egress_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
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
	s.vars = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "LANG=C", "SSL_CERT_FILE=" + a.File, "CURL_CA_BUNDLE=" + a.File, "GIT_SSL_CAINFO=" + a.File,
		"REQUESTS_CA_BUNDLE=" + a.File, "PIP_CERT=" + a.File, "NODE_EXTRA_CA_CERTS=" + a.File, "CARGO_HTTP_CAINFO=" + a.File}, c.Environ(c.port)...)
	s.vars = append(s.vars, vars...)
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

// files serves fixed paths.
type files map[string]string

func (f files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, ok := f[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if strings.HasPrefix(text, "<!DOCTYPE html>") {
		w.Header().Set("Content-Type", "text/html")
	} else if strings.HasPrefix(text, "{") {
		w.Header().Set("Content-Type", "application/json")
	} else {
		w.Header().Set("Content-Type", "application/octet-stream")
	}
	_, _ = w.Write([]byte(text))
}

func zipped(t *testing.T, entries ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(entries); i += 2 {
		w, err := z.Create(entries[i])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(entries[i+1]))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func tarred(t *testing.T, entries ...string) string {
	t.Helper()
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	w := tar.NewWriter(g)
	for i := 0; i < len(entries); i += 2 {
		if err := w.WriteHeader(&tar.Header{Name: entries[i], Mode: 0o644, Size: int64(len(entries[i+1]))}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(entries[i+1]))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
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
	w.Site(t, a, &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"), Stderr: new(bytes.Buffer),
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=tester", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}}, "git.test", "other.test")
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
	wheel := zipped(t, "demo.py", "word = 'hello'\n",
		"demo-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n",
		"demo-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"demo-1.0.dist-info/RECORD", "demo.py,,\ndemo-1.0.dist-info/METADATA,,\ndemo-1.0.dist-info/WHEEL,,\ndemo-1.0.dist-info/RECORD,,\n")
	sum := sha256.Sum256([]byte(wheel))
	w.Site(t, a, files{
		"/simple/demo/":                  "<!DOCTYPE html><html><body><a href=\"https://files.test/demo-1.0-py3-none-any.whl#sha256=" + hex.EncodeToString(sum[:]) + "\">demo</a></body></html>",
		"/demo-1.0-py3-none-any.whl":     wheel,
		"/simple/pip/":                   "<!DOCTYPE html><html><body></body></html>",
		"/demo-1.0-py3-none-any.whl.asc": "",
	}, "pypi.test", "files.test")
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
	pack := tarred(t, "package/package.json", `{"name":"demo","version":"1.0.0","main":"index.js"}`, "package/index.js", "module.exports = 'hello'\n")
	sum := sha512.Sum512([]byte(pack))
	document, err := json.Marshal(map[string]any{"name": "demo", "dist-tags": map[string]string{"latest": "1.0.0"}, "versions": map[string]any{"1.0.0": map[string]any{
		"name": "demo", "version": "1.0.0", "main": "index.js",
		"dist": map[string]string{"tarball": "https://npm.test/demo/-/demo-1.0.0.tgz", "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	w.Site(t, a, files{"/demo": string(document), "/demo/-/demo-1.0.0.tgz": pack}, "npm.test")
	c := w.allowed(t, "npm.test")
	s := c.shell(t, a, "npm_config_registry=https://npm.test/", "npm_config_cafile="+a.File, "npm_config_audit=false", "npm_config_fund=false",
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
	at := "mod.test/demo@v1.0.0/"
	w.Site(t, a, files{
		"/mod.test/demo/@v/list": "v1.0.0\n", "/mod.test/demo/@v/v1.0.0.info": `{"Version":"v1.0.0","Time":"2020-01-01T00:00:00Z"}`,
		"/mod.test/demo/@v/v1.0.0.mod": "module mod.test/demo\n",
		"/mod.test/demo/@v/v1.0.0.zip": zipped(t, at+"go.mod", "module mod.test/demo\n", at+"demo.go", "package demo\n\nconst Word = \"hello\"\n"),
	}, "goproxy.test")
	c := w.allowed(t, "goproxy.test")
	s := c.shell(t, a, "GOPROXY=https://goproxy.test", "GONOSUMDB=mod.test", "GOTOOLCHAIN=local", "GOENV=off", "GOFLAGS=-modcacherw", "GOMODCACHE="+filepath.Join(t.TempDir(), "mod"), "CGO_ENABLED=0")
	s.write("go.mod", "module app\n\ngo 1.21\n")
	s.write("main.go", "package main\n\nimport \"mod.test/demo\"\n\nfunc main() { _ = demo.Word }\n")
	s.must(gobin, "get", "mod.test/demo")
	if out := s.must(gobin, "list", "-deps", "mod.test/demo"); !strings.Contains(out, "mod.test/demo") {
		t.Errorf("%q", out)
	}
	s.vars = append(s.vars, "GOPROXY=https://other.test")
	s.refuses(c, "other.test:443 is refused: no rule allows it", gobin, "mod", "download", "mod.test/other@v1.0.0")
}

func TestCargo(t *testing.T) {
	t.Parallel()
	cargo := program(t, "cargo")
	w, a := newWorld(), egresstest.NewAuthority(t)
	crate := tarred(t, "demo-1.0.0/Cargo.toml", "[package]\nname = \"demo\"\nversion = \"1.0.0\"\nedition = \"2021\"\n", "demo-1.0.0/src/lib.rs", "pub const WORD: &str = \"hello\";\n")
	sum := sha256.Sum256([]byte(crate))
	w.Site(t, a, files{
		"/index/config.json":   `{"dl":"https://crates.test/dl/{crate}-{version}.crate"}`,
		"/index/de/mo/demo":    `{"name":"demo","vers":"1.0.0","deps":[],"cksum":"` + hex.EncodeToString(sum[:]) + `","features":{},"yanked":false}` + "\n",
		"/dl/demo-1.0.0.crate": crate,
	}, "crates.test")
	c := w.allowed(t, "crates.test")
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	chain := os.Getenv("RUSTUP_HOME") // where rustup keeps the program that its stand-in starts
	if chain == "" {
		chain = filepath.Join(home, ".rustup")
	}
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
