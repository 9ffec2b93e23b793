// Package git asks git about the repository of a folder, for the references of a message
// and the state that a session reports, and changes it for worktrees. The settings of a repository, which may be a
// stranger's, start no program. Only Change and Fetch change anything.
//
// The package starts git on this machine, or has it started where the folder is. It does not know who asks, and does not mask
// what git says. Start at Repository.
package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes/internal/proc"
)

// Repository is the repository that a folder is in, if it is in one. Its methods may be
// called concurrently.
type Repository struct {
	Dir string // the folder
	// Env returns the whole environment of git, as NAME=value; nil is an empty one. Variables that lead git to
	// another repository or index, as a hook of git has, are left out.
	Env func() []string
	// Files are open files that git gets.
	Files []*os.File
	// Guard ends git if this process is killed; nil does not.
	Guard *proc.Guard
	// Inside readies a sandbox for git: it returns what starts git, nil for as usual, and
	// its environment. Nil is no sandbox.
	Inside func(ctx context.Context, env []string) (proc.Launcher, []string, error)
	// There runs a line of a POSIX shell in the folder, if that is not on this machine. Then no
	// other field is used.
	There func(ctx context.Context, line string, out, complaints io.Writer) (code int, err error)

	options    []string // of git, before those of each call
	filtersOff bool     // in a place elsewhere, see filtersOffThere
}

// longest bounds one call: a file that git reads may be a pipe.
const longest = 20 * time.Second

// Run runs a git command that only reads, and returns its output as valid UTF-8. If git
// fails, the error is the first line of what it says. It takes at most 20 s. Nothing is fetched:
// what a partial clone lacks is an error.
func (r Repository) Run(ctx context.Context, args ...string) (string, error) {
	env := r.Env
	r.Env = func() []string { return with(env, fetchNothing...) }
	return r.run(ctx, longest, append([]string{"-c", "core.pager=cat", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-optional-locks"}, args...))
}

// fetchNothing are the variables with which git fetches nothing by itself: a repository's settings
// could name the program that does.
var fetchNothing = []string{"GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0"}

// run runs git with these arguments for a limited time.
func (r Repository) run(ctx context.Context, longest time.Duration, args []string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, longest, errors.New("git takes too long"))
	defer cancel()
	out, complaints := output{limit: MaxOutput}, output{limit: 4 << 10} // what a program of the repository prints is no result
	code, err := r.start(ctx, slices.Concat(r.options, args), &out, &complaints)
	if err != nil {
		return "", fmt.Errorf("run git: %w", err)
	}
	if code != 0 {
		line, _, _ := strings.Cut(complaints.String(), "\n")
		return "", errors.New(cmp.Or(strings.TrimSpace(line), fmt.Sprintf("git ended with status %d", code)))
	}
	return out.String(), nil
}

// start runs git with these arguments.
func (r Repository) start(ctx context.Context, args []string, out, complaints io.Writer) (code int, err error) {
	if r.There != nil {
		line := "unset GIT_DIR GIT_WORK_TREE GIT_EXTERNAL_DIFF GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT; export " + strings.Join(fetchNothing, " ") + "; exec git"
		if r.filtersOff {
			line = strings.TrimSuffix(line, "exec git") + filtersOffThere
		}
		for _, a := range args {
			line += " '" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		return r.There(ctx, line, out, complaints)
	}
	var env []string
	if r.Env != nil {
		env = slices.DeleteFunc(slices.Clone(r.Env()), elsewhere)
	}
	var launcher proc.Launcher
	if r.Inside != nil {
		if launcher, env, err = r.Inside(ctx, env); err != nil {
			return 0, err
		}
	}
	st, err := proc.Run(ctx, proc.Command{
		Path: "git", Args: args, Dir: r.Dir, Env: env, Files: r.Files, Guard: r.Guard, Launcher: launcher, Stdout: out, Stderr: complaints,
	})
	return st.Code, err
}

// elsewhere reports whether a variable leads git away from the repository of its folder.
func elsewhere(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return slices.Contains([]string{
		"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE",
		"GIT_PREFIX", "GIT_IMPLICIT_WORK_TREE", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_REPLACE_REF_BASE",
	}, name)
}

// MaxOutput is how much of the output of git is kept, in bytes: no message may have more.
const MaxOutput = 16 << 20

// output keeps the first bytes that are written to it.
type output struct {
	text  bytes.Buffer
	limit int
}

func (o *output) String() string { return strings.ToValidUTF8(o.text.String(), "\uFFFD") }

// Write never fails, so that git goes on.
func (o *output) Write(p []byte) (int, error) {
	o.text.Write(p[:min(len(p), o.limit-o.text.Len())])
	return len(p), nil
}

// Changes is Run for the commands that show changes, such as diff and log. They have
// settings of their own that could start a program. Work trees of submodules are left out: git would obey
// their settings, too. The filters of all settings are off, see Diff.
func (r Repository) Changes(ctx context.Context, args ...string) (string, error) {
	r, err := r.Unfiltered(ctx)
	if err != nil {
		return "", err
	}
	return r.Run(ctx, append(args, "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty")...)
}

// Exists reports whether the folder or one of its parents is a repository. It runs
// nothing, and says yes for a folder that is not on this machine.
func (r Repository) Exists() bool { return r.There != nil || Root(r.Dir) != "" }

// Root returns the nearest of a folder and its parents that has a repository, "" if none
// has. It runs nothing.
func Root(dir string) string {
	for range 64 {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return ""
}
