package toolbox

import (
	"path"
	"slices"
	"strings"
)

// denied returns the first glob that a command matches, "" for none. A glob is
// matched, ignoring case, against the whole command and against each simple
// command in it. Each is tried with and without its launcher and with the
// program's base name, so that sudo, env, a path or sh -c do not hide it.
func denied(command string, globs []string) string {
	if len(globs) == 0 || command == "" {
		return ""
	}
	variants := commands(command)
	for _, glob := range globs {
		glob = strings.ToLower(strings.Join(strings.Fields(glob), " "))
		if glob != "" && slices.ContainsFunc(variants, func(v string) bool { return fnmatch(glob, v) }) {
			return glob
		}
	}
	return ""
}

// commands lists the forms of a command line that globs are matched against.
func commands(line string) []string {
	line = strings.ReplaceAll(strings.ToLower(line), "\\\n", " ")
	out := []string{strings.Join(strings.Fields(line), " ")}
	add := func(words []string) {
		for len(words) > 0 {
			text := strings.Join(words, " ")
			out = append(out, text)
			if base := path.Base(words[0]); base != words[0] {
				out = append(out, strings.Join(append([]string{base}, words[1:]...), " "))
			}
			rest := launched(words)
			if len(rest) == len(words) {
				return
			}
			words = rest
		}
	}
	bare := strings.NewReplacer(`"`, "", `'`, "", `\`, "", "${ifs}", " ", "$ifs", " ")
	for _, text := range [...]string{line, bare.Replace(line)} {
		for simple := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(";|&\n(){}`", r) }) {
			add(strings.Fields(strings.TrimPrefix(strings.TrimSpace(simple), "$")))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// launched removes what only launches another command: assignments, and
// sudo, env, nohup, timeout, xargs, sh -c and their like with their options.
func launched(words []string) []string {
	if name, _, ok := strings.Cut(words[0], "="); ok && name != "" && !strings.ContainsAny(name, "/-.") {
		return words[1:]
	}
	switch path.Base(words[0]) {
	case "sudo", "doas", "env", "nohup", "timeout", "nice", "ionice", "exec", "setsid", "command", "builtin", "xargs", "time", "stdbuf", "watch",
		"sh", "bash", "zsh", "dash", "ksh", "fish", "eval", "then", "do", "else", "if", "while", "!", "chroot", "su":
	default:
		return words
	}
	words = words[1:]
	for len(words) > 0 && (strings.HasPrefix(words[0], "-") || isAmount(words[0])) {
		takes := words[0] == "-u" || words[0] == "-n" || words[0] == "-i" || words[0] == "-g"
		words = words[1:]
		if takes && len(words) > 1 {
			words = words[1:]
		}
	}
	return words
}

// isAmount reports whether a word is a number or a duration, as for timeout.
func isAmount(word string) bool {
	return strings.Trim(word, "0123456789.smhd") == "" && word[0] >= '0' && word[0] <= '9'
}

// fnmatch matches a whole text against a glob of *, ? and [sets]; unlike in
// paths, * also matches slashes.
func fnmatch(glob, text string) bool {
	star, mark := -1, 0
	g, t := 0, 0
	for t < len(text) {
		if g < len(glob) && glob[g] == '*' {
			star, mark = g, t
			g++
			continue
		}
		if size := one(glob[g:], text[t]); size > 0 {
			g += size
			t++
			continue
		}
		if star < 0 {
			return false
		}
		mark++
		g, t = star+1, mark
	}
	return strings.Trim(glob[g:], "*") == ""
}

// one matches a single byte and returns the number of glob bytes used, 0 for
// no match.
func one(glob string, c byte) int {
	if glob == "" {
		return 0
	}
	switch glob[0] {
	case '?':
		return 1
	case '[':
		end := strings.IndexByte(glob[1:], ']')
		if end <= 0 {
			break
		}
		set := glob[1 : 1+end]
		not := set[0] == '!' || set[0] == '^'
		if not {
			set = set[1:]
		}
		if inSet(set, c) == not {
			return 0
		}
		return end + 2
	}
	if glob[0] == c {
		return 1
	}
	return 0
}

func inSet(set string, c byte) bool {
	for i := 0; i < len(set); i++ {
		if i+2 < len(set) && set[i+1] == '-' {
			if set[i] <= c && c <= set[i+2] {
				return true
			}
			i += 2
			continue
		}
		if set[i] == c {
			return true
		}
	}
	return false
}
