package prompt

import (
	"context"
	"errors"
	"io"
	"path"
	"path/filepath"
	"strings"

	"hermes"
	"hermes/internal/policy"
)

// There is the file system of the machine or container where commands run. The user's own
// files, such as SOUL.md, are read from this machine.
type There struct {
	Own   Disk
	Files hermes.Files
	Rules policy.PathRules // which files hold secrets there
}

// Read returns a regular file's first 4 MiB; a file of no project is read from this machine.
func (t There) Read(ctx context.Context, root, name string) ([]byte, error) {
	if root == "" {
		return t.Own.Read(ctx, root, name)
	}
	root, name = filepath.ToSlash(root), filepath.ToSlash(name) // joined as on this machine
	real, err := t.Files.RealPath(ctx, name)
	if err != nil {
		return nil, err
	}
	if root, err = t.Files.RealPath(ctx, root); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(path.Clean(real), strings.TrimSuffix(root, "/")+"/") {
		return nil, errors.New("it is a link that leads out of the project")
	}
	if t.Rules.Secret(name, real) {
		return nil, errors.New("it leads to a file that holds secrets")
	}
	files := t.Files
	if l, ok := files.(hermes.LinklessFiles); ok { // what is opened is what was judged
		files = l.NoLinks()
	}
	if info, err := files.Stat(ctx, real); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := files.Open(ctx, real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, largest))
}

// List returns the names in a folder there.
func (t There) List(ctx context.Context, dir string) ([]string, error) {
	entries, err := t.Files.List(ctx, filepath.ToSlash(dir))
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}
