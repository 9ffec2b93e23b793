package shell

import "strings"

// language is how an interpreter takes code on its command line.
type language struct {
	code   string // short options whose value is code
	values string // short options with another value
	alone  string // short options without a value
	words  string // long options without a value, between spaces
	verbs  string // words before the script, between spaces
}

// languageOf describes the programs that take code as an argument.
func languageOf(name string) (language, bool) {
	kind := strings.TrimRight(name, "0123456789.")
	switch kind {
	case "python", "pypy", "ipython", "jython", "micropython", "hy", "bpython", "pythonw", "py":
		return language{code: "c", values: "WXQm", alone: "bBdEhiIOPqRsSuvVx3", words: " --version --help "}, true
	case "perl", "raku":
		return language{code: "eE", values: "IMmFxCD", alone: "acdfhlnpsStTuUvVwW0i"}, true
	case "ruby", "jruby", "irb":
		return language{code: "e", values: "IrCFKxE", alone: "acdhlnpsSUvwWy0i", words: " --version --disable-gems "}, true
	case "node", "nodejs", "tsx", "ts-node", "qjs":
		return language{code: "ep", values: "rC", alone: "chivV", words: " --version --help --test --watch --inspect --inspect-brk --no-warnings --trace-warnings --harmony --experimental-vm-modules --expose-gc "}, true
	case "bun", "deno":
		return language{code: "ep", values: "rC", alone: "AhiqV", verbs: " run test x task install add create dev build serve repl fmt lint check eval cache bench "}, true
	case "php":
		return language{code: "rBRE", values: "dcfzSt", alone: "aeHhilmnqsvw"}, true
	case "guile", "expect", "gjs":
		return language{code: "c", values: "Lles"}, true
	case "lua", "luajit":
		return language{code: "e", values: "l", alone: "iEvW"}, true
	case "osascript", "rscript", "r", "tclsh", "elixir", "julia", "groovy", "racket", "sbcl", "scala", "swift", "clojure", "clj", "bb", "ocaml", "octave",
		"iex", "pry", "erl", "ghc", "runghc", "crystal", "jshell", "kotlin", "wish", "janet", "nim", "emacs", "dc", "coffee", "escript":
		return language{code: "eE"}, true
	case "awk", "gawk", "mawk", "nawk", "original-awk":
		return language{}, true
	}
	return language{}, false
}

func isInterpreter(name string) bool {
	_, ok := languageOf(name)
	return ok
}

// interpreter judges code that is passed as an argument, in a file that the line
// wrote, or as input.
func (j *judge) interpreter(name string, rest []string, s situation) {
	if strings.HasSuffix(strings.TrimRight(name, "0123456789."), "awk") {
		j.awk(rest)
		return
	}
	lang, _ := languageOf(name)
	unclear := false // whether the last option may take the next word
	given, inPlace := false, false
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		switch {
		case given && !unclear && (len(a) < 2 || a[0] != '-' || a == "--"): // an argument of the code
			if inPlace {
				j.writeAll(plainWords(rest[i:]))
			}
			return
		case isInput(a):
			j.codeInput(s)
			return
		case a == "eval" && strings.Contains(lang.verbs, " eval "), isCodeOption(a):
			_, value, _ := strings.Cut(a, "=")
			j.code(name, value+" "+strings.Join(rest[i+1:], " "))
			return
		case strings.Contains(lang.verbs, " "+a+" "):
		case strings.HasPrefix(a, "--"):
			_, value, attached := strings.Cut(a, "=")
			j.loads(value)
			unclear = !attached && !strings.Contains(lang.words, " "+a+" ")
			continue
		case len(a) > 1 && a[0] == '-':
			at := strings.IndexAny(a[1:], lang.code+lang.values) + 1
			if at > 0 && strings.IndexByte(lang.code, a[at]) >= 0 {
				text := a[at+1:]
				if text == "" && i+1 < len(rest) {
					i++
					text = rest[i]
				}
				j.code(name, text)
				if lang.code == "c" { // what follows are arguments
					return
				}
				given, unclear, inPlace = true, false, inPlace || editsInPlace(name, a[:at])
				continue
			}
			if at > 0 && a[at] == 'm' && lang.code == "c" {
				j.module(a[at+1:], rest[i+1:])
				return
			}
			if at > 0 {
				value := a[at+1:]
				if value == "" && i+1 < len(rest) {
					i++
					value = rest[i]
				}
				j.loads(value)
			}
			inPlace = inPlace || editsInPlace(name, a)
			unclear = at == 0 && strings.Trim(a[1:], lang.alone) != ""
			continue
		default:
			j.codeFile(name, rest[i:], s)
			if !unclear {
				return
			}
		}
		unclear = false
	}
	if !given {
		j.codeInput(s)
	}
}

func isCodeOption(a string) bool {
	a, _, _ = strings.Cut(a, "=")
	return a == "--eval" || a == "--print" || a == "--run" || a == "--execute" || a == "-eval" || a == "--expr" || a == "--command"
}

// loads judges the value of an option, which may name code to load first.
func (j *judge) loads(value string) {
	if strings.HasPrefix(value, "/") && temporary(value) {
		j.ask("inline-code", "loads code from a folder that all users may write to")
	}
	j.runsFile(value, false, nil)
}

// editsInPlace reports whether options make perl or ruby change their files.
func editsInPlace(name, cluster string) bool {
	return (strings.HasPrefix(name, "perl") || strings.HasPrefix(name, "ruby")) && strings.Contains(cluster, "i")
}

// module judges python -m.
func (j *judge) module(name string, rest []string) {
	if name == "" && len(rest) > 0 {
		name, rest = rest[0], rest[1:]
	}
	path := strings.ReplaceAll(name, ".", "/")
	for _, file := range []string{path + ".py", path + "/__main__.py", path + "/__init__.py"} {
		j.runsFile(file, false, nil)
	}
	j.hiddenTexts("", rest)
	j.hidden("", rest, situation{})
}

// codeFile judges a script and its arguments.
func (j *judge) codeFile(name string, words []string, s situation) {
	if strings.Contains(words[0], fromDownload) {
		j.ask("download-to-shell", "runs a download as a program")
	}
	j.runsFile(words[0], false, nil)
	j.hiddenTexts("", words[1:])
	j.hidden("", words[1:], situation{})
}

func (j *judge) codeInput(s situation) {
	switch {
	case s.in.download:
		j.ask("download-to-shell", "runs a download as a program")
	case s.in.fed || s.xargs:
		j.inlineCode(s.in.text)
	}
}

// code judges code in an argument. Code that visibly does nothing is allowed.
func (j *judge) code(name, text string) {
	switch {
	case strings.Contains(text, fromDownload):
		j.ask("download-to-shell", "runs a download as a program")
	case len(j.files) == 0 && harmlessCode(name, text):
		return
	}
	j.inlineCode(text)
}

func (j *judge) inlineCode(text string) {
	j.ask("inline-code", "runs program code given in the command")
	j.destructiveCode(text)
}

// awk judges the text of awk programs, which can run commands and write files.
func (j *judge) awk(rest []string) {
	for i, a := range rest {
		if a == "-f" && i+1 < len(rest) {
			j.runsFile(rest[i+1], false, nil)
		}
		if dynamic(a) && strings.Contains(a, several[1:]) && i == 0 {
			j.ask("inline-code", "runs program code that is only known at run time")
		}
		if strings.Contains(a, "system") || strings.Contains(a, "| \"") || strings.Contains(a, "|\"") || strings.Contains(a, "|&") || strings.Contains(a, "getline") && strings.Contains(a, "|") || strings.Contains(a, "@load") {
			j.inlineCode(a)
			continue
		}
		for _, target := range awkTargets(a) {
			j.write(target)
		}
	}
}

// awkTargets are the files that print > "file" writes.
func awkTargets(text string) []string {
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
