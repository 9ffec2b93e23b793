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
		return j.home() + rest
	case name == "root":
		return "/root" + rest
	case name == "" || strings.ContainsAny(name, "+-"):
		return text
	}
	return path.Join(path.Dir(j.context.Home), name) + rest
}

func (j *judge) home() string {
	if home, ok := j.vars["HOME"]; ok {
		return home
	}
	return j.context.Home
}

// parameter returns the value of $name, also of the forms with a default.
func (j *judge) parameter(p *syntax.ParamExp) string {
	if p.Param == nil || p.Excl || p.Length || p.Index != nil || p.Slice != nil || p.Repl != nil {
		return unknown
	}
	value, known := j.value(p.Param.Value)
	if p.Exp == nil {
		return value
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if !known || value == "" {
			return j.word(p.Exp.Word)
		}
		return value
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return j.word(p.Exp.Word)
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return value
	}
	return unknown
}

func (j *judge) value(name string) (string, bool) {
	if v, ok := j.vars[name]; ok {
		return v, true
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
		return " ", true
	case "@", "*": // empty in a shell without arguments
		return "", true
	case "PPID":
		if j.context.PID > 0 {
			return strconv.Itoa(j.context.PID), true
		}
	case "HERMES_HOME":
		return j.context.Hermes, true
	}
	return unknown, false
}

// substituted returns the output of $(…), or a mark for its kind.
func (j *judge) substituted(list []*syntax.Stmt) string {
	if j.depth >= maxDepth {
		return unknown
	}
	j.depth++
	defer func() { j.depth-- }()
	if len(list) == 1 {
		if c, ok := list[0].Cmd.(*syntax.CallExpr); ok && len(list[0].Redirs) == 0 {
			if text, ok := j.printed(c, input{}); ok {
				return strings.TrimRight(text, "\n")
			}
		}
	}
	for _, s := range list {
		for _, name := range commandNames(s) {
			switch {
			case isDownload(name):
				return fromDownload
			case name == "pgrep" || name == "pidof" || name == "lsof" || name == "ps":
				return fromSearch
			}
		}
	}
	return unknown
}
