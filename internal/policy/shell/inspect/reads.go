package inspect

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
)

// ReadsOnly reports whether a command line certainly changes nothing, so that it
// may run in parallel with others and be repeated. It knows a list of programs
// and plain words; for any other line it returns false.
func ReadsOnly(line string) bool {
	if len(line) > 4096 {
		return false
	}
	list, err := lex.Parse(line)
	if err != nil || len(list) == 0 {
		return false
	}
	for _, s := range list {
		if !readsStmt(s) {
			return false
		}
	}
	return true
}

func readsStmt(s *syntax.Stmt) bool {
	if s.Background || s.Coprocess || s.Disown {
		return false
	}
	for _, r := range s.Redirs {
		if !readsRedirect(r) {
			return false
		}
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return readsCall(c)
	case *syntax.BinaryCmd:
		return readsStmt(c.X) && readsStmt(c.Y)
	}
	return false
}

// readsRedirect allows input from a file that is named or from a text, and output to /dev/null or to another stream.
func readsRedirect(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrIn, syntax.WordHdoc:
		from, known := lex.Literal(r.Word)
		return known && !strings.HasPrefix(from, "/dev/tcp/") && !strings.HasPrefix(from, "/dev/udp/")
	case syntax.DplOut, syntax.DplIn:
		return lex.Duplicates(r)
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll:
		return r.Word != nil && r.Word.Lit() == "/dev/null"
	}
	return false
}

func readsCall(c *syntax.CallExpr) bool {
	if len(c.Assigns) > 0 || len(c.Args) == 0 {
		return false
	}
	args := make([]string, len(c.Args))
	for i, w := range c.Args {
		text, ok := lex.Literal(w)
		if !ok {
			return false
		}
		args[i] = text
	}
	refused, known := readers[args[0]]
	if !known {
		return false
	}
	words := getopt.PlainWords(args[1:])
	switch args[0] {
	case "git":
		return readsGit(args[1:])
	case "uniq": // the second file is written
		if len(words) > 1 || slices.ContainsFunc(c.Args, lex.HasPattern) {
			return false
		}
	case "date": // a word that is no format sets the clock
		if slices.ContainsFunc(words, func(w string) bool { return w[0] != '+' }) {
			return false
		}
	case "test", "printf": // the name of a variable may have an index, which the shell expands
		if slices.ContainsFunc(args[1:], func(a string) bool { return strings.HasPrefix(a, "-v") || a == "-R" }) {
			return false
		}
	}
	return !getopt.HasOption(args[0], args[1:], refused)
}

// readers maps programs that only read to the options that make them write or
// run something.
var readers = map[string][]string{
	"sleep": nil, "echo": nil, "true": nil, "false": nil, "pwd": nil, "ls": nil, "cat": nil, "head": nil,
	"tail": {"-f", "-F", "--follow"}, "wc": nil, "grep": nil, "egrep": nil, "fgrep": nil,
	"rg": {"--pre", "--hostname-bin"}, "stat": nil, "file": {"-C", "--compile"}, "du": nil, "df": nil, "date": {"-s", "--set"},
	"whoami": nil, "id": nil, "uname": nil, "printenv": nil, "which": nil, "basename": nil, "dirname": nil,
	"realpath": nil, "readlink": nil, "uniq": nil, "cut": nil, "tr": nil, "diff": nil, "cmp": nil, "comm": nil,
	"md5sum": nil, "sha1sum": nil, "sha256sum": nil, "cksum": nil, "jq": nil, "nl": nil, "tac": nil, "rev": nil,
	"sort": {"-o", "--output", "--compress-program", "-T"}, "seq": nil, "test": nil, "printf": nil, "nproc": nil,
	"find": {"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"},
	"git":  nil,
}

// readsGit reports whether a git subcommand only reads.
func readsGit(args []string) bool {
	if len(args) == 0 {
		return false
	}
	if getopt.HasOption("git", args[1:], []string{"--output", "--ext-diff", "--textconv", "--open-files-in-pager", "-O", "--filters", "--show-signature"}) {
		return false
	}
	switch args[0] {
	case "status", "log", "diff", "show", "rev-parse", "ls-files", "blame", "describe", "shortlog", "grep", "ls-tree", "cat-file":
		return true
	}
	return false
}
