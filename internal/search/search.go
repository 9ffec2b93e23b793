package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/order"
)

// A Query says what to look for and where.
type Query struct {
	// Root is the absolute path of a folder or file, in which no part is a link. What
	// becomes a link meanwhile, here or below, is not searched.
	Root string
	// Lines finds lines in files; nil finds files only by Name.
	Lines *Matcher
	// Name limits the files, by a path relative to Root.
	Name Glob
	// Hidden includes names that begin with a dot. A Name with such a segment
	// implies it. The .git folder is never entered, unless Root is in it.
	Hidden bool
	// Context is the number of lines kept around a match.
	Context int
	// CountOnly keeps no lines, only the number of matches in each file.
	CountOnly bool
	// Omit, if set, reports files to skip and count.
	Omit func(path string) bool
	// MaxLines bounds the matches kept, MaxFiles the files; 0 is 10,000.
	MaxLines, MaxFiles int
}

// A File is a file that was found.
type File struct {
	Path    string
	ModTime time.Time
	Lines   []Line // the matches, in order
	Matches int    // number of matching lines
}

// A Line is a matching line. Long lines are cut to a window around the match.
type Line struct {
	Number        int // from 1
	Text          string
	Before, After []string
}

// Found is the outcome of a search.
type Found struct {
	Files   []File // newest first, then by path
	Matches int    // matching lines in all files searched
	Omitted int    // files skipped by Omit
	// Partial says that a bound was reached or ctx ended, so there may be more.
	Partial bool
	Denied  int // folders and files that could not be read
}

const maxKept = 10_000

// Search runs a query with as many workers as the machine has processors. If
// ctx ends, it returns what was found so far, marked as partial. The error is
// only about Root.
func Search(ctx context.Context, q Query) (Found, error) {
	q.MaxLines = cmp.Or(q.MaxLines, maxKept)
	q.MaxFiles = cmp.Or(q.MaxFiles, maxKept)
	q.Hidden = q.Hidden || q.Name.Hidden()
	c := &collector{query: &q}
	if err := start(ctx, &q, c); err != nil {
		return Found{}, err
	}
	c.found.Partial = c.found.Partial || ctx.Err() != nil
	order.By(c.found.Files, func(a, b File) int {
		if !a.ModTime.Equal(b.ModTime) {
			return b.ModTime.Compare(a.ModTime)
		}
		return strings.Compare(a.Path, b.Path)
	})
	return c.found, nil
}

// start searches the query's root, a folder or a file.
func start(ctx context.Context, q *Query, c *collector) error {
	root, err := atomicfile.OpenFolder(q.Root, false)
	if err == nil {
		return walk(ctx, root, q, c)
	}
	dir, name := filepath.Split(q.Root)
	above, noFolder := atomicfile.OpenFolder(dir, false)
	if noFolder != nil {
		return err
	}
	h, noFolder := newHandle(above, dir)
	if noFolder != nil {
		return noFolder
	}
	defer h.drop()
	f, _, noFile := h.open(name)
	if errors.Is(noFile, errNotRegular) {
		return fmt.Errorf("%s is not a folder or a regular file", q.Root)
	}
	if noFile != nil {
		return err
	}
	f.Close()
	newWorker(q, c).file(ctx, place{h, name, q.Root}, name)
	return nil
}

// A collector collects what the workers find, within the query's bounds.
type collector struct {
	query *Query
	mu    sync.Mutex
	found Found
	kept  int // lines
}

// full reports whether a bound was reached.
func (c *collector) full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.found.Partial
}

func (c *collector) add(f File) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.found.Files) >= c.query.MaxFiles || c.kept >= c.query.MaxLines {
		c.found.Partial = true
		return
	}
	if free := c.query.MaxLines - c.kept; len(f.Lines) > free {
		f.Lines = f.Lines[:free]
		c.found.Partial = true
	}
	c.kept += len(f.Lines)
	c.found.Matches += f.Matches
	c.found.Files = append(c.found.Files, f)
}

func (c *collector) omit() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found.Omitted++
}

func (c *collector) denied() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found.Denied++
}
