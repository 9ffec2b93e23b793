package remote

import (
	"io"
	"path"
	"strings"

	"hermes/internal/shellstate"
)

// current is the remembered folder.
func (e *Environment) current(f *facts) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return absolute(f.home, joined(f.dir, e.dir))
}

// absolute replaces ~ in a path that is absolute otherwise.
func absolute(home, dir string) string {
	if dir == "~" || strings.HasPrefix(dir, "~/") {
		dir = home + dir[1:]
	}
	return path.Clean("/" + dir)
}

// variables are those of the next command.
func (e *Environment) variables(f *facts) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.env == nil {
		vars := map[string]string{}
		for _, v := range append(f.environ[:len(f.environ):len(f.environ)], e.extra...) {
			name, value, _ := strings.Cut(v, "=")
			vars[name] = value
		}
		e.env = shellstate.Merge(nil, vars, nil)
	}
	return e.env // replaced as a whole, never changed
}

// exports is the shell text that turns the place's own variables into those of a command.
func (e *Environment) exports(f *facts, extra []string) string {
	own := make(map[string]string, len(f.environ))
	for _, v := range f.environ {
		name, value, _ := strings.Cut(v, "=")
		own[name] = value
	}
	var b strings.Builder
	for _, v := range append(append([]string(nil), e.variables(f)...), extra...) {
		name, value, _ := strings.Cut(v, "=")
		was, is := own[name]
		delete(own, name)
		if is && was == value || !settable(name) {
			continue
		}
		b.WriteString("export " + name + "=" + shellstate.Quote(value) + "\n")
	}
	for _, v := range f.environ {
		name, _, _ := strings.Cut(v, "=")
		if _, still := own[name]; still && settable(name) {
			b.WriteString("unset " + name + "\n")
		}
	}
	return b.String()
}

// settable reports whether every shell can export a name. Bash has some that cannot be
// changed; a shell sets others itself for each connection.
func settable(name string) bool {
	switch name {
	case "UID", "EUID", "PPID", "BASHOPTS", "SHELLOPTS", "BASH_VERSINFO", "BASHPID", "PWD", "SHLVL", "_", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "":
		return false
	}
	return !strings.HasPrefix(name, "__hermes") && (name[0] < '0' || name[0] > '9') && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
}

// keep stores the folder and the variables that a command left behind. A command that was
// killed, or that replaced its shell, left none.
// Notes go to what the command printed, and extra was set for it only.
func (e *Environment) keep(notes io.Writer, extra []string, text string) {
	if len(text) >= shellstate.Max {
		note(notes, shellstate.NoteTooLarge)
		return
	}
	state, whole := shellstate.Whole(text)
	if !whole {
		return
	}
	vars := shellstate.Parse(state)
	dir := vars["PWD"]
	delete(vars, "PWD")
	shellstate.Without(vars, extra)
	e.mu.Lock()
	lost := shellstate.Bound(e.env, vars)
	if path.IsAbs(dir) {
		e.dir = path.Clean(dir)
	}
	e.env = shellstate.Merge(e.env, vars, extra)
	e.mu.Unlock()
	if len(lost) > 0 {
		note(notes, shellstate.NoteLost(lost))
	}
}
