package prompt

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/policy"
)

// Files is Build's view of a file system. Paths are absolute; errors wrap
// fs.ErrNotExist where it applies. Build stops waiting for a method that takes
// too long and drops its result.
type Files interface {
	// Read reads a file. If root is not empty, it is the folder of a project
	// that may be a stranger's: a file outside it, also behind a link, and a file
	// that holds secrets are refused.
	Read(ctx context.Context, root, path string) ([]byte, error)
	// List returns the names in a folder, in any order.
	List(ctx context.Context, dir string) ([]string, error)
}

// Disk is the file system of this machine. Rules say which files hold secrets.
type Disk struct{ Rules policy.PathRules }

// largest is how much of a file is read; more is never shown.
const largest = 4 << 20

// Read returns a regular file's first 4 MiB. In a project it opens what it
// judged: a file or folder that becomes a link in between is refused, too.
func (d Disk) Read(_ context.Context, root, path string) ([]byte, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if root != "" {
		if err := d.inside(root, path, real); err != nil {
			return nil, err
		}
	}
	f, err := atomicfile.OpenPath(real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return io.ReadAll(io.LimitReader(f, largest))
}

// inside says why a file, whose path leads to real, must not be shown.
func (d Disk) inside(root, path, real string) error {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(rel) {
		return errors.New("it is a link that leads out of the project")
	}
	if d.Rules.Secret(path, real) {
		return errors.New("it leads to a file that holds secrets")
	}
	return nil
}

// List returns the names in a folder.
func (Disk) List(_ context.Context, dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// bounded gives up on a file system that does not answer, such as a lost network
// share.
type bounded struct {
	files Files
	limit time.Duration
}

const readTimeout = 5 * time.Second

var errSlow = errors.New("it took too long")

func (b bounded) Read(ctx context.Context, root, path string) ([]byte, error) {
	return within(ctx, b, func(ctx context.Context) ([]byte, error) { return b.files.Read(ctx, root, path) })
}

func (b bounded) List(ctx context.Context, dir string) ([]string, error) {
	return within(ctx, b, func(ctx context.Context) ([]string, error) { return b.files.List(ctx, dir) })
}

func within[T any](ctx context.Context, b bounded, look func(context.Context) (T, error)) (T, error) {
	var none T
	if b.files == nil {
		return none, fs.ErrNotExist
	}
	limit := b.limit
	if limit <= 0 {
		limit = readTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSlow)
	defer cancel()
	type outcome struct {
		found T
		err   error
	}
	done := make(chan outcome, 1)
	go func() { // nothing waits for a call that hangs; the channel holds its outcome
		found, err := look(ctx)
		done <- outcome{found, err}
	}()
	select {
	case o := <-done:
		return o.found, o.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
