package shell

import (
	"slices"
	"strings"
)

// fetches judges package managers, builders and runtimes that run code straight
// from an address, or that get packages from another source than the usual one.
func (j *judge) fetches(name string, rest []string) {
	base := strings.TrimRight(name, "0123456789.")
	if codeVerbs[base] == "" {
		return
	}
	sources := sourceOptions(base, rest)
	for _, source := range sources {
		if !knownSource(source) {
			j.ask("package-source", "installs packages from another source than the usual one")
		}
	}
	if verbs, ok := codeVerbs[base]; ok && slices.ContainsFunc(codeWords(base, verbs, rest), func(w string) bool {
		return isCodeAddress(w) && !slices.Contains(sources, w)
	}) {
		j.ask("fetched-code", "runs or installs code straight from an address")
	}
	if name == "go" && len(rest) > 1 && rest[0] == "run" {
		if words := plainWords(rest[1:]); len(words) > 0 && isFetchedModule(words[0]) {
			j.ask("fetched-code", "runs or installs code straight from an address")
		}
	}
}

// codeVerbs are the subcommands after which a program takes code to run or to
// install. A star means that it also takes code without a subcommand.
var codeVerbs = map[string]string{
	"deno": " run install i test bench serve cache compile * ", "bun": " run x install i add create * ", "npx": " * ", "bunx": " * ", "pnpx": " * ",
	"npm": " exec x install i add ci init create ", "pnpm": " exec dlx install i add create ", "yarn": " dlx add create global ", "uvx": " * ",
	"uv": " run tool pip add ", "pipx": " run install inject ", "pip": " install download wheel ", "poetry": " add ", "pdm": " add ", "pipenv": " install ",
	"nix": " run shell develop build profile bundle ", "nix-shell": " * ", "nix-build": " * ", "nix-env": " * ", "guix": " pull ",
	"docker": " build buildx builder ", "podman": " build ", "nerdctl": " build ", "buildah": " bud build ", "cargo": " install add ", "gem": " install ", "bundle": " add ",
	"brew": " install tap ", "apt": " install ", "apt-get": " install ", "dnf": " install localinstall ", "yum": " install localinstall ", "zypper": " install in ", "rpm": " * ",
	"snap": " install ", "flatpak": " install ", "ansible-pull": " * ", "ansible-galaxy": " install ", "pre-commit": " try-repo ", "cookiecutter": " * ", "copier": " copy ", "terraform": " init ", "tofu": " init ",
	"code": " * ", "vagrant": " init box ", "go": " get ",
}

// applies judges a download that changes the files of the project.
func (j *judge) applies(name string, rest []string, s situation) {
	if name != "patch" && (name != "git" || len(rest) == 0 || rest[0] != "apply" && rest[0] != "am") {
		return
	}
	if s.in.download || slices.ContainsFunc(rest, func(a string) bool {
		c, ok := j.written(a)
		return strings.Contains(a, fromDownload) || ok && c.download
	}) {
		j.ask("applies-download", "changes files by a download that was not read")
	}
}

// starters pass the words after the code to the code.
const starters = " deno bun npx bunx pnpx uvx nix "

// codeWords returns the words that may name the code which a program runs or
// installs.
func codeWords(name, verbs string, rest []string) []string {
	var out []string
	verb, plain := strings.Contains(verbs, " * "), false
	for i, a := range rest {
		option := len(a) > 1 && a[0] == '-'
		switch _, value, joined := strings.Cut(a, "="); {
		case a == "--" || plain && strings.Contains(starters, " "+name+" "):
			return out
		case option && joined:
			out = append(out, value)
		case option:
		case !verb:
			verb = strings.Contains(verbs, " "+a+" ")
		case strings.Contains(verbs, " "+a+" "):
		default:
			out = append(out, a)
			plain = i == 0 || !takesValue(rest[i-1])
		}
	}
	if !verb {
		return nil
	}
	return out
}

// takesValue reports whether the word after an option is its value, not the code
// that is started.
func takesValue(option string) bool {
	switch option {
	case "-p", "--package", "--from", "--with", "--spec", "-c", "--config", "--import-map", "--python":
		return true
	}
	return false
}

// isCodeAddress reports whether a word is the address of code on another machine.
func isCodeAddress(w string) bool {
	if _, after, ok := strings.Cut(w, " @ "); ok { // name @ address
		w = after
	}
	w = strings.TrimPrefix(w, "--git=")
	for _, begin := range []string{"github:", "gitlab:", "bitbucket:", "gist:", "sourcehut:", "git+", "hg+", "git@", "git:", "gh:", "tarball+", "github.com/", "gitlab.com/"} {
		if strings.HasPrefix(w, begin) {
			return true
		}
	}
	scheme, rest, ok := strings.Cut(w, "://")
	return ok && scheme != "file" && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+") == "" && !thisMachine(rest)
}

// isFetchedModule reports whether go run gets a module of another machine, other
// than one of the Go project.
func isFetchedModule(w string) bool {
	module, version, ok := strings.Cut(w, "@")
	return ok && version != "" && strings.Contains(module, ".") && !strings.HasPrefix(module, "golang.org/")
}

// sourceOptions returns the values of options that say where packages come from.
func sourceOptions(name string, rest []string) []string {
	long, short := "", ""
	switch name {
	case "pip", "pipx", "uv", "uvx", "pipenv":
		long, short = "--index-url --extra-index-url --index --default-index --find-links --trusted-host --pypi-mirror", "-i -f"
	case "npm", "pnpm", "yarn", "npx", "pnpx", "bun", "bunx":
		long = "--registry"
	case "gem":
		long, short = "--source --clear-sources", "-s"
	case "cargo":
		long = "--index"
	case "nix", "nix-env", "nix-build", "nix-shell":
		long = "--substituters --extra-substituters"
	}
	var all []string
	for _, option := range strings.Fields(long + " " + short) {
		for i, a := range rest {
			value, joined := strings.CutPrefix(a, option+"=")
			if a == option && i+1 < len(rest) {
				value, joined = rest[i+1], true
			}
			if joined && (strings.HasPrefix(option, "--trusted") || strings.Contains(value, "://") || dynamic(value)) {
				all = append(all, value)
			}
		}
	}
	return all
}

// packageHosts are the usual sources of packages.
var packageHosts = []string{
	"pypi.org", "test.pypi.org", "files.pythonhosted.org", "pypi.python.org", "pypi.anaconda.org", "conda.anaconda.org", "download.pytorch.org", "pypi.nvidia.com", "registry.npmjs.org", "registry.yarnpkg.com",
	"npm.pkg.github.com", "npm.jsr.io", "rubygems.org", "proxy.golang.org", "sum.golang.org", "index.crates.io", "github.com", "cache.nixos.org", "storage.googleapis.com",
}

func knownSource(address string) bool {
	return !dynamic(address) && (slices.Contains(packageHosts, host(address)) || thisMachine(host(address)))
}

// sourceVariable judges variables that say where packages come from.
func (j *judge) sourceVariable(name, value string) {
	switch strings.ToUpper(name) {
	case "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_TRUSTED_HOST", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX", "NPM_CONFIG_REGISTRY", "YARN_REGISTRY",
		"GOPROXY", "GOSUMDB", "GOINSECURE", "GONOSUMDB", "GONOSUMCHECK", "RUSTUP_DIST_SERVER", "RUSTUP_UPDATE_ROOT", "HOMEBREW_BOTTLE_DOMAIN", "GEM_SOURCE":
	default:
		return
	}
	for source := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(", |", r) }) {
		if source != "direct" && !knownSource(source) && (source != "off" || name == "GOSUMDB") {
			j.ask("package-source", "installs packages from another source than the usual one")
		}
	}
}
