package trust

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"hermes/internal/atomicfile"
	"hermes/internal/filestamp"
	"hermes/internal/text"
)

// Limits of the settings of one project.
const (
	maxFile  = 1 << 20 // bytes of one file
	maxAll   = 4 << 20 // bytes of all
	maxFiles = 256
	maxDeep  = 8 // folders below a hooks folder
)

// hermesFolder is where a folder of a project has its settings for Hermes.
const hermesFolder = ".hermes"

// collector reads the settings of the folders of a project.
type collector struct {
	finder Finder
	stamp  *Stamp
	files  []File
	size   int64
	faults []error
	unread []string // those of them that may have rules
}

// fault records what could not be read: a file or folder by its name in a folder of the project, or
// with the name "" that folder.
func (c *collector) fault(folder, name string, err error) {
	path := filepath.Join(folder, filepath.FromSlash(name))
	if name == "" || name == hermesFolder || name == Permissions {
		c.unread = append(c.unread, path)
	}
	c.faults = append(c.faults, fmt.Errorf("the project settings %s cannot be used: %w", text.VisibleName(path), err))
}

// at is where the collector is.
type at struct {
	root, folder string // of the project, and whose settings these are
	name         string // in the folder, with slashes
	open         *os.Root
}

func (a at) full() string { return filepath.Join(a.folder, filepath.FromSlash(a.name)) }

// folder reads the settings of one folder.
func (c *collector) folder(root, folder string) {
	found := false
	for _, name := range [...]string{hermesFolder, MCP, ".cursor"} {
		found = c.stamp.see(filepath.Join(folder, name), ofPlace) || found
	}
	if !found {
		return
	}
	open, err := atomicfile.OpenFolder(folder, false)
	if err != nil {
		c.fault(folder, "", err)
		return
	}
	defer open.Close()
	base := at{root: root, folder: folder, open: open}
	c.read(base.to(MCP, open))
	c.within(base, ".cursor", func(sub *os.Root) { c.read(base.to(CursorMCP, sub)) })
	if same(filepath.Join(folder, hermesFolder), c.finder.Own) {
		return // Hermes' own home
	}
	c.within(base, hermesFolder, func(sub *os.Root) {
		c.read(base.to(Permissions, sub))
		c.read(base.to(Config, sub))
		c.tree(base.to(Hooks, sub), 0)
	})
}

func (a at) to(name string, open *os.Root) at {
	a.name, a.open = name, open
	return a
}

// within opens a folder in another one, if it is there.
func (c *collector) within(a at, name string, do func(sub *os.Root)) {
	sub, err := atomicfile.OpenSub(a.open, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		// A file in its place holds no settings.
		if info, other := a.open.Lstat(name); other == nil && info.Mode().IsRegular() {
			return
		}
		c.fault(a.folder, name, plain(err))
		return
	}
	defer sub.Close()
	do(sub)
}

// tree reads all files of a folder.
func (c *collector) tree(a at, deep int) {
	full := a.full()
	if !c.stamp.see(full, ofContent) {
		return
	}
	sub, err := atomicfile.OpenSub(a.open, path.Base(a.name))
	if err != nil {
		c.fault(a.folder, a.name, plain(err))
		return
	}
	defer sub.Close()
	if deep > maxDeep {
		c.fault(a.folder, a.name, fmt.Errorf("it is deeper than %d folders", maxDeep))
		return
	}
	list, err := sub.Open(".")
	if err != nil {
		c.fault(a.folder, a.name, plain(err))
		return
	}
	entries, err := list.ReadDir(maxFiles + 1)
	list.Close()
	if err != nil && !errors.Is(err, io.EOF) {
		c.fault(a.folder, a.name, plain(err))
		return
	}
	if len(entries) > maxFiles {
		c.fault(a.folder, a.name, fmt.Errorf("it has more than %d files", maxFiles))
		return
	}
	for _, e := range entries {
		if next := a.to(path.Join(a.name, e.Name()), sub); e.IsDir() {
			c.tree(next, deep+1)
		} else {
			c.read(next)
		}
	}
}

// read reads one file, if it is there.
func (c *collector) read(a at) {
	full := a.full()
	if !c.stamp.see(full, ofContent) {
		return
	}
	content, program, err := c.content(a)
	if err != nil {
		c.fault(a.folder, a.name, plain(err))
		return
	}
	rel, err := filepath.Rel(a.root, full)
	if err != nil {
		c.fault(a.folder, a.name, err)
		return
	}
	c.files = append(c.files, File{Path: filepath.ToSlash(rel), Folder: a.folder, Name: a.name, Content: content, Program: program})
}

// content reads a regular file that does not change meanwhile.
func (c *collector) content(a at) (content []byte, program bool, err error) {
	if len(c.files) >= maxFiles {
		return nil, false, fmt.Errorf("the project has more than %d files of settings", maxFiles)
	}
	f, err := atomicfile.OpenFile(a.open, path.Base(a.name))
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	switch {
	case !before.Mode().IsRegular():
		return nil, false, errors.New("it is not a regular file")
	case before.Size() > maxFile:
		return nil, false, fmt.Errorf("it is larger than %s", text.Size(maxFile))
	case c.size+before.Size() > maxAll:
		return nil, false, fmt.Errorf("the settings of the project are larger than %s", text.Size(maxAll))
	}
	if content, err = io.ReadAll(io.LimitReader(f, maxFile+1)); err != nil {
		return nil, false, err
	}
	after, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if int64(len(content)) != before.Size() || filestamp.Of(before) != filestamp.Of(after) || !c.stamp.same(a.full(), before) {
		return nil, false, errors.New("it changed while it was read; try again")
	}
	c.size += before.Size()
	return content, before.Mode().Perm()&0o111 != 0, nil
}

// plain says what is wrong without the name of a system call.
func plain(err error) error {
	if errors.Is(err, atomicfile.ErrLink) {
		return errors.New("it is a link; settings of a project must be plain files in plain folders")
	}
	if onPath, ok := errors.AsType[*fs.PathError](err); ok {
		return onPath.Err
	}
	return err
}
