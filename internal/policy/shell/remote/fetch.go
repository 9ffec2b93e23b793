package remote

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/environ"
	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// Fetches judges package managers, builders and runtimes that run code straight
// from an address, or that get packages from another source than the usual one.
func Fetches(l *track.Line, name string, rest []string) {
	base := strings.TrimRight(name, "0123456789.")
	if codeVerbs[base] == "" {
		return
	}
	sources := sourceOptions(base, rest)
	for _, source := range sources {
		if !environ.KnownSource(source) {
			l.Ask("package-source", "installs packages from another source than the usual one")
		}
	}
	if verbs, ok := codeVerbs[base]; ok && slices.ContainsFunc(codeWords(base, verbs, rest), func(w string) bool {
		return program.IsCodeAddress(w) && !slices.Contains(sources, w)
	}) {
		l.Ask("fetched-code", "runs or installs code straight from an address")
	}
	if name == "go" && len(rest) > 1 && rest[0] == "run" {
		if words := getopt.PlainWords(rest[1:]); len(words) > 0 && isFetchedModule(words[0]) {
			l.Ask("fetched-code", "runs or installs code straight from an address")
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
	return lex.Within("-p --package --from --with --spec -c --config --import-map --python", option)
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
			if joined && (strings.HasPrefix(option, "--trusted") || strings.Contains(value, "://") || lex.Dynamic(value)) {
				all = append(all, value)
			}
		}
	}
	return all
}

// Applies judges a download that changes the files of the project.
func Applies(l *track.Line, name string, rest []string, s track.Situation) {
	if name != "patch" && (name != "git" || len(rest) == 0 || rest[0] != "apply" && rest[0] != "am") {
		return
	}
	if s.In.Download || slices.ContainsFunc(rest, func(a string) bool {
		c, ok := l.Written(a)
		return strings.Contains(a, lex.FromDownload) || ok && c.Download
	}) {
		l.Ask("applies-download", "changes files by a download that was not read")
	}
}
