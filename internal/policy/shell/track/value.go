package track

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"hermes/internal/policy/shell/lex"
)

// Tilde replaces a leading ~ or ~name by a home folder.
func (l *Line) Tilde(text string) string {
	name, rest := text[1:], ""
	if i := strings.IndexByte(name, '/'); i >= 0 {
		name, rest = name[:i], name[i:]
	}
	switch {
	case name == "" && l.Context.Home != "":
		home, _ := l.Value("HOME")
		return home + rest
	case name == "root":
		return "/root" + rest
	case name == "+" && l.Dir != "":
		return l.Dir + rest
	case name == "" || strings.ContainsAny(name, "+-"):
		return text
	}
	return path.Join(path.Dir(l.Context.Home), name) + rest
}

// List returns the words of $@, $* and ${name[@]}.
func (l *Line) List(name string, index syntax.ArithmExpr) ([]string, bool) {
	if name == "@" || name == "*" {
		if l.Open != "" {
			return []string{l.Open}, true
		}
		return l.Params, true
	}
	if at := lex.IndexText(index); at != "@" && at != "*" {
		return nil, false
	}
	v, ok := l.Vars[name]
	switch {
	case !ok:
		return []string{lex.Unknown}, true
	case v.Array:
		return v.List, true
	}
	return []string{l.Choose(v.May)}, true
}

// Element returns a plain variable or one element of an array, and whether the
// line shows it.
func (l *Line) Element(name string, index syntax.ArithmExpr) (string, bool) {
	if index == nil {
		return l.Value(name)
	}
	v, ok := l.Vars[name]
	at, exact := lex.Number(index)
	switch {
	case !v.Array && slices.ContainsFunc(v.May, func(text string) bool { return strings.Contains(text, lex.FromSecret) }):
		return lex.FromSecret, false
	case !ok || !exact || !v.Array || at < 0:
		return lex.Unknown, false
	case at >= len(v.List):
		return "", true
	}
	return v.List[at], true
}

// Value returns the value of a variable or parameter, and whether it is known.
func (l *Line) Value(name string) (string, bool) {
	if name == lex.UnknownName {
		return lex.Unknown, false
	}
	if v, ok := l.Vars[name]; ok {
		may := v.May
		if v.Array {
			may = []string{""}
			if len(v.List) > 0 {
				may = v.List[:1:1]
			}
		}
		if l.Refs {
			may = append(may[:len(may):len(may)], lex.Filled)
		}
		chosen := l.Choose(may)
		return chosen, !lex.Dynamic(chosen)
	}
	if n, err := strconv.Atoi(name); err == nil && n > 0 {
		return l.positional(n)
	}
	if l.lost {
		return lex.Unknown, false
	}
	switch name {
	case "HOME":
		if l.Context.Home != "" {
			return l.Context.Home, true
		}
	case "PWD":
		if l.Dir != "" {
			return l.Dir, true
		}
	case "PATH":
		return SystemPath, true
	case "IFS":
		return " \t\n", true
	case "PPID":
		if l.Context.PID > 0 {
			return strconv.Itoa(l.Context.PID), true
		}
	case "HERMES_HOME":
		return l.Context.Hermes, true
	case "?", "$", "!", "#", "-", "0", "RANDOM", "SECONDS", "UID", "EUID", "HOSTNAME", "BASHPID", "LINENO", "BASH_VERSION", "OSTYPE":
		return lex.Filled, false
	}
	return lex.Unknown, false
}

func (l *Line) positional(n int) (string, bool) {
	switch {
	case l.Open != "":
		return l.Open, false
	case n > len(l.Params):
		return "", true
	}
	return l.Params[n-1], !lex.Dynamic(l.Params[n-1])
}

// Listed returns a list as the shell would insert it.
func (l *Line) Listed(list []string, name string, p *syntax.ParamExp, q Quoting) string {
	if p.Repl != nil || p.Exp != nil {
		return lex.Unknown
	}
	if p.Slice != nil {
		from, ok := lex.Number(p.Slice.Offset)
		to, bounded := lex.Number(p.Slice.Length)
		if !ok || from < 0 || p.Slice.Length != nil && (!bounded || to < 0) {
			return lex.Unknown
		}
		if name == "@" || name == "*" {
			from = max(from-1, 0)
		}
		list = list[min(from, len(list)):]
		if bounded {
			list = list[:min(to, len(list))]
		}
	}
	if q != Bare && (name == "*" || lex.IndexText(p.Index) == "*") {
		return strings.Join(list, " ")
	}
	return strings.Join(list, lex.Split)
}

// Cut marks where the shell splits an expansion.
func (l *Line) Cut(text string, q Quoting) string {
	if q != Bare || text == "" {
		return text
	}
	separators, known := l.Value("IFS")
	if !known {
		return lex.Several
	}
	if strings.ContainsAny(text, separators) {
		text = strings.Map(func(r rune) rune {
			if strings.ContainsRune(separators, r) {
				return rune(lex.Split[0])
			}
			return r
		}, text)
	}
	if strings.IndexByte(lex.Marks, text[len(text)-1]) >= 0 {
		return text + lex.Several[1:]
	}
	return text
}

// Braces expands {a,b}. It reports false if that makes too many words.
func (l *Line) Braces(w *syntax.Word) ([][]syntax.WordPart, bool) {
	clone := &syntax.Word{Parts: slices.Clone(w.Parts)} // do not change the tree itself
	if !syntax.SplitBraces(clone) {
		return [][]syntax.WordPart{w.Parts}, true
	}
	return l.combined(clone.Parts)
}

// combined returns every word that a list of parts means, in the shell's
// order.
func (l *Line) combined(parts []syntax.WordPart) ([][]syntax.WordPart, bool) {
	all := [][]syntax.WordPart{nil}
	for _, part := range parts {
		b, ok := part.(*syntax.BraceExp)
		if !ok || b.Sequence {
			if !l.Spend(len(all)) {
				return nil, false
			}
			for i := range all {
				all[i] = append(all[i], part)
			}
			continue
		}
		var choices [][]syntax.WordPart
		for _, elem := range b.Elems {
			inner, ok := l.combined(elem.Parts)
			if choices = append(choices, inner...); !ok || len(all)*len(choices) > lex.MaxBraces {
				return nil, false
			}
		}
		next := make([][]syntax.WordPart, 0, len(all)*len(choices))
		for _, before := range all {
			for _, c := range choices {
				if !l.Spend(len(before) + len(c)) {
					return nil, false
				}
				next = append(next, slices.Concat(before, c))
			}
		}
		all = next
	}
	return all, true
}

// Quoting is where in a line a word is.
type Quoting int

const (
	Bare     Quoting = iota // the shell splits what its expansions become
	Whole                   // it splits nothing: a value, the file of a redirection
	InQuotes                // double quotes or a here-document: most backslashes stay
)

// SystemPath is what PATH usually contains.
const SystemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
