package files

import (
	"path"
	"slices"
	"strings"

	"hermes/internal/policy/shell/code"
	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// Records remembers the files that a command writes, other than by redirection.
func Records(l *track.Line, name string, rest []string, s track.Situation) {
	words := getopt.PlainWords(rest)
	switch name {
	case "tee", "sponge":
		for _, f := range words {
			l.Wrote(f, s.In.Content())
		}
	case "cp", "mv", "install", "ln", "rsync", "scp", "gcp", "gmv", "link", "copy", "move":
		recordCopies(l, name, rest)
	case "curl", "wget", "aria2c", "xh", "http":
		recordDownloads(l, name, rest)
	case "dd":
		for _, a := range rest {
			if f, ok := strings.CutPrefix(a, "of="); ok {
				l.Wrote(f, track.Content{Download: s.In.Download})
			}
		}
	case "sed", "gsed":
		if getopt.HasShort(rest, "i") || getopt.HasLong(rest, "--in-place") {
			l.RecordAll(words)
		}
	case "gunzip", "unxz", "bunzip2", "unzstd", "uudecode", "gzip", "xz", "bzip2", "zstd":
		for _, f := range words {
			l.Wrote(strings.TrimSuffix(f, path.Ext(f)), track.Content{})
		}
	case "mkfifo":
		l.RecordAll(words)
	case "xxd", "uniq", "patch", "truncate", "ed", "ex":
		l.RecordAll(words[min(len(words), 1):])
	default:
		if !program.Compiles(name) && !program.OptionsDiffer(name) {
			recordOutputs(l, rest)
		}
	}
}

// recordCopies remembers the targets of cp and its relatives.
func recordCopies(l *track.Line, name string, rest []string) {
	target, sources, folder := getopt.Copied(rest, getopt.CopyValues(name))
	if target == "" {
		return
	}
	for _, source := range sources[:min(len(sources), lex.MaxIterations)] {
		c, ok := l.Written(source)
		if !ok && program.InSystemFolder(source) { // another name of a program
			c = track.Content{Text: source + ` "$@"`, Known: true}
		}
		if (name == "scp" || name == "rsync") && program.IsElsewhere(source) {
			source, c = source[strings.IndexByte(source, ':')+1:], track.Content{Download: true}
		}
		if !folder && !strings.HasSuffix(target, "/") {
			l.Wrote(target, c)
		}
		l.Wrote(target+"/"+path.Base(source), c) // the target may be a folder
	}
}

// recordDownloads remembers the files that a download is stored in.
func recordDownloads(l *track.Line, name string, rest []string) {
	named := false
	for i, a := range rest {
		file := ""
		switch {
		case a == "--output" || a == "--output-document" || a == "--out":
			if i+1 < len(rest) {
				file = rest[i+1]
			}
		case strings.HasPrefix(a, "--output=") || strings.HasPrefix(a, "--output-document=") || strings.HasPrefix(a, "--out="):
			_, file, _ = strings.Cut(a, "=")
		case len(a) > 1 && a[0] == '-' && a[1] != '-':
			letter := "o"
			if name == "wget" {
				letter = "O"
			}
			at := strings.Index(a, letter)
			if at < 1 {
				continue
			}
			if file = a[at+1:]; file == "" && i+1 < len(rest) {
				file = rest[i+1]
			}
		}
		if file != "" {
			named = true
			ReplacesFile(l, file, false)
			l.Wrote(file, track.Content{Download: true})
		}
	}
	if named || name == "curl" && !getopt.HasShort(rest, "OJ") && !getopt.HasLong(rest, "--remote-name") && !getopt.HasLong(rest, "--remote-name-all") {
		return
	}
	for _, a := range getopt.PlainWords(rest) { // the name is the last part of the address
		if base := path.Base(strings.SplitN(a, "?", 2)[0]); strings.Contains(a, "/") && !lex.Dynamic(base) {
			l.Wrote(base, track.Content{Download: true})
		}
	}
}

// recordOutputs remembers the files that options of any program name for output.
func recordOutputs(l *track.Line, rest []string) {
	for i, a := range rest {
		option, file, attached := strings.Cut(a, "=")
		if !attached && i+1 < len(rest) {
			file = rest[i+1]
		}
		if (program.NamesOutput(option) || option == "-O") && file != "" && file[0] != '-' {
			l.Wrote(file, track.Content{})
		}
	}
}

// ScriptArguments judges files that the line wrote and that a program may run.
func ScriptArguments(l *track.Line, name string, rest []string) {
	if len(l.Files) == 0 || program.IsShell(name) || code.IsInterpreter(name) || program.HabitOf(name) == program.ReadsText && name != "sed" {
		return
	}
	marked := program.HabitOf(name) == program.NoHabit || name == "ansible-playbook"
	for _, a := range rest {
		switch a {
		case "run", "-run", "exec", "-S", "-s", "-f", "--file", "--script":
			marked = true
			continue
		}
		c, ok := l.Written(a)
		if ok && marked && (name == "sed" || program.IsScript(a) || strings.HasPrefix(c.Text, "#!") || slices.Contains(l.Made, a) || c.Download && program.HabitOf(name) == program.NoHabit) {
			l.Ask("write-and-run", "runs a file that the same command wrote")
		}
	}
}
