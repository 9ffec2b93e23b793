package reference

import (
	"context"
	"io"
	"io/fs"
	"path"
	"strings"

	"hermes"
)

// there is the disk of the machine or container where the commands of a session run. Paths have
// slashes.
type there struct {
	files hermes.Files
	dir   string
}

func (t there) absolute(p string) string {
	if !path.IsAbs(p) && p != "~" && !strings.HasPrefix(p, "~/") {
		p = t.dir + "/" + p // the folder may begin with ~
	}
	if full, err := t.files.Resolve(p); err == nil {
		return path.Clean(full)
	}
	return path.Clean(p)
}

func (t there) look(ctx context.Context, p string) Kind {
	st, err := t.files.Stat(ctx, p)
	switch {
	case err != nil:
		return ""
	case st.IsDir():
		return Folder
	}
	return File
}

func (t there) real(ctx context.Context, p string) (string, error) {
	if _, err := t.files.Stat(ctx, p); err != nil { // the file may be missing for RealPath
		return "", err
	}
	return t.files.RealPath(ctx, p)
}

func (there) below(folder, p string) bool {
	rest, ok := strings.CutPrefix(p, strings.TrimSuffix(folder, "/"))
	return ok && (rest == "" || rest[0] == '/')
}

func (t there) stat(ctx context.Context, p string) (fs.FileInfo, error) { return t.files.Stat(ctx, p) }

func (t there) open(ctx context.Context, real string) (io.ReadCloser, fs.FileInfo, error) {
	files := t.files
	if l, ok := files.(hermes.LinklessFiles); ok {
		files = l.NoLinks()
	}
	st, err := files.Stat(ctx, real)
	if err != nil || !st.Mode().IsRegular() { // opening a pipe would wait
		return io.NopCloser(strings.NewReader("")), st, err
	}
	f, err := files.Open(ctx, real)
	return f, st, err
}

func (t there) list(ctx context.Context, real string) ([]fs.DirEntry, error) {
	return t.files.List(ctx, real)
}
