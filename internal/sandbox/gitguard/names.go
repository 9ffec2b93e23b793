package gitguard

import (
	"path"
	"slices"
	"strings"
	"sync"

	"hermes/internal/policy"
)

// names are the patterns of file names in projects, taken from the table of protected
// paths, so that walls and questions agree.
type names struct {
	tools   map[string]bool // names of files and folders that tools run
	wild    []string        // the same, with wildcards
	below   map[string][]string
	example []string // environment files without secrets
	secrets []string // patterns of files with secrets, in lower case
	doubt   []string // those that have secrets only if their text looks like that
}

// credentials are files of the home that are at times in projects.
const credentials = ".netrc _netrc .pgpass .git-credentials .vault-token .pypirc master.key"

// onlyIf are files that most projects have without secrets: the text decides.
const onlyIf = ".envrc .npmrc *.pem *.key *.ovpn secrets.json secrets.toml secrets.yaml secrets.yml"

// stores are made for tests at least as often as they hold a secret: they are not hidden.
const stores = "*.p12 *.pfx *.jks *.keystore"

var known = sync.OnceValue(func() names {
	// .envrc is run by direnv. The others are read by Hermes, which runs what skills
	// hold; the table has no row for them, as file tools may write them after a question. Its
	// rows are in lower case, and R looks for a capital.
	n := names{tools: map[string]bool{".envrc": true, ".hermes": true, ".hermes.md": true, "HERMES.md": true, ".agents": true, ".Rprofile": true}, below: map[string][]string{}, secrets: strings.Fields(credentials), doubt: strings.Fields(onlyIf)}
	for _, row := range policy.Table() {
		if row.Anchor != policy.Anywhere {
			continue
		}
		pattern := strings.TrimSuffix(row.Pattern, "/")
		folder, file, nested := strings.Cut(pattern, "/")
		switch {
		case row.Kind.Read >= policy.Local && !nested && !strings.HasPrefix(pattern, ".env") && !slices.Contains(strings.Fields(onlyIf+" "+stores), pattern):
			n.secrets = append(n.secrets, pattern)
		case row.Kind.Write == policy.Free && strings.HasPrefix(pattern, ".env"):
			n.example = append(n.example, pattern)
		case row.Kind.Key != "tool-config":
		case nested:
			n.below[folder] = append(n.below[folder], file)
		case strings.ContainsAny(pattern, "*?"):
			n.wild = append(n.wild, pattern)
		default:
			n.tools[pattern] = true
		}
	}
	return n
})

// tool reports whether the user's tools run or obey a file or folder of this name.
func (n names) tool(name string) bool { return n.tools[name] || matchAny(n.wild, name) }

// env reports whether a file of this name is an environment file with secrets.
func (n names) env(name string) bool {
	return (name == ".env" || strings.HasPrefix(name, ".env.")) && !matchAny(n.example, name)
}

// secret reports whether a file holds secrets, as its name says.
func (n names) secret(name string) bool { return matchAny(n.secrets, strings.ToLower(name)) }

// doubtful reports whether a file of this name holds secrets if its text looks like that.
func (n names) doubtful(name string) bool { return matchAny(n.doubt, strings.ToLower(name)) }

func matchAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if ok, _ := path.Match(p, name); ok {
			return true
		}
	}
	return false
}

// skipped reports whether a folder is made by tools and holds too many files to look at.
func skipped(name string) bool {
	switch name {
	case "node_modules", "vendor", "target", "dist", "build", "out", "__pycache__", ".venv", "venv", ".tox", ".nox", ".cache", ".gradle", ".next", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".terraform", "Pods", "bower_components", "site-packages":
		return true
	}
	return false
}
