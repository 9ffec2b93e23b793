package environment

import (
	"errors"
	"io"
	"net/url"
	"path/filepath"
	"runtime"
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
	l.remember(hostPath(dir), vars, r.extra)
}

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
	text, whole := strings.CutSuffix(strings.TrimRight(string(b), "\r\n"), endOfState)
	if !whole { // the shell was ended while it wrote, or the disk is full
		return "", errors.New("the state file is incomplete")
	}
	return text, nil
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
