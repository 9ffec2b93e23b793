package environment

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// clean returns the variables of a command that runs outside: those that the program
// began with, without what commands exported and without what makes programs load or run
// other code. PATH loses the folders that commands can write.
func (l *Local) clean() []string {
	written := l.written()
	var kept []string
	for _, v := range Variables(l.config) {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case loadsCode(name):
		case name == "PATH":
			kept = append(kept, "PATH="+safePath(value, written))
		default:
			kept = append(kept, v)
		}
	}
	return kept
}

// written lists the folders that commands can write, with links followed.
func (l *Local) written() []string {
	folders := []string{l.config.Dir, cmp.Or(l.config.Temp, os.TempDir())}
	if b, ok := l.config.Walls.(Bounds); ok {
		_, more := b.Bounds()
		folders = append(folders, more...)
	}
	var real []string
	for _, f := range folders {
		if f, err := filepath.EvalSymlinks(f); err == nil {
			real = append(real, f)
		}
	}
	return real
}

// loadsCode reports whether programs load or run what the variable names.
func loadsCode(name string) bool {
	switch name {
	case "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR",
		"SSH_ASKPASS", "PERL5OPT", "PERL5LIB", "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "NODE_OPTIONS", "NODE_PATH", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "LESSOPEN", "MAKEFLAGS":
		return true
	}
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "GIT_CONFIG")
}

// safePath removes from a PATH what is not an absolute folder that exists, and folders in
// which a command could have put a program.
func safePath(list string, written []string) string {
	var kept []string
	for _, folder := range filepath.SplitList(list) {
		real, err := filepath.EvalSymlinks(folder)
		if err != nil || !filepath.IsAbs(folder) || slices.ContainsFunc(written, func(w string) bool { return below(real, w) }) {
			continue
		}
		kept = append(kept, folder)
	}
	return strings.Join(kept, string(filepath.ListSeparator))
}

// below reports whether a path is a folder or in it. Both are clean.
func below(path, folder string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator)))
	return ok && (rest == "" || rest[0] == filepath.Separator)
}
