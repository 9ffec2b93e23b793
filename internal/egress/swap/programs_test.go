package swap_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/egress/egresstest"
	"hermes/internal/egress/swap"
)

// child runs a program as a sandboxed child would run: with the proxy, the bundles and the
// placeholders, and a home of its own.
type child struct {
	*lab
	home string
}

func newChild(l *lab) *child { return &child{lab: l, home: l.t.TempDir()} }

// need skips a test where a program is missing; in CI that is a failure.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing", program)
	}
	t.Skipf("%s is missing", program)
}

func (c *child) try(program string, args ...string) (string, error) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), program, args...)
	cmd.Dir = c.home
	cmd.WaitDelay = time.Second
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.home, "LANG=C.UTF-8", "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_NOSYSTEM=1"}
	for _, keep := range []string{"PYENV_ROOT", "PYENV_VERSION", "RUSTUP_HOME"} {
		if v := os.Getenv(keep); v != "" {
			cmd.Env = append(cmd.Env, keep+"="+v)
		}
	}
	if at := egresstest.ToolFolder(os.Getenv("PATH"), ".rustup"); at != "" && os.Getenv("RUSTUP_HOME") == "" {
		cmd.Env = append(cmd.Env, "RUSTUP_HOME="+at)
	}
	for _, name := range []string{"https_proxy", "HTTPS_PROXY"} {
		cmd.Env = append(cmd.Env, name+"=http://"+c.proxy)
	}
	cmd.Env = append(append(cmd.Env, c.env...), c.lab.swap.Placeholders()...)
	out, err := cmd.CombinedOutput()
	c.hidden(string(out))
	return string(out), err
}

func (c *child) run(program string, args ...string) string {
	c.t.Helper()
	out, err := c.try(program, args...)
	if err != nil {
		c.t.Fatalf("%s %q: %v\n%s\nrefused: %s", program, args, err, out, c.refused())
	}
	return out
}

func (c *child) write(name, content string) {
	c.t.Helper()
	path := filepath.Join(c.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// guarded answers only requests that carry the real key, as Bearer, Basic or bare.
func guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, pass, _ := r.BasicAuth()
		if key := r.Header.Get("Authorization"); pass != canary && key != "Bearer "+canary && key != canary {
			w.Header().Set("Www-Authenticate", `Basic realm="x"`)
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		next(w, r)
	}
}

// world is a lab with one guarded host at api.
func world(t *testing.T, next http.HandlerFunc, c swap.Config) *child {
	t.Helper()
	return newChild(newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: guarded(next)}, config: c}))
}

func TestCurl(t *testing.T) {
	t.Parallel()
	need(t, "curl")
	c := world(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s", r.Proto, r.Header.Get("Authorization"))
	}, swap.Config{})
	for _, args := range [][]string{{"--http1.1"}, {"--http2"}, {"--compressed"}} {
		out := c.run("curl", append(args, "-sSf", "-H", "Authorization: Bearer "+c.placeholder(), "https://"+api+"/")...)
		if !strings.HasSuffix(out, "Bearer "+c.placeholder()) {
			t.Errorf("%v: %q", args, out)
		}
	}
	c.run("curl", "-sSf", "-u", "me:"+c.placeholder(), "https://"+api+"/")
	c.run("curl", "-sSf", "-u", "me:"+c.placeholder(), "-T", "/etc/passwd", "https://"+api+"/")
	if out, err := c.try("curl", "-sSf", "https://"+api+"/"); err == nil {
		t.Errorf("without a placeholder: %q", out)
	}
}

func TestCurlThatPinsIsExplained(t *testing.T) {
	t.Parallel()
	need(t, "curl")
	c := world(t, func(http.ResponseWriter, *http.Request) {}, swap.Config{})
	for _, args := range [][]string{
		{"--cacert", "/etc/ssl/certs/ca-certificates.crt"},
		{"--pinnedpubkey", "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},
	} {
		c.mu.Lock()
		c.refusals = nil
		c.mu.Unlock()
		if out, err := c.try("curl", append(args, "-sS", "https://"+api+"/")...); err == nil {
			t.Errorf("%v: %q", args, out)
		}
		waitFor(t, func() bool { return strings.Contains(c.refused(), "does not accept Hermes' authority for "+api) })
	}
}

func TestGit(t *testing.T) {
	t.Parallel()
	need(t, "git")
	root := t.TempDir()
	programs, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	c := world(t, egresstest.Git(strings.TrimSpace(string(programs)), root).ServeHTTP, swap.Config{})
	if out, err := exec.Command("git", "init", "-q", "-b", "main", "--bare", filepath.Join(root, "repo.git")).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	c.write(".gitconfig", "[user]\nname = a\nemail = a@b.c\n[init]\ndefaultBranch = main\n")
	c.run("git", "clone", "-q", "https://me:"+c.placeholder()+"@"+api+"/repo.git")
	c.write("repo/file", strings.Repeat("some content\n", 100_000)) // larger than http.postBuffer when packed badly
	for _, args := range [][]string{{"add", "file"}, {"commit", "-qm", "one"}, {"push", "-q", "origin", "HEAD:main"}} {
		c.run("git", append([]string{"-C", "repo", "-c", "http.postBuffer=1024"}, args...)...)
	}
	header := "http.extraHeader=AUTHORIZATION: basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+c.placeholder()))
	c.run("git", "-c", header, "clone", "-q", "https://"+api+"/repo.git", "again")
	if out := c.run("git", "-C", "again", "log", "--format=%s"); out != "one\n" {
		t.Errorf("cloned: %q", out)
	}
}

func TestPip(t *testing.T) {
	t.Parallel()
	need(t, "python3")
	c := world(t, egresstest.Python(t, api).ServeHTTP, swap.Config{})
	if _, err := c.try("python3", "-m", "pip", "--version"); err != nil {
		t.Skip("pip is missing")
	}
	c.run("python3", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-cache-dir", "--target", "site",
		"--index-url", "https://me:"+c.placeholder()+"@"+api+"/simple", "demo")
	if out := c.run("python3", "-c", "import sys; sys.path.insert(0, 'site'); import demo; print(demo.word)"); out != "hello\n" {
		t.Error(out)
	}
}

func TestNPM(t *testing.T) {
	t.Parallel()
	need(t, "npm")
	c := world(t, egresstest.Node(t, api, "@me/demo").ServeHTTP, swap.Config{})
	c.write(".npmrc", "registry=https://"+api+"/\n//"+api+"/:_authToken=${TOKEN}\nupdate-notifier=false\n")
	c.write("package.json", `{"name":"x","version":"1.0.0"}`)
	c.run("npm", "install", "--no-audit", "--no-fund", "--fetch-retries=0", "@me/demo")
	if out := c.run("node", "-p", "require('@me/demo')"); out != "hello\n" {
		t.Error(out)
	}
}

func TestGo(t *testing.T) {
	t.Parallel()
	need(t, "go")
	c := world(t, egresstest.Go(t).ServeHTTP, swap.Config{})
	c.write(".netrc", "machine "+api+" login me password "+c.placeholder()+"\n")
	c.write("go.mod", "module x\n\ngo 1.20\n")
	c.write("main.go", "package main\n\nimport \"example.test/demo\"\n\nfunc main() { println(demo.Word) }\n")
	env := []string{"GOPROXY=https://" + api, "GONOSUMDB=*", "GOFLAGS=-mod=mod -modcacherw", "GOTOOLCHAIN=local"}
	c.run("env", append(env, "go", "get", "example.test/demo")...)
	if sum, err := os.ReadFile(filepath.Join(c.home, "go.sum")); err != nil || !strings.Contains(string(sum), "example.test/demo v1.0.0") {
		t.Errorf("%q, %v", sum, err)
	}
}

func TestCargo(t *testing.T) {
	t.Parallel()
	need(t, "cargo")
	registry := egresstest.Rust(t, api)
	registry["/index/config.json"] = `{"dl":"https://` + api + `/dl/{crate}-{version}.crate","auth-required":true}`
	c := world(t, registry.ServeHTTP, swap.Config{})
	c.write(".cargo/config.toml", "[registries.private]\nindex = \"sparse+https://"+api+"/index/\"\ncredential-provider = \"cargo:token\"\n")
	c.write("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\ndemo = { version = \"1\", registry = \"private\" }\n")
	c.write("src/main.rs", "fn main() { println!(\"{}\", demo::WORD); }\n")
	c.run("env", "CARGO_REGISTRIES_PRIVATE_TOKEN="+c.placeholder(), "cargo", "fetch")
	if lock, err := os.ReadFile(filepath.Join(c.home, "Cargo.lock")); err != nil || !strings.Contains(string(lock), "sparse+https://"+api) {
		t.Errorf("%q, %v", lock, err)
	}
}

func TestJava(t *testing.T) {
	t.Parallel()
	need(t, "java")
	need(t, "javac")
	c := world(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "java runs") }, swap.Config{Java: true})
	host, port, _ := strings.Cut(c.proxy, ":")
	c.write("Get.java", `import java.net.*;
public class Get {
  public static void main(String[] a) throws Exception {
    HttpURLConnection c = (HttpURLConnection) new URL("https://`+api+`/").openConnection();
    c.setRequestProperty("Authorization", "Bearer " + System.getenv("TOKEN"));
    System.out.println(new String(c.getInputStream().readAllBytes()));
  }
}`)
	c.run("javac", "Get.java")
	out := c.run("java", "-Dhttps.proxyHost="+host, "-Dhttps.proxyPort="+port, "Get")
	if !strings.HasSuffix(out, "java runs\n") {
		t.Error(out)
	}
	if _, err := exec.LookPath("keytool"); err == nil {
		count := 0
		list := c.run("keytool", "-list", "-keystore", filepath.Join(c.dir, "authorities.p12"), "-storetype", "PKCS12", "-storepass", "")
		for line := range strings.Lines(list) {
			if strings.Contains(line, "trustedCertEntry") {
				count++
			}
		}
		if bundle, _ := os.ReadFile(c.variable("SSL_CERT_FILE")); count != strings.Count(string(bundle), "BEGIN CERTIFICATE") {
			t.Errorf("%d authorities in the trust store, %d in the bundle", count, strings.Count(string(bundle), "BEGIN CERTIFICATE"))
		}
	}
}

func TestNodeAndPython(t *testing.T) {
	t.Parallel()
	c := world(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "it runs") }, swap.Config{})
	t.Run("python", func(t *testing.T) {
		need(t, "python3")
		out := c.run("python3", "-c", `import os, ssl, urllib.request
ctx = ssl.create_default_context()
ctx.verify_flags |= ssl.VERIFY_X509_STRICT
https = urllib.request.HTTPSHandler(context=ctx)
r = urllib.request.Request("https://`+api+`/", headers={"Authorization": "Bearer " + os.environ["TOKEN"]})
print(urllib.request.build_opener(urllib.request.ProxyHandler({"https": os.environ["https_proxy"]}), https).open(r).read().decode())`)
		if out != "it runs\n" {
			t.Error(out)
		}
	})
	t.Run("node", func(t *testing.T) {
		need(t, "node")
		c.write("get.js", `const [host, port] = process.env.https_proxy.slice(7).split(':');
require('http').request({host, port, method: 'CONNECT', path: '`+api+`:443'}).on('connect', (r, socket) =>
  require('https').get({host: '`+api+`', socket, agent: false, headers: {Authorization: 'Bearer ' + process.env.TOKEN}},
    (r) => r.on('data', (d) => { console.log(String(d)); process.exit(0) }))).end();`)
		if out := c.run("node", "get.js"); out != "it runs\n" {
			t.Error(out)
		}
	})
}
