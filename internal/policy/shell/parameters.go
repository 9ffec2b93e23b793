package shell

import (
	"slices"
	"strconv"
	"strings"
)

// changesShell judges builtins that change what later commands of the line see:
// positional parameters and variables. It reports false for other programs.
func (j *judge) changesShell(name string, rest []string) bool {
	switch name {
	case "set":
		j.setParameters(rest)
	case "shift":
		j.shiftParameters(rest)
	case "unset":
		for _, a := range plainWords(rest) {
			if dynamic(a) {
				j.forget()
				continue
			}
			j.set(a, exactly(""))
		}
	case "export", "declare", "local", "typeset", "readonly", "nameref":
		for _, a := range rest {
			j.declareWord(name, a)
		}
	case "let":
		for _, a := range rest {
			if at := strings.IndexAny(a, "+-*/%=<>&|^ "); at > 0 {
				j.set(a[:at], exactly(filled))
			}
		}
	default:
		return false
	}
	for _, a := range rest {
		j.indexText(a)
	}
	j.hiddenTexts(name, rest)
	return true
}

// setParameters judges set: what follows its options are the new parameters.
func (j *judge) setParameters(rest []string) {
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		switch {
		case a == "--":
			j.parameters(rest[i+1:])
			return
		case a == "-o" || a == "+o":
			i++
		case len(a) > 1 && (a[0] == '-' || a[0] == '+'):
			if strings.HasSuffix(a, "o") {
				i++
			}
		default:
			j.parameters(rest[i:])
			return
		}
	}
}

func (j *judge) parameters(list []string) {
	j.params, j.open = slices.Clone(list), ""
	if len(list) > maxWords || len(strings.Join(list, "")) > maxText || slices.ContainsFunc(list, func(a string) bool { return strings.Contains(a, several[1:]) }) {
		j.params, j.open = nil, unknown
	}
	j.changes++
}

func (j *judge) shiftParameters(rest []string) {
	n := 1
	if len(rest) > 0 {
		var err error
		if n, err = strconv.Atoi(rest[0]); err != nil {
			n = -1
		}
	}
	if n < 0 || n > len(j.params) {
		if j.open == "" && n > len(j.params) {
			return // the shell refuses it
		}
		j.params, j.open = nil, unknown
		j.changes++
		return
	}
	j.params = j.params[n:]
	j.changes++
}
