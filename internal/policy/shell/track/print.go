package track

import (
	"path"
	"slices"
	"strings"

	"hermes/internal/policy/shell/lex"
)

// Prints returns what a program prints, if that is known. The input is asked for once it is needed.
func (l *Line) Prints(name string, rest []string, in func() Input) (string, bool) {
	last := ""
	if len(rest) > 0 {
		last = rest[len(rest)-1]
	}
	switch name {
	case "echo":
		return echoed(rest)
	case "printf":
		return formatted(rest)
	case "cat", "tee":
		return l.copied(name, rest, in())
	case "pwd":
		return l.Dir, l.Dir != ""
	case "which":
		return installed(last), last != "" && last[0] != '-'
	case "realpath":
		return last, last != "" && last[0] != '-'
	case "readlink":
		return last, len(rest) == 2 && (rest[0] == "-f" || rest[0] == "-e" || rest[0] == "-m")
	case "command":
		return installed(last), len(rest) == 2 && rest[0] == "-v"
	case "mktemp":
		return "/tmp/tmp.XXXXXXXXXX", !slices.ContainsFunc(rest, func(a string) bool { return a != "-d" && a != "-q" })
	case "dirname":
		return path.Dir(last), len(rest) == 1 && !lex.Dynamic(last)
	case "basename":
		return path.Base(last), len(rest) == 1 && !lex.Dynamic(last)
	case "nproc":
		return "4", true
	case "true", ":":
		return "", true
	}
	return "", false
}

// installed is where a program is that is named without a folder, as far as its name matters.
func installed(name string) string {
	if name == "" || strings.Contains(name, "/") || lex.Dynamic(name) {
		return name
	}
	return "/usr/bin/" + name
}

// copied is what cat and tee print: their files, if the line wrote them, or
// their input.
func (l *Line) copied(name string, rest []string, in Input) (string, bool) {
	var b strings.Builder
	for _, file := range rest {
		c, ok := l.Written(file)
		if name == "tee" || file == "-" || file == "/dev/null" {
			continue
		}
		if !ok || !c.Known || b.Len()+len(c.Text) > lex.MaxText || !l.Spend(len(c.Text)) {
			return "", false
		}
		b.WriteString(c.Text)
	}
	if b.Len() > 0 || name == "cat" && len(rest) > 0 && rest[0] == "/dev/null" {
		return b.String(), true
	}
	return in.Text, in.Known
}

func echoed(rest []string) (string, bool) {
	escapes := false
	for len(rest) > 0 && len(rest[0]) > 1 && rest[0][0] == '-' && strings.Trim(rest[0][1:], "neE") == "" {
		escapes = escapes || strings.Contains(rest[0], "e")
		rest = rest[1:]
	}
	text := strings.Join(rest, " ")
	switch {
	case !strings.Contains(text, `\`):
		return text + "\n", true
	case escapes:
		printed, ended := lex.AnsiC(text)
		return printed + "\n", !ended && !strings.Contains(text, `\0`) // \0162 has a digit more here
	}
	// Some shells read the escapes, others do not.
	plain := strings.ReplaceAll(text, `\n`, "\n")
	return plain + "\n", !strings.Contains(plain, `\`)
}

// formatted is what printf prints. It knows %s alone.
func formatted(rest []string) (string, bool) {
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	if len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return "", false
	}
	format, ended := lex.AnsiC(rest[0])
	words, pieces := rest[1:], strings.Split(strings.ReplaceAll(format, "%%", lex.Split), "%s")
	if ended || strings.Contains(strings.Join(pieces, ""), "%") {
		return "", false
	}
	var b strings.Builder
	for first := true; first || len(words) > 0 && len(pieces) > 1; first = false {
		for i, piece := range pieces {
			if i > 0 && len(words) > 0 {
				b.WriteString(words[0])
				words = words[1:]
			}
			b.WriteString(piece)
		}
		if b.Len() > lex.MaxText {
			return "", false
		}
	}
	return strings.ReplaceAll(b.String(), lex.Split, "%"), true
}
