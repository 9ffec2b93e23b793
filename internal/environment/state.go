package environment

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// maxState is the most that is read of a state file.
const maxState = 4 << 20

// endOfState is the last line of a state file; keep.sh and keep.ps1 write it.
const endOfState = "#end"

// keep stores the folder and variables that a command left behind. A command
// without a state file, such as one that was killed, changes nothing.
func (l *Local) keep(r *run) {
	if r.state == nil {
		return
	}
	text, err := readState(r.state)
	r.state.close()
	if errors.Is(err, errTooLarge) {
		r.note("the folder and the variables of this command are not kept: it exports more than 4 MB")
	}
	if err != nil {
		return
	}
	vars := parseState(text)
	dir := vars["PWD"]
	delete(vars, "PWD")
	for _, extra := range r.extra { // set for this command only
		name, value, _ := strings.Cut(extra, "=")
		if vars[name] == value {
			delete(vars, name)
		}
	}
	if lost := l.bounded(vars); len(lost) > 0 {
		r.note("not kept for later commands, because no program can start with so much: " + listed(lost))
	}
	l.remember(hostPath(dir), vars, r.extra)
}

var errTooLarge = errors.New("the state file is too large")

func readState(from *handed) (string, error) {
	f, err := from.open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxState))
	if err != nil {
		return "", err
	}
	if len(b) == maxState {
		return "", errTooLarge
	}
	text, whole := strings.CutSuffix(strings.TrimRight(string(b), "\r\n"), endOfState)
	if !whole { // the shell was ended while it wrote, or the disk is full
		return "", errors.New("the state file is incomplete")
	}
	return text, nil
}

// The bounds of what is remembered. The kernel starts no program with a variable of more than
// 128 KB, or with more than a few MB of variables.
const (
	maxVariable  = 128<<10 - 1 // with its name
	maxVariables = 1 << 20
)

// bounded takes out of variables what would keep later commands from starting, the largest first,
// and returns the names. Those that the session has already stay as they were.
func (l *Local) bounded(vars map[string]string) (lost []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := make(map[string]string, len(l.env))
	for _, v := range l.env {
		name, value, _ := strings.Cut(v, "=")
		before[name] = value
	}
	size := func(name string) int { return len(name) + len(vars[name]) + 2 }
	total := 0
	var changed []string
	for name, value := range vars {
		total += size(name)
		if was, ok := before[name]; !ok || was != value {
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
		if was, ok := before[name]; ok {
			vars[name] = was
			total += size(name)
		}
	}
	return lost
}

// maxLost is how many names a note lists.
const maxLost = 5

func listed(names []string) string {
	text := strings.Join(names[:min(len(names), maxLost)], ", ")
	if more := len(names) - maxLost; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// remember replaces the folder and the variables of the session. Existing
// variables keep their order.
func (l *Local) remember(dir string, vars map[string]string, extra []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if filepath.IsAbs(dir) {
		l.dir = filepath.Clean(dir)
	}
	env := make([]string, 0, len(vars))
	for _, old := range l.env {
		name, _, _ := strings.Cut(old, "=")
		value, ok := vars[name]
		switch {
		case ok:
			env = append(env, name+"="+value)
			delete(vars, name)
		case name == "SHLVL" || name == "_" || named(extra, name):
			env = append(env, old)
		}
	}
	for _, name := range sortedNames(vars) {
		env = append(env, name+"="+vars[name])
	}
	l.env = env
}

func named(vars []string, name string) bool {
	for _, v := range vars {
		if n, _, _ := strings.Cut(v, "="); n == name {
			return true
		}
	}
	return false
}

// hostPath converts the /c/… of a POSIX shell on Windows to C:\….
func hostPath(dir string) string {
	if runtime.GOOS != "windows" || len(dir) < 2 || dir[0] != '/' {
		return dir
	}
	if len(dir) == 2 || dir[2] == '/' {
		return strings.ToUpper(dir[1:2]) + `:\` + filepath.FromSlash(strings.TrimPrefix(dir[2:], "/"))
	}
	return dir
}

// parseState parses a state file: the output of export -p from a POSIX shell, or
// NAME=value lines with escaped values from PowerShell. It leaves out variables
// that belong to a single shell.
func parseState(text string) map[string]string {
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
