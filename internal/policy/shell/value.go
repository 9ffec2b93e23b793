package shell

import (
	"path"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// tilde replaces a leading ~ or ~name by a home folder.
func (j *judge) tilde(text string) string {
	name, rest := text[1:], ""
	if i := strings.IndexByte(name, '/'); i >= 0 {
		name, rest = name[:i], name[i:]
	}
	switch {
	case name == "" && j.context.Home != "":
		home, _ := j.value("HOME")
		return home + rest
	case name == "root":
		return "/root" + rest
	case name == "+" && j.dir != "":
		return j.dir + rest
	case name == "" || strings.ContainsAny(name, "+-"):
		return text
	}
	return path.Join(path.Dir(j.context.Home), name) + rest
}

// parameter returns the value of $name, also of the forms with a default. Words
// of a list are separated by split.
func (j *judge) parameter(p *syntax.ParamExp, q quoting) string {
	if p.Param == nil || p.Names != 0 || p.NestedParam != nil {
		return unknown
	}
	name := p.Param.Value
	if p.Excl {
		pointed, known := j.value(name)
		if !known || p.Index != nil || p.Exp != nil || !isAssignment(pointed+"=") {
			return unknown
		}
		name = pointed
	}
	if p.Length || p.Width || p.IsSet {
		return filled
	}
	if list, ok := j.list(name, p.Index); ok {
		return j.listed(list, name, p, q)
	}
	value, known := j.element(name, p.Index)
	if p.Slice != nil || p.Repl != nil {
		return unknown
	}
	if p.Exp == nil {
		return value
	}
	return j.defaulted(p, name, value, known, max(q, whole))
}

// defaulted returns the value of ${name:-word} and its relatives.
func (j *judge) defaulted(p *syntax.ParamExp, name, value string, known bool, q quoting) string {
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
		if !known || value == "" {
			return j.unsplit(p.Exp.Word, q)
		}
		return value
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if !known || value == "" {
			value = j.unsplit(p.Exp.Word, q)
			j.set(name, exactly(value))
		}
		return value
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if text := j.unsplit(p.Exp.Word, q); known && value != "" || text == "" {
			return text
		}
		return unknown
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if value == unknown {
			return filled
		}
		return value
	case syntax.OtherParamOps:
		if p.Exp.Word != nil && p.Exp.Word.Lit() == "P" { // expanded like a prompt, which runs $(…)
			if dynamic(value) {
				j.ask("eval", "runs a command that is built at run time")
			}
			j.hiddenTexts("", []string{value})
		}
	}
	return unknown
}

// list returns the words of $@, $* and ${name[@]}.
func (j *judge) list(name string, index syntax.ArithmExpr) ([]string, bool) {
	if name == "@" || name == "*" {
		if j.open != "" {
			return []string{j.open}, true
		}
		return j.params, true
	}
	if at := indexText(index); at != "@" && at != "*" {
		return nil, false
	}
	v, ok := j.vars[name]
	switch {
	case !ok:
		return []string{unknown}, true
	case v.array:
		return v.list, true
	}
	return []string{j.choose(v.may)}, true
}

// listed returns a list as the shell would insert it.
func (j *judge) listed(list []string, name string, p *syntax.ParamExp, q quoting) string {
	if p.Repl != nil || p.Exp != nil {
		return unknown
	}
	if p.Slice != nil {
		from, ok := number(p.Slice.Offset)
		to, bounded := number(p.Slice.Length)
		if !ok || from < 0 || p.Slice.Length != nil && (!bounded || to < 0) {
			return unknown
		}
		if name == "@" || name == "*" {
			from = max(from-1, 0)
		}
		list = list[min(from, len(list)):]
		if bounded {
			list = list[:min(to, len(list))]
		}
	}
	if q != bare && (name == "*" || indexText(p.Index) == "*") {
		return strings.Join(list, " ")
	}
	return strings.Join(list, split)
}

// element returns a plain variable or one element of an array, and whether the
// line shows it.
func (j *judge) element(name string, index syntax.ArithmExpr) (string, bool) {
	if index == nil {
		return j.value(name)
	}
	v, ok := j.vars[name]
	at, exact := number(index)
	switch {
	case !ok || !exact || !v.array || at < 0:
		return unknown, false
	case at >= len(v.list):
		return "", true
	}
	return v.list[at], true
}

func indexText(index syntax.ArithmExpr) string {
	if w, ok := index.(*syntax.Word); ok {
		return w.Lit()
	}
	return ""
}

func number(x syntax.ArithmExpr) (int, bool) {
	w, ok := x.(*syntax.Word)
	if !ok || w == nil {
		return 0, false
	}
	n, err := strconv.Atoi(w.Lit())
	return n, err == nil && n < maxWords
}

// value returns the value of a variable or parameter, and whether it is known.
func (j *judge) value(name string) (string, bool) {
	if name == unknownName {
		return unknown, false
	}
	if v, ok := j.vars[name]; ok {
		may := v.may
		if v.array {
			may = []string{""}
			if len(v.list) > 0 {
				may = v.list[:1:1]
			}
		}
		if j.refs {
			may = append(may[:len(may):len(may)], filled)
		}
		chosen := j.choose(may)
		return chosen, !dynamic(chosen)
	}
	if n, err := strconv.Atoi(name); err == nil && n > 0 {
		return j.positional(n)
	}
	if j.lost {
		return unknown, false
	}
	switch name {
	case "HOME":
		if j.context.Home != "" {
			return j.context.Home, true
		}
	case "PWD":
		if j.dir != "" {
			return j.dir, true
		}
	case "PATH":
		return systemPath, true
	case "IFS":
		return " \t\n", true
	case "PPID":
		if j.context.PID > 0 {
			return strconv.Itoa(j.context.PID), true
		}
	case "HERMES_HOME":
		return j.context.Hermes, true
	case "?", "$", "!", "#", "-", "0", "RANDOM", "SECONDS", "UID", "EUID", "HOSTNAME", "BASHPID", "LINENO", "BASH_VERSION", "OSTYPE":
		return filled, false
	}
	return unknown, false
}

func (j *judge) positional(n int) (string, bool) {
	switch {
	case j.open != "":
		return j.open, false
	case n > len(j.params):
		return "", true
	}
	return j.params[n-1], !dynamic(j.params[n-1])
}

// substituted returns the output of $(…), or a mark for its kind.
func (j *judge) substituted(list []*syntax.Stmt) string {
	if j.depth >= maxDepth || !j.step() {
		return unknown
	}
	j.depth++
	defer func() { j.depth-- }()
	if len(list) == 1 {
		if c, ok := list[0].Cmd.(*syntax.CallExpr); ok && !list[0].Background {
			if text, ok := j.printed(c, list[0].Redirs, input{}); ok {
				return strings.TrimRight(text, "\n")
			}
		}
	}
	if j.showsSecret(list...) {
		return fromSecret
	}
	mark := unknown
	for _, s := range list {
		for _, name := range j.commandNames(s) {
			switch {
			case isDownload(name):
				return fromDownload
			case isProcessSearch(name) && name != "fuser":
				return fromSearch
			case len(list) == 1 && printsSomething(name):
				mark = filled
			}
		}
	}
	return mark
}

// printsSomething reports whether a program prints a line whenever it works.
func printsSomething(name string) bool {
	switch name {
	case "basename", "dirname", "date", "uname", "hostname", "whoami", "id", "nproc", "pwd", "arch", "getconf", "uuidgen", "tty":
		return true
	}
	return false
}
