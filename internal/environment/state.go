package environment

import (
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"strings"

	"hermes/internal/shellstate"
)

// keep stores the folder and variables that a command left behind. A command
// without a state file, such as one that was killed, changes nothing. keep.sh and
// keep.ps1 write the file.
func (l *Local) keep(r *run) {
	if r.state == nil {
		return
	}
	text, err := readState(r.state)
	r.state.close()
	if errors.Is(err, errTooLarge) {
		r.note(shellstate.NoteTooLarge)
	}
	if err != nil {
		return
	}
	vars := shellstate.Parse(text)
	dir := hostPath(vars["PWD"])
	delete(vars, "PWD")
	shellstate.Without(vars, r.extra) // set for this command only
	l.mu.Lock()
	lost := shellstate.Bound(l.env, vars)
	if filepath.IsAbs(dir) {
		l.dir = filepath.Clean(dir)
	}
	l.env = shellstate.Merge(l.env, vars, r.extra)
	l.mu.Unlock()
	if len(lost) > 0 {
		r.note(shellstate.NoteLost(lost))
	}
}

var errTooLarge = errors.New("the state file is too large")

func readState(from *handed) (string, error) {
	f, err := from.open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, shellstate.Max))
	if err != nil {
		return "", err
	}
	if len(b) == shellstate.Max {
		return "", errTooLarge
	}
	text, whole := shellstate.Whole(string(b))
	if !whole {
		return "", errors.New("the state file is incomplete")
	}
	return text, nil
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
