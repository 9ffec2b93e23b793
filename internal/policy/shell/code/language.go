// Package code reads programs in other languages than that of the shell: which options of
// an interpreter take code, and what scripts of sed, awk, SQL and Python would do. It reads
// texts only and runs nothing.
package code

import (
	"slices"
	"strings"
)

// language is how an interpreter takes code on its command line.
type language struct {
	Code   string // short options whose value is code
	Values string // short options with another value
	Alone  string // short options without a value
	Words  string // long options without a value, between spaces
	Verbs  string // words before the script, between spaces
}

// LanguageOf describes the programs that take code as an argument.
func LanguageOf(name string) (language, bool) {
	kind := strings.TrimRight(name, "0123456789.")
	switch kind {
	case "python", "pypy", "ipython", "jython", "micropython", "hy", "bpython", "pythonw", "py":
		return language{Code: "c", Values: "WXQm", Alone: "bBdEhiIOPqRsSuvVx3", Words: " --version --help "}, true
	case "perl", "raku":
		return language{Code: "eE", Values: "IMmFxCD", Alone: "acdfhlnpsStTuUvVwW0i"}, true
	case "ruby", "jruby", "irb":
		return language{Code: "e", Values: "IrCFKxE", Alone: "acdhlnpsSUvwWy0i", Words: " --version --disable-gems "}, true
	case "node", "nodejs", "tsx", "ts-node", "qjs":
		return language{Code: "ep", Values: "rC", Alone: "chivV", Words: " --version --help --test --watch --inspect --inspect-brk --no-warnings --trace-warnings --harmony --experimental-vm-modules --expose-gc "}, true
	case "bun", "deno":
		return language{Code: "ep", Values: "rC", Alone: "AhiqV", Verbs: " run test x task install add create dev build serve repl fmt lint check eval cache bench "}, true
	case "php":
		return language{Code: "rBRE", Values: "dcfzSt", Alone: "aeHhilmnqsvw"}, true
	case "guile", "expect", "gjs":
		return language{Code: "c", Values: "Lles"}, true
	case "lua", "luajit":
		return language{Code: "e", Values: "l", Alone: "iEvW"}, true
	case "osascript", "rscript", "r", "tclsh", "elixir", "julia", "groovy", "racket", "sbcl", "scala", "swift", "clojure", "clj", "bb", "ocaml", "octave",
		"iex", "pry", "erl", "ghc", "runghc", "crystal", "jshell", "kotlin", "wish", "janet", "nim", "emacs", "dc", "coffee", "escript":
		return language{Code: "eE"}, true
	case "awk", "gawk", "mawk", "nawk", "original-awk":
		return language{}, true
	}
	return language{}, false
}

// IsInterpreter reports whether a program takes code of its own language.
func IsInterpreter(name string) bool {
	_, ok := LanguageOf(name)
	return ok
}

// IsCodeOption reports whether a long option has code as its value, in any language.
func IsCodeOption(a string) bool {
	a, _, _ = strings.Cut(a, "=")
	return a == "--eval" || a == "--print" || a == "--run" || a == "--execute" || a == "-eval" || a == "--expr" || a == "--command"
}

// EditsInPlace reports whether options make perl or ruby change their files.
func EditsInPlace(name, cluster string) bool {
	return (strings.HasPrefix(name, "perl") || strings.HasPrefix(name, "ruby")) && strings.Contains(cluster, "i")
}

// AwkRuns reports whether a program of awk may run commands or load libraries.
func AwkRuns(text string) bool {
	runs := []string{"system", `| "`, `|"`, "|&", "@load"}
	return slices.ContainsFunc(runs, func(s string) bool { return strings.Contains(text, s) }) ||
		strings.Contains(text, "getline") && strings.Contains(text, "|")
}

// AwkTargets are the files that print > "file" writes.
func AwkTargets(text string) []string {
	var out []string
	for rest := text; ; {
		_, after, ok := strings.Cut(rest, ">")
		if !ok {
			return out
		}
		rest = after
		quoted, found := strings.CutPrefix(strings.TrimLeft(after, "> "), `"`)
		if target, _, closed := strings.Cut(quoted, `"`); found && closed {
			out = append(out, target)
		}
	}
}
