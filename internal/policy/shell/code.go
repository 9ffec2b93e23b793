package shell

import "strings"

// isInterpreter reports whether a program takes code as an argument.
func isInterpreter(name string) bool {
	switch strings.TrimRight(name, "0123456789.") {
	case "python", "pypy", "perl", "ruby", "node", "nodejs", "php", "lua", "luajit", "deno", "bun", "osascript", "rscript", "tclsh", "guile", "awk", "gawk", "mawk", "nawk", "ipython", "elixir", "julia", "groovy", "tsx", "ts-node":
		return true
	}
	return false
}

// interpreter judges code that is passed as an argument or as input.
func (j *judge) interpreter(name string, rest []string, s situation) {
	kind := strings.TrimRight(name, "0123456789.")
	inPlace := false
	for i, a := range rest {
		switch {
		case kind == "awk" || strings.HasSuffix(kind, "awk"):
			if strings.Contains(a, "system(") || strings.Contains(a, "| \"") || strings.Contains(a, "|\"") {
				j.code(a)
			}
			continue
		case kind == "deno" && a == "eval":
			j.code(strings.Join(rest[i+1:], " "))
			return
		case a == "--eval" || a == "--print" || a == "--run" || strings.HasPrefix(a, "--eval=") || strings.HasPrefix(a, "--print="):
			j.code(strings.Join(rest[i:], " "))
			return
		case len(a) > 1 && a[0] == '-' && a[1] != '-':
			inPlace = inPlace || (kind == "perl" || kind == "ruby") && strings.Contains(a, "i")
			if strings.ContainsAny(a, codeOptions(kind)) {
				j.code(strings.Join(rest[i:], " "))
				if inPlace {
					j.writeAll(plainWords(rest[i+1:]))
				}
				return
			}
			if kind == "python" && strings.HasSuffix(a, "m") {
				return
			}
		case a == "-" || strings.HasPrefix(a, "-"):
		default:
			if strings.Contains(a, fromDownload) {
				j.ask("download-to-shell", "runs a download as a program")
			}
			if inPlace {
				j.writeAll(rest[i:])
			}
			return // a script file
		}
	}
	switch {
	case s.in.download:
		j.ask("download-to-shell", "runs a download as a program")
	case s.in.fed && !strings.HasSuffix(kind, "awk"):
		j.code(s.in.text)
	}
}

// codeOptions are the short options whose value is code.
func codeOptions(kind string) string {
	switch kind {
	case "python", "pypy", "ipython":
		return "c"
	case "node", "nodejs", "bun", "tsx", "ts-node":
		return "ep"
	case "php":
		return "rB"
	case "perl", "ruby":
		return "eE"
	}
	return "e"
}

func (j *judge) code(text string) {
	j.ask("inline-code", "runs program code given in the command")
	if strings.Contains(strings.Join(strings.Fields(text), " "), "fork while fork") {
		j.refuse("fork-bomb", "starts endless copies of itself (a fork bomb)")
	}
}
