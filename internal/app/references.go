package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/environment"
	"hermes/internal/policy"
	"hermes/internal/proc"
	"hermes/internal/reference"
)

// Limits of what a reference attaches and looks at.
const (
	maxReferenced = 2 << 20 // bytes of a file
	maxListed     = 200     // entries of a folder
	maxNames      = 10_000  // entries of a folder in which a name is looked for
)

// References expands the references of a message, relative to a working folder.
// tell, if set, is called with a sentence about each slow step as it starts.
func (a *App) References(ctx context.Context, text, dir, model string, tell func(string)) (reference.Expanded, error) {
	r := references{app: a, dir: dir, tell: tell}
	return reference.Expand(ctx, text, reference.Sources{
		Look: r.look, File: r.file, Folder: r.folder, Git: r.git, Untracked: r.untracked, URL: r.page, Session: r.session,
	}, a.window(model))
}

// references reads the files of one working folder.
type references struct {
	app  *App
	dir  string
	tell func(string) // may be nil
}

// absolute returns the path that a reference means.
func (r references) absolute(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if home, err := os.UserHomeDir(); err == nil {
			path = home + rest
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.dir, path)
	}
	return path
}

// look reports what a word of a message leads to, if it is a path.
func (r references) look(path string) reference.Kind {
	if strings.HasPrefix(path, `\\`) || strings.HasPrefix(path, "//") {
		return "" // Windows would log in to the machine that it names
	}
	path = r.absolute(path)
	st, err := os.Stat(path)
	switch {
	case err != nil || !sameCase(path):
		return ""
	case st.IsDir():
		return reference.Folder
	}
	return reference.File
}

// sameCase reports whether a folder has an entry with exactly the path's name.
// Where the disk does not tell case apart, @Test would be the folder test.
func sameCase(path string) bool {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return true
	}
	defer dir.Close()
	names, err := dir.Readdirnames(maxNames)
	if err != nil || slices.Contains(names, filepath.Base(path)) {
		return true
	}
	return !slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, filepath.Base(path)) })
}

var errOutsideFolder = errors.New("it is outside the working folder and is not attached")

// resolve resolves a path, links included. It refuses files outside the working
// folder and files that may contain secrets.
func (r references) resolve(path string) (string, error) {
	path = r.absolute(path)
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", errors.New("there is no such file")
	} else if err != nil {
		return "", err
	}
	root, err := filepath.EvalSymlinks(r.dir)
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(root, real); err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", errOutsideFolder
	}
	h, err := r.app.Home()
	if err != nil {
		return "", err
	}
	userHome, _ := os.UserHomeDir() // without one, fewer folders are protected; file names still are
	if v := pathRules(userHome, h.Root()).Read(path, real); !v.Allowed() {
		return "", errors.New("it may contain secrets and is not attached")
	}
	return real, nil
}

// pathRules protects the user's home and Hermes' own, also where they are links.
func pathRules(home, state string) policy.PathRules {
	r := policy.PathRules{Home: home, State: state}
	r.RealHome, _ = filepath.EvalSymlinks(home) // a missing folder protects nothing
	r.RealState, _ = filepath.EvalSymlinks(state)
	return r
}

func (r references) folder(_ context.Context, path string) (string, error) {
	real, err := r.resolve(path)
	if err != nil {
		return "", err
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, e := range entries {
		if i == maxListed {
			fmt.Fprintf(&b, "and %d more\n", len(entries)-maxListed)
			break
		}
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		b.WriteString(name + "\n")
	}
	return b.String(), nil
}

func (r references) git(ctx context.Context, args ...string) (string, error) {
	text, err := r.run(ctx, append(args, "--no-ext-diff", "--no-textconv", "--no-color")...)
	return r.app.Mask(text), err
}

// run runs git so that the repository's settings cannot start programs and nothing
// is changed.
func (r references) run(ctx context.Context, args ...string) (string, error) {
	cfg, err := r.app.config()
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	st, err := proc.Run(ctx, proc.Command{
		Path: "git", Args: append([]string{"-c", "core.pager=cat", "-c", "core.fsmonitor=false", "--no-optional-locks"}, args...),
		Dir: r.dir, Env: environment.Variables(r.app.variables(cfg)), Files: r.app.mark().Files(), Stdout: &out, Stderr: &out,
	})
	if err != nil {
		return "", fmt.Errorf("run git: %w", err)
	}
	text := strings.ToValidUTF8(out.String(), "\uFFFD")
	if st.Code != 0 {
		return "", errors.New(strings.TrimSpace(firstLine(text)))
	}
	return text, nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// session returns the messages of an earlier session, without tool results.
func (r references) session(ctx context.Context, ref string) (string, error) {
	store, err := r.app.Store(ctx)
	if err != nil {
		return "", err
	}
	row, err := store.FindSession(ctx, ref)
	if errors.Is(err, hermes.ErrNotFound) {
		return "", errors.New("there is no such session")
	} else if err != nil {
		return "", err
	}
	list, err := store.Messages(ctx, row.ID, hermes.Range{})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, m := range list {
		if text := m.Visible(); text != "" && m.Role != hermes.RoleTool {
			fmt.Fprintf(&b, "%s: %s\n", m.Role, text)
		}
	}
	return b.String(), nil
}
