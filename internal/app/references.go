package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"hermes"
	"hermes/internal/environment"
	"hermes/internal/policy"
	"hermes/internal/proc"
	"hermes/internal/reference"
)

// Limits of what a reference attaches.
const (
	maxReferenced = 2 << 20 // bytes of a file
	maxListed     = 200     // entries of a folder
)

// References expands the references of a message, relative to a working folder.
// tell, if set, is called with a sentence about each slow step as it starts.
func (a *App) References(ctx context.Context, text, dir, model string, tell func(string)) (reference.Expanded, error) {
	r := references{app: a, dir: dir, tell: tell}
	return reference.Expand(ctx, text, reference.Sources{File: r.file, Folder: r.folder, Git: r.git, URL: r.page, Session: r.session}, a.window(model))
}

// references reads the files of one working folder.
type references struct {
	app  *App
	dir  string
	tell func(string) // may be nil
}

var errOutsideFolder = errors.New("it is outside the working folder and is not attached")

// resolve resolves a path, links included. It refuses files outside the working
// folder and files that may contain secrets.
func (r references) resolve(path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.dir, path)
	}
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

func (r references) file(_ context.Context, path string, from, to int) (string, error) {
	real, err := r.resolve(path)
	if err != nil {
		return "", err
	}
	st, err := os.Stat(real)
	switch {
	case err != nil:
		return "", err
	case st.IsDir():
		return "", fmt.Errorf("it is a folder; write @folder:%s", path)
	case !st.Mode().IsRegular():
		return "", errors.New("it is not a regular file")
	}
	f, err := os.Open(real)
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxReferenced))
	if err != nil {
		return "", err
	}
	if bytes.IndexByte(raw, 0) >= 0 || len(raw) < maxReferenced && !utf8.Valid(raw) {
		return "", errors.New("it is not a text file and is not attached")
	}
	return r.app.Mask(cutLines(strings.ToValidUTF8(string(raw), ""), from, to)), nil
}

// cutLines keeps the lines from "from" to "to", counted from 1; 0 means no limit.
func cutLines(text string, from, to int) string {
	if from == 0 {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	if from > len(lines) {
		return ""
	}
	if to == 0 || to > len(lines) {
		to = len(lines)
	}
	return strings.Join(lines[from-1:to], "")
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
