package plan

import (
	"bytes"
	"path/filepath"
	"strings"

	"hermes/internal/sandbox"
)

// unset are variables that name sockets, agents and files that are closed inside, or
// that send what a tool writes to the user's own folders.
const unset = `SSH_AUTH_SOCK SSH_AGENT_PID SSH_ASKPASS GPG_AGENT_INFO DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY XAUTHORITY
	XDG_RUNTIME_DIR TMUX TMUX_PANE STY WSL_INTEROP VSCODE_IPC_HOOK_CLI DOCKER_HOST DOCKER_CONFIG CONTAINER_HOST KUBECONFIG
	GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS GIT_ASKPASS GIT_SSH GIT_SSH_COMMAND GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_DIR GIT_WORK_TREE
	NPM_CONFIG_USERCONFIG npm_config_userconfig NPM_CONFIG_PREFIX npm_config_prefix NPM_CONFIG_CACHE PIP_CONFIG_FILE PYTHONUSERBASE PYTHONPYCACHEPREFIX PYTHONSTARTUP
	GOBIN GOTMPDIR GOCACHEPROG CARGO_INSTALL_ROOT CARGO_BUILD_TARGET_DIR CARGO_TARGET_DIR TMP TEMP TEMPDIR HISTFILE LESSHISTFILE`

// variables decides the environment.
func (p *planner) variables() {
	p.Unset = append(strings.Fields(unset), p.proxies()...)
	p.set("PATH", strings.Join(p.path, ":"))
	home := p.private.home
	temp := p.private.temp
	if p.Layer == sandbox.A {
		// The private folders are mounted at the usual places.
		temp = "/tmp"
		if p.Policy.Home != "" {
			home = p.home0
		}
	}
	p.set("TMPDIR", temp)
	if p.Profile == OwnGit {
		// No configuration but the repository's, and that only as far as the caller's
		// options let it.
		p.set("HOME", temp)
		p.set("GIT_CONFIG_GLOBAL", "/dev/null")
		p.set("GIT_OPTIONAL_LOCKS", "0")
		return
	}
	p.set("HOME", home)
	p.set("XDG_CONFIG_HOME", home+"/.config")
	p.set("XDG_DATA_HOME", home+"/.local/share")
	p.set("XDG_STATE_HOME", home+"/.local/state")
	p.certificates()
	p.caches()
	p.goVariables()
	p.javaVariables()
	p.privateHome()
}

// proxies are variables that name this machine's own proxy, often with its password. Nothing
// inside reaches that proxy; the session's own is named after this.
func (p *planner) proxies() (names []string) {
	for _, v := range p.Environ {
		if name, _, _ := strings.Cut(v, "="); strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
			names = append(names, name)
		}
	}
	return names
}

func (p *planner) set(name, value string) {
	p.Set = append(p.Set, name+"="+value)
	for i, u := range p.Unset {
		if u == name {
			p.Unset = append(p.Unset[:i:i], p.Unset[i+1:]...)
			return
		}
	}
}

// authorities are variables that name a file of certificates to trust, as companies give
// to their machines.
const authorities = `SSL_CERT_FILE NIX_SSL_CERT_FILE REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO CARGO_HTTP_CAINFO PIP_CERT AWS_CA_BUNDLE HTTPLIB2_CA_CERTS
	HEX_CACERTS_PATH npm_config_cafile YARN_HTTPS_CA_FILE_PATH GRPC_DEFAULT_SSL_ROOTS_FILE_PATH CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE PERL_LWP_SSL_CA_FILE NODE_EXTRA_CA_CERTS DENO_CERT`

// certificates allows reading those files. They are public; one that holds a key as well
// stays closed.
func (p *planner) certificates() {
	for name := range strings.FieldsSeq(authorities) {
		at := p.variable(name)
		if !filepath.IsAbs(at) || p.closed(followed(at)) {
			continue
		}
		if text := small(at); bytes.Contains(text, []byte("CERTIFICATE-----")) && !bytes.Contains(text, []byte("PRIVATE KEY")) {
			p.read(at)
		}
	}
}

func (p *planner) variable(name string) string {
	value := ""
	for _, v := range p.Environ {
		if n, is, ok := strings.Cut(v, "="); ok && n == name {
			value = is
		}
	}
	return value
}

// caches sends what tools keep to private folders: in the user's own, a command could
// leave something that the user's next build runs. None of these tools can read a second
// cache beside its own, so each begins empty for each project.
func (p *planner) caches() {
	for _, v := range []struct{ name, dir string }{
		{"XDG_CACHE_HOME", "xdg"}, // what has no variable of its own: corepack, browsers of tests, ccache
		{"CARGO_HOME", "cargo"},   // its registry; cargo reads one only
		{"npm_config_cache", "npm"},
		{"PIP_CACHE_DIR", "pip"},
		{"UV_CACHE_DIR", "uv"},
		{"YARN_CACHE_FOLDER", "yarn"},
		{"YARN_GLOBAL_FOLDER", "yarn-global"}, // from version 2 on
		{"PNPM_HOME", "pnpm"},                 // its store is below
		{"DENO_DIR", "deno"},
		{"BUN_INSTALL_CACHE_DIR", "bun"},
		{"NUGET_PACKAGES", "nuget"},
		{"DOTNET_CLI_HOME", "dotnet"},
		{"BUNDLE_USER_HOME", "bundle"},
	} {
		p.set(v.name, filepath.Join(p.private.cache, v.dir))
	}
	// Tool chains are the user's and read-only: installing another one asks.
	rustup := p.variable("RUSTUP_HOME")
	if rustup == "" {
		rustup = filepath.Join(p.home0, ".rustup")
	}
	if real := followed(rustup); filepath.IsAbs(rustup) && isFolder(real) && !holds(real, []string{p.home, p.state}) {
		p.read(rustup)
		p.set("RUSTUP_HOME", rustup)
	}
}

// goVariables: Go can read modules from a folder that looks like a proxy, and that is
// what the download part of a module cache is. It is checked against go.sum and the sum
// database as anything from a proxy.
func (p *planner) goVariables() {
	file := p.goFile()
	get := func(name string) string {
		if v := p.variable(name); v != "" {
			return v
		}
		return file[name]
	}
	p.set("GOCACHE", filepath.Join(p.private.cache, "go-build"))
	p.set("GOMODCACHE", filepath.Join(p.private.cache, "go-mod"))
	p.set("GOPATH", filepath.Join(p.private.cache, "gopath"))
	// Without it the cache is read-only for its owner, and could not be deleted.
	p.set("GOFLAGS", strings.TrimSpace(strings.TrimSpace(get("GOFLAGS"))+" -modcacherw"))
	cache := get("GOMODCACHE")
	if cache == "" {
		gopath, _, _ := strings.Cut(get("GOPATH"), ":")
		if gopath == "" {
			gopath = filepath.Join(p.home0, "go")
		}
		cache = filepath.Join(gopath, "pkg", "mod")
	}
	download := filepath.Join(cache, "cache", "download")
	proxy := get("GOPROXY")
	if proxy == "" {
		proxy = "https://proxy.golang.org,direct"
	}
	if !filepath.IsAbs(cache) || !isFolder(download) || p.closed(followed(download)) || proxy == "off" {
		return
	}
	p.read(download)
	p.set("GOPROXY", "file://"+filepath.ToSlash(download)+","+proxy)
}

// goFile reads the settings of "go env -w". They apply inside, too, and are read-only.
func (p *planner) goFile() map[string]string {
	at := p.variable("GOENV")
	if at == "" {
		dir := p.variable("XDG_CONFIG_HOME")
		if dir == "" {
			dir = filepath.Join(p.home0, ".config")
		}
		at = filepath.Join(dir, "go", "env")
	}
	out := map[string]string{}
	if !filepath.IsAbs(at) || p.closed(followed(at)) {
		return out
	}
	text := small(at)
	if len(text) == 0 || len(text) > 64<<10 {
		return out
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			out[name] = value
		}
	}
	p.read(at)
	p.set("GOENV", at)
	return out
}

// javaVariables: Java takes the home from the system's list of users, not from HOME.
// Maven reads a second, read-only repository (from 3.9 on, as MAVEN_ARGS itself).
// Gradle's counterpart must not be a cache in use, so it gets none.
func (p *planner) javaVariables() {
	args := "-Dmaven.repo.local=" + filepath.Join(p.private.cache, "maven")
	if repo := filepath.Join(p.home0, ".m2", "repository"); isFolder(repo) && !strings.ContainsAny(repo, " \t") {
		p.read(repo)
		args += " -Dmaven.repo.local.tail=" + repo
	}
	p.set("MAVEN_ARGS", strings.TrimSpace(p.variable("MAVEN_ARGS")+" "+args))
	p.set("GRADLE_USER_HOME", filepath.Join(p.private.cache, "gradle"))
}
