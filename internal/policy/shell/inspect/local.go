package inspect

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"hermes/internal/lazy"
	"hermes/internal/policy/shell/lex"
)

// Local reports whether what a line prints certainly comes from this machine: from
// the files that [Paths] names, from below its folder, and from programs that fetch
// nothing themselves. It knows a list of programs with their options, and words that
// are written out; for any other line it returns false, also for patterns of files,
// which may lead anywhere by a link. Tests and builds of a project count as local.
func Local(line string) bool {
	if strings.Contains(line, "://") || strings.Contains(line, "/dev/tcp") || strings.Contains(line, "/dev/udp") {
		return false
	}
	list, err := lex.Parse(line)
	if err != nil || len(list) == 0 || !localStatements(list) {
		return false
	}
	return len(Paths(line)) < maxPaths
}

func localStatements(list []*syntax.Stmt) bool {
	return !slices.ContainsFunc(list, func(s *syntax.Stmt) bool { return !localStatement(s) })
}

func localStatement(s *syntax.Stmt) bool {
	if s.Background || s.Coprocess || slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return !localRedirect(r) }) {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return localCall(c)
	case *syntax.BinaryCmd:
		return localStatement(c.X) && localStatement(c.Y)
	case *syntax.Block:
		return localStatements(c.Stmts)
	case *syntax.Subshell:
		return localStatements(c.Stmts)
	case *syntax.TimeClause:
		return c.Stmt != nil && localStatement(c.Stmt)
	}
	return false
}

func localRedirect(r *syntax.Redirect) bool {
	_, ok := writtenOut(r.Word)
	if r.Hdoc != nil {
		_, plain := writtenOut(r.Hdoc)
		ok = ok && plain
	}
	return ok
}

// localVariables may be set for a program: they do not name another one.
var localVariables = []string{"CGO_ENABLED", "CI", "COLUMNS", "FORCE_COLOR", "GOARCH", "GOOS", "LANG", "LC_ALL", "NO_COLOR", "TERM", "TZ"}

func localCall(c *syntax.CallExpr) bool {
	for _, a := range c.Assigns {
		if a.Name == nil || !slices.Contains(localVariables, a.Name.Value) || a.Array != nil || a.Index != nil {
			return false
		}
		if a.Value == nil {
			continue
		}
		if _, ok := writtenOut(a.Value); !ok {
			return false
		}
	}
	words := make([]string, len(c.Args))
	for i, w := range c.Args {
		word, ok := writtenOut(w)
		// Behind a link, the parent of a folder is not where its name says.
		if !ok || slices.Contains(strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("/=:", r) }), "..") {
			return false
		}
		words[i] = word
	}
	return len(words) > 0 && localCommand(words[0], words[1:])
}

// writtenOut returns a word that the shell uses as it is, but for its quotes.
func writtenOut(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", false
	}
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "*?[]{}\\") && p.Value != "[" && p.Value != "]" || strings.HasPrefix(p.Value, "~") || strings.Contains(p.Value, "=~") {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok || p.Dollar {
					return "", false
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// localPrograms print what is in the files that they are given, or nothing. With
// each are the beginnings of options that run another program, follow links, hide
// which file a line is from, or read files that are listed in another.
var localPrograms = map[string][]string{
	"basename": nil, "cat": nil, "chmod": nil, "cmp": nil, "column": nil, "comm": nil, "cp": nil, "cut": nil, "date": nil, "diff": nil, "dirname": nil,
	"du": {"--files0"}, "echo": nil, "egrep": recursive, "false": nil, "fgrep": recursive, "file": {"-f", "--f"}, "find": {"-exec", "-ok", "-L", "-H", "-follow", "-files0"},
	"fmt": nil, "fold": nil, "gofmt": nil, "grep": recursive, "head": nil, "jq": nil, "ls": nil, "md5sum": nil, "mkdir": nil, "mv": nil, "nl": nil,
	"od": nil, "paste": nil, "printf": nil, "pwd": nil, "pytest": {"-p", "--pastebin", "--pyargs"}, "realpath": nil, "rev": nil,
	"rg": {"--pre", "--hostname", "-L", "--follow", "-z", "--search", "-I", "--no-filename"}, "rm": nil, "rmdir": nil, "seq": nil, "sha256sum": nil, "sleep": nil,
	"sort": {"--co", "--fil"}, "staticcheck": nil, "stat": nil, "tac": nil, "tail": nil, "test": nil, "[": nil, "touch": nil, "tr": nil,
	"tree": {"-l", "--fromfile"}, "true": nil, "uniq": nil, "wc": {"--files0"}, "xxd": nil,
}

var recursive = []string{"-R", "--de", "-h", "--no-f"} // of grep

// localVerbs are the verbs of programs that fetch with others.
var localVerbs = map[string][]string{
	"git":   {"add", "blame", "branch", "checkout", "commit", "diff", "grep", "log", "ls-files", "mv", "reset", "restore", "rev-parse", "rm", "show", "stash", "status", "switch", "tag"},
	"go":    {"build", "env", "fmt", "test", "version", "vet"},
	"cargo": {"build", "check", "clippy", "fmt", "test"},
	"npm":   {"run", "test"},
	"pnpm":  {"run", "test"},
	"yarn":  {"run", "test"},
}

func localCommand(name string, args []string) bool {
	if not, ok := localPrograms[name]; ok {
		return !optionBegins(args, not...)
	}
	switch name {
	case "cd":
		return len(args) == 1 && args[0] != "-" && args[0] != ""
	case "make":
		return !slices.ContainsFunc(args, func(a string) bool { return !makeOption().MatchString(a) && !isBuild(a) })
	case "sed":
		return localSed(args)
	}
	if len(args) == 0 || !slices.Contains(localVerbs[name], args[0]) { // options before the verb may name another place
		return false
	}
	verb, rest := args[0], args[1:]
	switch name {
	case "git":
		return localGit(verb, rest)
	case "go":
		return !slices.ContainsFunc(rest, func(a string) bool { return goOption().MatchString(a) || otherModule(a) })
	case "cargo":
		return !optionBegins(rest, "--config", "-Z", "-C") && !slices.ContainsFunc(rest, otherModule)
	}
	if verb == "run" { // npm and its kind
		if len(rest) == 0 || !isBuild(rest[0]) {
			return false
		}
		rest = rest[1:]
	}
	return len(rest) == 0 || rest[0] == "--"
}

func localGit(verb string, args []string) bool {
	return !slices.ContainsFunc(args, ofRemote) && !(verb == "branch" && optionBegins(args, "-a", "-r")) &&
		!optionBegins(args, "-O", "--op", "--ext", "--al", "--gl", "--recu", "--sub", "--no-index")
}

// optionBegins reports whether an argument begins like one of the options. Short ones
// are also found behind others, as in -rh.
func optionBegins(args []string, options ...string) bool {
	for _, a := range args {
		for _, o := range options {
			same := strings.HasPrefix(a, o)
			if len(o) == 2 && o[0] == '-' && strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") {
				same = strings.Contains(a[1:], o[1:])
			}
			if same {
				return true
			}
		}
	}
	return false
}

// ofRemote reports whether a word of a git command may name what was fetched from
// another repository.
func ofRemote(word string) bool {
	word = strings.ToLower(word)
	return slices.ContainsFunc([]string{"fetch_head", "merge_head", "origin", "upstream", "remote", "@{u", "@{p", "refs/pull", "refs/merge"}, func(s string) bool { return strings.Contains(word, s) })
}

var modulePath = lazy.Regexp(`^[^./-][^/]*\.[^/]*/`)

// otherModule reports whether a word may name what has to be fetched.
func otherModule(word string) bool {
	return strings.Contains(word, "@") || modulePath().MatchString(word)
}

var (
	// goOption is an option of go with which it runs another program, fetches, or
	// works elsewhere.
	goOption   = lazy.Regexp(`^--?(exec|toolexec|vettool|overlay|modfile|mod|m|u|w|C)(=|$)`)
	makeOption = lazy.Regexp(`^-(j[0-9]*|[ksnB]+)$`)
	buildName  = lazy.Regexp(`^(all|bench|build|check|clean|compile|cover|coverage|fmt|format|lint|test|tests|typecheck|unit|vet)$`)
)

// isBuild reports whether the first part of a name says that it builds or tests.
func isBuild(name string) bool {
	first, _, _ := strings.Cut(strings.NewReplacer(":", "-", "_", "-").Replace(name), "-")
	return !strings.Contains(name, "=") && buildName().MatchString(first)
}

// sedCommand is a command of sed that only prints, deletes or replaces.
var sedCommand = lazy.Regexp(`^\s*(([0-9]+|\$)?(,\s*[+]?([0-9]+|\$))?\s*[pdq=]|/[^/\\;]*/[pd]|s([/|#,])[^/|#,;\\]*([/|#,])[^/|#,;\\]*([/|#,])[gpI0-9]*)\s*$`)

var sedOption = lazy.Regexp(`^-([nErsu]+|[nErsu]*e)$`)

// localSed accepts simple scripts that stand in the line: others may run programs and
// read other files.
func localSed(args []string) bool {
	script, ok := "", false
	for i, a := range args {
		switch {
		case i > 0 && strings.HasPrefix(args[i-1], "-") && strings.HasSuffix(args[i-1], "e"), !ok && !strings.HasPrefix(a, "-"):
			script, ok = script+";"+a, true
		case strings.HasPrefix(a, "-") && !sedOption().MatchString(a):
			return false
		}
	}
	for c := range strings.SplitSeq(strings.TrimPrefix(script, ";"), ";") {
		if !sedCommand().MatchString(c) {
			return false
		}
	}
	return ok
}
