package files

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/code"
	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// Named judges the paths that a command names. A program that is not known to only
// read them counts as one that writes them.
func Named(l *track.Line, name string, rest []string, s track.Situation) {
	read := l.Read
	if program.ReadsTree(name, rest) {
		read = l.ReadTree
		if len(getopt.PlainWords(rest)) < 2 && l.Dir != "" {
			read(l.Dir) // it may name no folder
		}
	}
	for _, w := range rest {
		for _, p := range l.PathsIn(w) {
			read(p)
		}
	}
	words := mayWrite(l, name, rest)
	seen := map[string]bool{}
	for i, w := range words {
		if i > 0 && getopt.Excludes(words[i-1]) || getopt.Excludes(w) || seen[w] {
			continue
		}
		seen[w] = i == 0 || !strings.HasPrefix(words[i-1], "-") // after an option it may mean something else
		if i > 0 && program.NamesOutput(words[i-1]) {
			l.Write(w)
		}
		readsIt := i > 0 && program.NamesInput(words[i-1])
		for _, p := range l.PathsIn(w) {
			if l.Rights > 0 && strings.HasPrefix(p, "/etc/") {
				l.Write(p) // only the system's rights can change these
			}
			nameUnless(l, p, readsIt || program.NamesInput(w))
		}
		if option, value, ok := strings.Cut(w, "="); ok && program.NamesOutput(option) {
			l.Write(value)
		}
	}
	if s.In.Known && program.ReadsScript(name) {
		l.NameAll(s.In.Text)
	}
	if program.WritesHere(name, rest) && l.Dir != "" {
		l.Name(l.Dir)
		if program.IsExtractor(name) && l.Vital(l.Dir) {
			l.Ask("write-system", "writes files over a system folder or a home folder")
		}
	}
}

// nameUnless judges a path that a program names, or that one of its options says
// it reads: a file of keys or variables, as every program takes it.
func nameUnless(l *track.Line, p string, read bool) {
	if !read {
		l.Name(p)
		return
	}
	before := len(l.Findings)
	l.Name(p)
	added := l.Findings[before:]
	l.Findings = append(l.Findings[:before:before], slices.DeleteFunc(slices.Clone(added), func(f track.Finding) bool {
		return f.Key == "write-env-file" || f.Key == "write-credentials" || f.Key == "write-ssh"
	})...)
}

// mayWrite returns the words of a command that may be paths it writes.
func mayWrite(l *track.Line, name string, rest []string) []string {
	if program.OnlyReads(name, rest) {
		return nil
	}
	switch name {
	case "git":
		paths := program.GitPaths(rest)
		if slices.ContainsFunc(paths, func(w string) bool {
			return w == "clone" || w == "init" || w == "worktree" || w == "archive" || w == "bundle"
		}) {
			l.WriteAll(getopt.PlainWords(paths))
		}
		return paths
	case "docker", "podman", "nerdctl", "docker-compose", "podman-compose":
		for _, p := range program.ContainerPaths(rest) {
			l.Replace(p) // a container may change everything below
		}
		return nil
	case "tar", "gtar", "bsdtar":
		l.WriteAll(program.TarPaths(rest))
		return nil
	case "vi", "vim", "nvim", "nano", "pico", "emacs", "micro", "joe", "kak", "hx", "ed", "ex", "visudo", "crudini", "augtool":
		l.WriteAll(getopt.PlainWords(rest))
	case "zip":
		if words := getopt.PlainWords(rest); len(words) > 0 && !getopt.HasShort(rest, "m") {
			return words[:1]
		}
	case "chmod":
		return program.ChmodPaths(rest)
	case "dotenv", "dotenvx", "env-cmd":
		return nil // reads variables for another program
	case "touch":
		return slices.DeleteFunc(slices.Clone(rest), func(w string) bool { return strings.Contains(w, ".env") })
	case "sed", "gsed", "awk", "gawk", "mawk", "nawk":
		return scriptPaths(l, name, rest)
	case "cp", "mv", "install", "ln", "rsync", "scp", "gcp", "gmv", "copy", "move":
		return getopt.OptionsOnly(rest)
	}
	switch {
	case program.IsShell(name) || code.IsInterpreter(name):
		return program.AfterScript(name, rest)
	case strings.HasPrefix(name, "ssh-keygen") && getopt.HasShort(rest, "lyFHeB"):
		return nil
	}
	return rest
}

// scriptPaths returns the paths in the script of sed or awk, if it may write, and
// the other arguments if they are changed in place.
func scriptPaths(l *track.Line, name string, rest []string) []string {
	if strings.HasSuffix(name, "awk") && slices.ContainsFunc(rest, func(w string) bool { return strings.HasSuffix(w, "inplace") }) {
		return rest
	}
	if inPlace := getopt.HasLong(rest, "--in-place") || getopt.HasShort(rest, "i"); inPlace {
		return nil // judged as a write
	}
	words := getopt.PlainWords(rest)
	if len(words) == 0 {
		return nil
	}
	script := words[0]
	for i, w := range rest {
		if (w == "-e" || w == "--expression") && i+1 < len(rest) {
			script += "\n" + rest[i+1]
		}
	}
	if strings.HasSuffix(name, "awk") {
		if strings.ContainsAny(script, ">|") {
			return l.PathsInText(script)
		}
		return nil
	}
	var out []string
	for _, part := range strings.Split(script, "w ")[1:] {
		out = append(out, strings.Fields(part + " .")[0])
	}
	return out
}
