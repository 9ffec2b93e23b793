// Package shellstate reads what a shell writes when it ends, its folder and its exported
// variables, and decides what of that the next shell begins with. It takes and returns
// text; it runs no shell and knows nothing of environments. What it reads is not trusted:
// nothing that it contains makes a func panic. Scripts that work in a place also have from it
// how a word is quoted and what the mode of a file says. Start reading at Parse.
package shellstate

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Max is the most that is read of a shell's state.
const Max = 4 << 20

// End is the last line of a whole state. Without it the shell was ended while it wrote,
// or the disk is full.
const End = "#end"

// Whole returns a state without its last line. It reports false if that line is missing.
func Whole(text string) (string, bool) {
	return strings.CutSuffix(strings.TrimRight(text, "\r\n"), End)
}

// Parse parses a state: the output of export -p from a POSIX shell, or NAME=value lines
// with escaped values from PowerShell. The folder is PWD. It leaves out variables that
// belong to a single shell.
func Parse(text string) map[string]string {
	vars := make(map[string]string, 64)
	r := wordReader{text: strings.TrimPrefix(text, "\ufeff")}
	for !r.end() {
		for i, word := range r.statement() {
			name, value, ok := strings.Cut(word, "=")
			if !ok || !isName(name) || name == "SHLVL" || name == "_" || strings.HasPrefix(name, "__hermes") {
				continue
			}
			if i == 0 {
				value, _ = url.PathUnescape(value)
			}
			vars[name] = value
		}
	}
	return vars
}

// The bounds of what is remembered. The kernel starts no program with a variable of more than
// 128 KB, or with more than a few MB of variables.
const (
	maxVariable  = 128<<10 - 1 // with its name
	maxVariables = 1 << 20
)

// Bound takes out of variables what would keep later commands from starting, the largest first,
// and returns the names. Those in before, as NAME=value, stay as they were.
func Bound(before []string, vars map[string]string) (lost []string) {
	was := make(map[string]string, len(before))
	for _, v := range before {
		name, value, _ := strings.Cut(v, "=")
		was[name] = value
	}
	size := func(name string) int { return len(name) + len(vars[name]) + 2 }
	total := 0
	var changed []string
	for name, value := range vars {
		total += size(name)
		if old, ok := was[name]; !ok || old != value {
			changed = append(changed, name)
		}
	}
	slices.SortFunc(changed, func(a, b string) int { return cmp.Or(size(b)-size(a), strings.Compare(a, b)) })
	for _, name := range changed {
		if size(name) <= maxVariable && total <= maxVariables {
			break
		}
		lost = append(lost, name)
		total -= size(name)
		delete(vars, name)
		if old, ok := was[name]; ok {
			vars[name] = old
			total += size(name)
		}
	}
	return lost
}

// The notes that a command gets.
const (
	// NoteTooLarge says that nothing of a command is kept.
	NoteTooLarge = "the folder and the variables of this command are not kept: it exports more than 4 MB"
	noteLost     = "not kept for later commands, because no program can start with so much: "
	maxLost      = 5 // how many names a note lists
)

// NoteLost says which variables are not kept.
func NoteLost(names []string) string {
	text := noteLost + strings.Join(names[:min(len(names), maxLost)], ", ")
	if more := len(names) - maxLost; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Without deletes what was set for one command only, as NAME=value, unless the command
// changed it.
func Without(vars map[string]string, extra []string) {
	for _, v := range extra {
		name, value, _ := strings.Cut(v, "=")
		if vars[name] == value {
			delete(vars, name)
		}
	}
}

// Merge returns the variables of the next command, as NAME=value: those of vars, and of
// before what a single shell has or what extra had covered. Variables of before keep their
// order.
func Merge(before []string, vars map[string]string, extra []string) []string {
	env := make([]string, 0, len(vars))
	used := make(map[string]bool, len(vars))
	for _, old := range before {
		name, _, _ := strings.Cut(old, "=")
		value, ok := vars[name]
		switch {
		case used[name]:
		case ok:
			env = append(env, name+"="+value)
			used[name] = true
		case name == "SHLVL" || name == "_" || named(extra, name):
			env = append(env, old)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if !used[name] {
			env = append(env, name+"="+vars[name])
		}
	}
	return env
}

func named(vars []string, name string) bool {
	return slices.ContainsFunc(vars, func(v string) bool {
		n, _, _ := strings.Cut(v, "=")
		return n == name
	})
}

// Quote quotes s as one word for a POSIX shell.
func Quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
