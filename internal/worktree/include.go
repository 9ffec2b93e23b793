package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"hermes/internal/git"
	"hermes/internal/text"
)

// includeName is the file in a repository that lists, as .gitignore does, which of its
// ignored files a worktree gets.
const includeName = ".worktreeinclude"

// The limits of what is copied.
const (
	maxCopies     = 2000
	maxCopied     = 64 << 20 // bytes of all files
	maxCopiedFile = 16 << 20
	maxInclude    = 64 << 10
)

// include copies the ignored files that the user wants in each worktree. What is no regular file, is too
// large, or would replace a file is left out.
func (m *maker) include(ctx context.Context) error {
	info, err := os.Lstat(filepath.Join(m.top, includeName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxInclude {
		m.note("%s is not a small regular file; nothing was copied.", includeName)
		return nil
	}
	names, err := m.included(ctx)
	if err != nil {
		return fmt.Errorf("find what %s names: %w", includeName, err)
	}
	c := &copier{copied: map[string]string{}}
	if c.from, err = os.OpenRoot(m.top); err != nil {
		return err
	}
	defer c.from.Close()
	if c.to, err = os.OpenRoot(m.Path); err != nil {
		return err
	}
	defer c.to.Close()
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := c.copy(name); err != nil {
			c.skip(name, err)
		}
	}
	if err := m.unseen(ctx, c); err != nil {
		return err
	}
	m.Copied = c.copied
	if n := len(c.copied); n > 0 {
		m.note("Copied %s by %s: %s.", text.Plural(n, "ignored file", "ignored files"), includeName, some(sortedKeys(c.copied)))
	}
	if len(c.skipped) > 0 {
		m.note("Not copied: %s.", some(c.skipped))
	}
	return nil
}

// included returns the ignored files that the patterns match, with slashes.
func (m *maker) included(ctx context.Context) ([]string, error) {
	matched, err := m.list(ctx, m.top, "ls-files", "-z", "--others", "--ignored", "--exclude-from="+includeName)
	if err != nil {
		return nil, err
	}
	matched = slices.DeleteFunc(matched, func(name string) bool { return below(filepath.FromSlash(name), folderName) })
	if len(matched) > maxCopies {
		m.note("%s matches %d files; only the first %d were looked at.", includeName, len(matched), maxCopies)
		matched = matched[:maxCopies]
	}
	return m.ignored(ctx, m.top, matched)
}

// list runs git in a folder, and returns the names that it says.
func (m *maker) list(ctx context.Context, dir string, args ...string) ([]string, error) {
	g := m.git
	g.Dir = dir
	out, err := g.Run(ctx, args...)
	if err == nil && len(out) >= git.MaxOutput {
		err = errors.New("they match too many files")
	}
	return fields(out), err
}

// ignored returns those of some files of a work tree that git ignores there.
func (m *maker) ignored(ctx context.Context, top string, names []string) (ignored []string, err error) {
	for part := range slices.Chunk(names, 100) {
		some, err := m.list(ctx, top, slices.Concat([]string{"--literal-pathspecs", "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--"}, part)...)
		if err != nil {
			return nil, err
		}
		ignored = append(ignored, some...)
	}
	return ignored, nil
}

// unseen removes copies that git does not ignore in the worktree, such as those that a change of .gitignore hides which
// is not committed: somebody would commit them.
func (m *maker) unseen(ctx context.Context, c *copier) error {
	names := sortedKeys(c.copied)
	ignored, err := m.ignored(ctx, m.Path, names)
	if err != nil {
		return fmt.Errorf("find what is ignored in the worktree: %w", err)
	}
	for _, name := range names {
		if slices.Contains(ignored, name) {
			continue
		}
		if err := c.to.Remove(name); err != nil {
			return err
		}
		delete(c.copied, name)
		c.skip(name, errors.New("the last commit does not ignore it"))
	}
	return nil
}

// copier copies files from one folder into another, never through links out of them.
type copier struct {
	from, to *os.Root
	total    int64
	copied   map[string]string
	skipped  []string
}

func (c *copier) skip(name string, err error) {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	c.skipped = append(c.skipped, name+" ("+err.Error()+")")
}

func (c *copier) copy(name string) error {
	info, err := c.from.Lstat(name)
	if err != nil {
		return err
	}
	switch {
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case info.Size() > maxCopiedFile:
		return fmt.Errorf("larger than %s", text.Size(maxCopiedFile))
	case c.total+info.Size() > maxCopied:
		return fmt.Errorf("more than %s altogether", text.Size(maxCopied))
	}
	in, err := c.from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	if now, err := in.Stat(); err != nil || !os.SameFile(now, info) {
		return errors.Join(err, errors.New("it changed meanwhile"))
	}
	if dir := path.Dir(name); dir != "." {
		if err := c.to.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	out, err := c.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, sum), io.LimitReader(in, maxCopiedFile))
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, c.to.Remove(name))
	}
	c.total += n
	c.copied[name] = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// some names the first of a list.
func some(names []string) string {
	const most = 8
	out := ""
	for i, n := range names[:min(len(names), most)] {
		if i > 0 {
			out += ", "
		}
		out += text.Visible(n)
	}
	if more := len(names) - most; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}
