package plan_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/sandbox"
	"hermes/internal/sandbox/gitguard"
	"hermes/internal/sandbox/plan"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// user is a made-up home with a project, tool chains and secrets.
type user struct {
	home, work string
	plan.Request
}

func mustUser(t testing.TB, files ...string) user {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	u := user{home: filepath.Join(base, "home")}
	u.work = filepath.Join(u.home, "src", "project")
	for _, f := range append([]string{
		".ssh/id_ed25519", ".ssh/known_hosts", ".config/gh/hosts.yml", ".mozilla/firefox/logins.json", ".hermes/.env", ".hermes/run/key", ".aws/credentials",
		".cargo/bin/cargo", ".cargo/credentials.toml", ".cargo/registry/x", ".rustup/settings.toml", ".pyenv/shims/python",
		".local/bin/own", ".local/share/uv/tools/ruff/bin/ruff", ".local/share/keyrings/login", "go/bin/gopls", "go/src/other/main.go", "go/pkg/mod/cache/download/x/list",
		"src/other/.env", "src/other/bin/tool", "bin/script",
		"src/project/.git/config", "src/project/.git/HEAD", "src/project/.git/hooks/pre-commit", "src/project/.env", "src/project/.env.example", "src/project/.envrc", "src/project/.vscode/tasks.json",
		"src/project/main.go", "src/project/node_modules/.bin/tsc", "src/project/web/.env.local", "src/project/web/index.html", "notes.txt",
	}, files...) {
		at := filepath.Join(u.home, f)
		must(t, os.MkdirAll(filepath.Dir(at), 0o755))
		must(t, os.WriteFile(at, []byte("x"), 0o644))
	}
	must(t, os.Symlink(u.home+"/.local/share/uv/tools/ruff/bin/ruff", u.home+"/.local/bin/ruff"))
	must(t, os.WriteFile(u.home+"/.gitconfig", []byte("[user]\nname = U\n[alias]\nx = !evil\n[core]\nsshCommand = evil\n[credential]\nhelper = evil\n"), 0o644))
	u.Request = plan.Request{
		Workspace: u.work, Home: u.home, State: u.home + "/.hermes", Cache: u.home + "/.hermes/cache/sandbox", Layer: sandbox.A, Network: sandbox.Proxied,
		Path: []string{u.home + "/.cargo/bin", u.home + "/.pyenv/shims", u.home + "/.local/bin", u.home + "/go/bin", u.home + "/bin", u.home + "/src/other/bin", u.work + "/node_modules/.bin", "/usr/bin", "bin", ""},
	}
	return u
}

func mustMake(t testing.TB, r plan.Request) plan.Plan {
	t.Helper()
	p, err := plan.Make(r)
	must(t, err)
	return p
}

func in(p string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return p == d || strings.HasPrefix(p, strings.TrimSuffix(d, "/")+"/") })
}

func readable(p plan.Plan, at string) bool {
	return (in(at, p.Policy.Read) || in(at, p.Policy.Write)) && (p.Policy.Layer != sandbox.A || !in(at, p.Policy.Hidden))
}

func variable(p plan.Plan, name string) string {
	for _, v := range p.Set {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

func TestACommandReadsAndWritesWhatItNeeds(t *testing.T) {
	t.Parallel()
	for _, layer := range []sandbox.Layer{sandbox.A, sandbox.B} {
		u := mustUser(t)
		u.Layer = layer
		p := mustMake(t, u.Request)
		for _, open := range []string{
			"src/project/main.go", "src/project/web/index.html", "src/project/.env.example", "src/project/.git/config", ".cargo/bin/cargo", ".cargo/registry/x", ".rustup/settings.toml", ".pyenv/shims/python",
			".local/bin/own", ".local/share/uv/tools/ruff/bin/ruff", "go/bin/gopls", "go/pkg/mod/cache/download/x/list", "bin/script", "src/other/bin/tool",
		} {
			if !readable(p, filepath.Join(u.home, open)) {
				t.Errorf("%v: %s is closed", layer, open)
			}
		}
		for _, closed := range []string{
			".ssh/id_ed25519", ".config/gh/hosts.yml", ".mozilla/firefox/logins.json", ".hermes/.env", ".hermes/run/key", ".hermes", ".aws/credentials", ".cargo/credentials.toml", ".local/share/keyrings/login",
			"go/src/other/main.go", "src/other/.env", "src/project/.env", "src/project/web/.env.local", "notes.txt", ".gitconfig", "", "src",
		} {
			if readable(p, filepath.Join(u.home, closed)) {
				t.Errorf("%v: %s is open", layer, closed)
			}
		}
		for _, closed := range []string{"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssl/private/x", "/etc/passwd-", "/root/x", "/var/log/syslog"} {
			if readable(p, closed) {
				t.Errorf("%v: %s is open", layer, closed)
			}
		}
		for _, open := range []string{"/usr/bin/env", "/etc/passwd"} {
			if !readable(p, open) {
				t.Errorf("%v: %s is closed", layer, open)
			}
		}
		for _, w := range p.Policy.Write {
			if !in(w, []string{u.work, u.Cache}) {
				t.Errorf("%v: %s is writable", layer, w)
			}
		}
		for _, at := range p.Policy.Protected {
			if !in(at, []string{u.work}) {
				t.Errorf("%s", at)
			}
		}
		want := []string{u.work + "/.envrc", u.work + "/.git/config", u.work + "/.git/hooks", u.work + "/.vscode"}
		if diff := cmp.Diff(want, p.Policy.Protected); diff != "" {
			t.Error(diff)
		}
	}
}

// TestNothingOnPathIsWritable: a command could replace a program that the next one, or
// the user, runs.
func TestNothingOnPathIsWritable(t *testing.T) {
	t.Parallel()
	u := mustUser(t)
	must(t, os.Symlink(u.work, u.home+"/link"))
	u.Path = append(u.Path, u.home+"/link", u.home+"/link/web")
	u.Grants.Write = []string{u.home + "/bin"}
	p := mustMake(t, u.Request)
	path := filepath.SplitList(variable(p, "PATH"))
	want := []string{u.home + "/.cargo/bin", u.home + "/.pyenv/shims", u.home + "/.local/bin", u.home + "/go/bin", u.home + "/src/other/bin", "/usr/bin"}
	if diff := cmp.Diff(want, path); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(p.Notes, "\n"); !strings.Contains(got, "node_modules/.bin is taken out of PATH") || !strings.Contains(got, "/home/bin is taken out of PATH") {
		t.Error(got)
	}
}

func TestAGrantNeverNamesTheStateOfHermes(t *testing.T) {
	t.Parallel()
	for _, layer := range []sandbox.Layer{sandbox.A, sandbox.B} {
		u := mustUser(t)
		u.Layer = layer
		must(t, os.Symlink(u.home+"/.hermes", u.home+"/alias"))
		for _, g := range []string{u.home + "/.hermes", u.home + "/.hermes/run/key", u.home + "/alias/.env", u.home + "/src/../.hermes/.env", u.home, "/", "relative"} {
			u.Grants = plan.Grants{Read: []string{g}, Write: []string{g}}
			p := mustMake(t, u.Request)
			for _, secret := range []string{".hermes/.env", ".hermes/run/key", ".ssh/id_ed25519", ".mozilla/firefox/logins.json"} {
				if readable(p, filepath.Join(u.home, secret)) {
					t.Errorf("%v: %s opens %s", layer, g, secret)
				}
			}
			if len(p.Notes) == 0 {
				t.Errorf("%s: nothing is said", g)
			}
			if g == u.home && !readable(p, u.home+"/notes.txt") {
				t.Errorf("%v: the grant of the home opens nothing", layer)
			}
			if dir := p.Policy.PrivateHome; !in(dir, p.Policy.Write) || layer == sandbox.A && in(dir, p.Policy.Hidden) {
				t.Errorf("%v %s: the private home is closed", layer, g)
			}
		}
		u.Grants = plan.Grants{Read: []string{u.home + "/notes.txt", u.home + "/.aws/credentials"}}
		if p := mustMake(t, u.Request); !readable(p, u.home+"/notes.txt") || !readable(p, u.home+"/.aws/credentials") || readable(p, u.home+"/.ssh/id_ed25519") {
			t.Error("grants of single files")
		}
	}
}

func TestAHomeAsWorkspaceOpensOnlyItsVisibleEntries(t *testing.T) {
	t.Parallel()
	for _, workspace := range []string{"", ".."} {
		u := mustUser(t)
		u.Workspace = filepath.Join(u.home, workspace)
		u.Path = slices.DeleteFunc(u.Path, func(dir string) bool { return dir == u.home+"/src/other/bin" || dir == u.work+"/node_modules/.bin" })
		p := mustMake(t, u.Request)
		for at, want := range map[string]bool{"notes.txt": workspace == "", "src/project/main.go": workspace == "", ".ssh/id_ed25519": false, ".hermes/run/key": false, ".gitconfig": false, "": false, "new": false} {
			if got := in(filepath.Join(u.home, at), p.Policy.Write); got != want {
				t.Errorf("%q: %q writable: %v", workspace, at, got)
			}
		}
		if in(u.home+"/bin/script", p.Policy.Write) || in(u.home+"/go/bin/gopls", p.Policy.Write) {
			t.Error("a folder on PATH is writable")
		}
		if !strings.Contains(strings.Join(p.Notes, "\n"), "is or holds the home folder") {
			t.Error(p.Notes)
		}
	}
}

func TestEnvironmentFilesAreOpenWithoutNetworkInLayerB(t *testing.T) {
	t.Parallel()
	u := mustUser(t)
	for _, layer := range []sandbox.Layer{sandbox.A, sandbox.B} {
		for _, network := range []sandbox.Network{sandbox.Offline, sandbox.Proxied} {
			u.Layer, u.Network = layer, network
			want := layer == sandbox.B && network == sandbox.Offline
			if got := readable(mustMake(t, u.Request), u.work+"/.env"); got != want {
				t.Errorf("%v, %v: %v", layer, network, got)
			}
		}
	}
}

func TestProfiles(t *testing.T) {
	t.Parallel()
	u := mustUser(t)
	homes := map[string]plan.Profile{}
	for profile, want := range map[plan.Profile]struct{ reads, writes, config bool }{
		plan.Command: {true, true, false}, plan.GitConfig: {true, true, true}, plan.MCP: {true, false, false}, plan.Hook: {true, false, false},
		plan.Plugin: {}, plan.Browser: {}, plan.OwnGit: {true, false, false},
	} {
		u.Profile, u.Name = profile, "name"
		p := mustMake(t, u.Request)
		if got := readable(p, u.work+"/main.go"); got != want.reads {
			t.Errorf("%v: reads %v", profile, got)
		}
		if got := in(u.work+"/main.go", p.Policy.Write); got != want.writes {
			t.Errorf("%v: writes %v", profile, got)
		}
		if want.writes && (in(u.work+"/.git/config", p.Policy.Protected) == want.config || !in(u.work+"/.git/hooks/x", p.Policy.Protected)) {
			t.Errorf("%v: protects %v", profile, p.Policy.Protected)
		}
		if p.Policy.Nested != (profile == plan.Browser) || (p.Policy.Network == sandbox.Offline) != (profile == plan.OwnGit) {
			t.Errorf("%v: %+v", profile, p.Policy)
		}
		if in(u.work+"/node_modules/.bin", filepath.SplitList(variable(p, "PATH"))) && want.reads {
			t.Errorf("%v: a writable folder is on PATH", profile)
		}
		if other, ok := homes[p.Policy.PrivateHome]; ok && profile+other != plan.Command+plan.GitConfig {
			t.Errorf("%v and %v share a home", profile, other)
		}
		homes[p.Policy.PrivateHome] = profile
	}
}

// TestAHookThatWritesTheWorkspaceIsACommandThere: what git obeys is protected from it.
func TestAHookThatWritesTheWorkspaceIsACommandThere(t *testing.T) {
	t.Parallel()
	u := mustUser(t)
	u.Profile, u.Name, u.Grants.Write = plan.Hook, "user", []string{u.work}
	p := mustMake(t, u.Request)
	if !in(u.work+"/main.go", p.Policy.Write) || !in(u.work+"/.git/hooks/x", p.Policy.Protected) || !in(u.work+"/.git/config", p.Policy.Protected) {
		t.Errorf("writes %v, protects %v", p.Policy.Write, p.Policy.Protected)
	}
}

// TestWhatADeclaredFolderHoldsIsProtected: a server, hook or plugin that writes a folder, in the workspace
// or not, cannot write what git and the user's tools obey in it, nor read its secrets; others of its
// folders stay as they are.
func TestWhatADeclaredFolderHoldsIsProtected(t *testing.T) {
	t.Parallel()
	for _, profile := range []plan.Profile{plan.MCP, plan.Hook, plan.Plugin} {
		for _, where := range []string{"project", "src/project/sub"} { // the second is in the workspace
			u := mustUser(t)
			dir := filepath.Join(u.home, filepath.FromSlash(where))
			read := filepath.Join(u.home, "looked-at")
			for _, file := range []string{dir + "/.git/HEAD", dir + "/.git/config", dir + "/.git/hooks/x", dir + "/.vscode/tasks.json", dir + "/.env", dir + "/notes.md", read + "/.env"} {
				must(t, os.MkdirAll(filepath.Dir(file), 0o755))
				must(t, os.WriteFile(file, nil, 0o644))
			}
			must(t, os.WriteFile(dir+"/.git/HEAD", []byte("ref: refs/heads/main\n"), 0o644))
			must(t, os.MkdirAll(dir+"/.git/objects", 0o755))
			must(t, os.MkdirAll(dir+"/.git/refs", 0o755))
			u.Profile, u.Name, u.Grants = profile, "name", plan.Grants{Write: []string{dir}, Read: []string{read}}
			p := mustMake(t, u.Request)
			if !in(dir+"/notes.md", p.Policy.Write) || in(u.work+"/main.go", p.Policy.Write) {
				t.Errorf("%v, %s: writes %v", profile, where, p.Policy.Write)
			}
			for _, file := range []string{"/.git/config", "/.git/hooks/x", "/.vscode/tasks.json"} {
				if !in(dir+file, p.Policy.Protected) {
					t.Errorf("%v, %s: %s is not among the protected %v", profile, where, file, p.Policy.Protected)
				}
			}
			if !in(dir+"/.env", p.Policy.Hidden) || in(read+"/.env", p.Policy.Hidden) {
				t.Errorf("%v, %s: hides %v", profile, where, p.Policy.Hidden)
			}
		}
	}
}

// TestNoProxyOfThisMachineIsNamedInside is about its password.
func TestNoProxyOfThisMachineIsNamedInside(t *testing.T) {
	t.Parallel()
	u := mustUser(t)
	names := []string{"HTTPS_PROXY", "FTP_PROXY", "ftp_proxy", "RSYNC_PROXY", "NPM_CONFIG_HTTPS_PROXY", "Npm_Config_Proxy", "NO_PROXY"}
	for _, name := range names {
		u.Environ = append(u.Environ, name+"=http://me:s3cret@proxy.example:3128")
	}
	p := mustMake(t, u.Request)
	for _, name := range names {
		if !slices.Contains(p.Unset, name) {
			t.Errorf("%s stays", name)
		}
	}
	if slices.Contains(p.Unset, "GOPROXY") {
		t.Error("GOPROXY is no proxy of this machine")
	}
}

func TestPrivateHomeHoldsNothingThatRuns(t *testing.T) {
	t.Parallel()
	u := mustUser(t)
	p := mustMake(t, u.Request)
	must(t, p.Prepare())
	home := p.Policy.PrivateHome
	text, err := os.ReadFile(home + "/.gitconfig")
	if err != nil || string(text) != "[user]\n\tname = \"U\"\n" {
		t.Errorf("%q, %v", text, err)
	}
	// What a command leaves there is not followed.
	outside := filepath.Join(t.TempDir(), "bashrc")
	must(t, os.WriteFile(outside, []byte("the user's"), 0o600))
	must(t, os.Remove(home+"/.gitconfig"))
	must(t, os.Symlink(outside, home+"/.gitconfig"))
	must(t, os.RemoveAll(home+"/.ssh"))
	must(t, os.Symlink(filepath.Dir(outside), home+"/.ssh"))
	must(t, p.Prepare())
	if text, _ := os.ReadFile(outside); string(text) != "the user's" {
		t.Errorf("%q", text)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(outside), "known_hosts")); err == nil {
		t.Error("written through a link")
	}
	info, err := os.Lstat(home + "/.gitconfig")
	if err != nil || !info.Mode().IsRegular() {
		t.Error(err)
	}
	must(t, p.Prepare())
	if again, _ := os.Lstat(home + "/.gitconfig"); !os.SameFile(info, again) {
		t.Error("written although nothing changed")
	}
}

func TestCachesArePrivate(t *testing.T) {
	t.Parallel()
	u := mustUser(t)
	u.Environ = []string{"GOFLAGS=-x", "GOPROXY=https://proxy.example", "SSH_AUTH_SOCK=/run/x", "MAVEN_ARGS=-q"}
	for _, layer := range []sandbox.Layer{sandbox.A, sandbox.B} {
		u.Layer = layer
		p := mustMake(t, u.Request)
		for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "CARGO_HOME", "npm_config_cache", "PIP_CACHE_DIR", "UV_CACHE_DIR", "XDG_CACHE_HOME", "GRADLE_USER_HOME", "YARN_CACHE_FOLDER", "PNPM_HOME", "DENO_DIR", "BUN_INSTALL_CACHE_DIR"} {
			if !in(variable(p, name), p.Policy.Write) || !in(variable(p, name), []string{u.Cache}) {
				t.Errorf("%s is %q", name, variable(p, name))
			}
		}
		got := []string{variable(p, "GOFLAGS"), variable(p, "GOPROXY"), variable(p, "RUSTUP_HOME"), variable(p, "TMPDIR"), variable(p, "HOME")}
		want := []string{"-x -modcacherw", "file://" + u.home + "/go/pkg/mod/cache/download,https://proxy.example", u.home + "/.rustup", "/tmp", u.home}
		if layer == sandbox.B {
			want[3], want[4] = p.Policy.Temp, p.Policy.PrivateHome
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if !slices.Contains(p.Unset, "SSH_AUTH_SOCK") || !strings.HasPrefix(variable(p, "MAVEN_ARGS"), "-q -Dmaven.repo.local=") {
			t.Error(p.Unset, variable(p, "MAVEN_ARGS"))
		}
		if diff := cmp.Diff(p.Policy, mustMake(t, u.Request).Policy); diff != "" {
			t.Errorf("a second plan differs: %s", diff)
		}
	}
}

func TestCarve(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for _, f := range []string{"a/b/secret", "a/b/open", "a/c/x", "d/y", "file"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, f)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, f), nil, 0o644))
	}
	must(t, os.Symlink("/", filepath.Join(dir, "a", "b", "root"))) // following it would open everything
	at := func(names ...string) (out []string) {
		for _, n := range names {
			out = append(out, filepath.Join(dir, n))
		}
		return out
	}
	for _, c := range []struct{ granted, hidden, want []string }{
		{at("."), at("a/b/secret"), at("a/b/open", "a/c", "d", "file")},
		{at(".", "a/b", "a/b/secret"), at("a/b"), at("a/c", "d", "file")},
		{at("a", "d"), nil, at("a", "d")},
		{at("a/b"), at("a"), nil},
		{at("a"), at("nowhere"), at("a")},
	} {
		if diff := cmp.Diff(c.want, plan.Carve(c.granted, c.hidden)); diff != "" {
			t.Errorf("%v without %v: %s", c.granted, c.hidden, diff)
		}
	}
}

func BenchmarkMake(b *testing.B) {
	u := mustUser(b)
	for b.Loop() {
		mustMake(b, u.Request)
	}
}

func TestTheStateOfHermesIsNoWorkspaceAndNotOnPath(t *testing.T) {
	t.Parallel()
	u := mustUser(t, ".hermes/skills/x/run", ".hermes/bin/tool")
	u.Workspace, u.Path = u.home+"/.hermes/skills/x", []string{u.home + "/.hermes/bin"}
	p := mustMake(t, u.Request)
	if readable(p, u.Workspace+"/run") || readable(p, u.home+"/.hermes/bin/tool") || variable(p, "PATH") != "" || len(p.Lacks) == 0 {
		t.Errorf("%v %v %v", p.Policy, p.Lacks, variable(p, "PATH"))
	}
}

// TestCertificatesAndChosenToolsAreReadable: a variable may name them anywhere, but no key
// and nothing that holds more than a tool.
func TestCertificatesAndChosenToolsAreReadable(t *testing.T) {
	t.Parallel()
	u := mustUser(t, "certs/ca.pem", "certs/both.pem", "certs/text", "tools/pyenv/.git/HEAD", "tools/pyenv/shims/python")
	must(t, os.WriteFile(u.home+"/certs/ca.pem", []byte("-----BEGIN CERTIFICATE-----\n"), 0o600))
	must(t, os.WriteFile(u.home+"/certs/both.pem", []byte("-----BEGIN CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n"), 0o600))
	u.Environ = []string{
		"SSL_CERT_FILE=" + u.home + "/certs/ca.pem", "PIP_CERT=" + u.home + "/certs/both.pem", "CURL_CA_BUNDLE=" + u.home + "/certs/text", "GIT_SSL_CAINFO=" + u.home + "/.ssh/id_ed25519",
		"PYENV_ROOT=" + u.home + "/tools/pyenv", "NVM_DIR=" + u.home, "RBENV_ROOT=" + u.home + "/src", "VOLTA_HOME=" + u.home + "/.ssh",
	}
	p := mustMake(t, u.Request)
	for at, want := range map[string]bool{
		"certs/ca.pem": true, "certs/both.pem": false, "certs/text": false, ".ssh/id_ed25519": false, "tools/pyenv/shims/python": true, "notes.txt": false, "src/other/main.go": false,
	} {
		if got := readable(p, filepath.Join(u.home, at)); got != want {
			t.Errorf("%s: readable is %v", at, got)
		}
	}
}

// TestLinksOnTheWayAreNamed: each without another link before it.
func TestLinksOnTheWayAreNamed(t *testing.T) {
	t.Parallel()
	u := mustUser(t, "opt/tool/bin/x", "opt/tool/share/x")
	base := filepath.Dir(u.home)
	must(t, os.Symlink("home/opt", base+"/one"))
	must(t, os.Symlink("../one/tool", base+"/home/two"))
	must(t, os.Symlink("loop", base+"/loop"))
	u.Path = []string{u.home + "/two/bin", base + "/loop/bin"}
	p := mustMake(t, u.Request)
	for _, want := range []string{base + "/one", u.home + "/two"} {
		if !slices.Contains(p.Policy.Links, want) {
			t.Errorf("%s is not among %v", want, p.Policy.Links)
		}
	}
	if got, want := variable(p, "PATH"), u.home+"/opt/tool/bin"; got != want {
		t.Errorf("PATH is %s, want %s", got, want)
	}
}

// TestCredentialsOfToolChainsAreHidden, although the folder that they are in is open.
func TestCredentialsOfToolChainsAreHidden(t *testing.T) {
	t.Parallel()
	for _, layer := range []sandbox.Layer{sandbox.A, sandbox.B} {
		secrets := []string{
			".rye/credentials", ".local/share/uv/credentials/credentials.toml", ".dotnet/corefx/cryptography/x509stores/my/x.pfx", ".npm-global/etc/npmrc", ".nvm/versions/node/v22/etc/npmrc",
		}
		u := mustUser(t, append(secrets, ".rye/shims/python", ".dotnet/dotnet", ".npm-global/bin/tsc", ".nvm/versions/node/v22/bin/node")...)
		u.Layer = layer
		u.Path = append(u.Path, u.home+"/.rye/shims", u.home+"/.dotnet", u.home+"/.npm-global/bin", u.home+"/.nvm/versions/node/v22/bin")
		p := mustMake(t, u.Request)
		for _, open := range []string{".rye/shims/python", ".dotnet/dotnet", ".npm-global/bin/tsc", ".nvm/versions/node/v22/bin/node"} {
			if !readable(p, filepath.Join(u.home, open)) {
				t.Errorf("%v: %s is closed", layer, open)
			}
		}
		for _, closed := range secrets {
			if readable(p, filepath.Join(u.home, closed)) {
				t.Errorf("%v: %s is open", layer, closed)
			}
		}
	}
}

// TestWhatWasFoundBeforeStaysHidden, although the plan itself would not find it now.
func TestWhatWasFoundBeforeStaysHidden(t *testing.T) {
	t.Parallel()
	for _, layer := range []sandbox.Layer{sandbox.A, sandbox.B} {
		u := mustUser(t, "src/project/z/.env", "src/project/z/.git/config", "src/project/z/.git/HEAD")
		u.Layer = layer
		before, err := gitguard.Take(u.work)
		must(t, err)
		for i := range 200 {
			must(t, os.MkdirAll(filepath.Join(u.work, "!"+strconv.Itoa(i), "x"), 0o755))
		}
		u.Known, err = before.Again()
		must(t, err)
		p := mustMake(t, u.Request)
		if readable(p, u.work+"/z/.env") || !slices.Contains(p.Policy.Protected, u.work+"/z/.git/config") {
			t.Errorf("%v: hidden %q, protected %q", layer, p.Policy.Hidden, p.Policy.Protected)
		}
	}
}

// TestFoldersOfSubmodulesBeyondTheBoundAreHidden, and are not looked at.
func TestFoldersOfSubmodulesBeyondTheBoundAreHidden(t *testing.T) {
	t.Parallel()
	u := mustUser(t)
	for i := range 40 {
		for j := range 40 {
			must(t, os.MkdirAll(filepath.Join(u.work, ".git/modules", strconv.Itoa(i), strconv.Itoa(j)), 0o755))
		}
	}
	p := mustMake(t, u.Request)
	hidden := 0
	for i := range 40 {
		if slices.Contains(p.Policy.Hidden, filepath.Join(u.work, ".git/modules", strconv.Itoa(i))) {
			hidden++
		}
	}
	if hidden == 0 || hidden == 40 {
		t.Errorf("%d of 40 are hidden", hidden)
	}
	if !strings.Contains(strings.Join(p.Lacks, "\n"), ".git/modules") {
		t.Errorf("the user is not told: %q", p.Lacks)
	}
}
