package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"hermes"
	"hermes/internal/document"
	"hermes/internal/policy"
)

// A location is a path given to a tool, with where it leads and what is there.
type location struct {
	files hermes.Files
	rules policy.PathRules
	path  string      // absolute, as asked for
	entry string      // with the links of its folder followed
	real  string      // with all links followed
	info  fs.FileInfo // nil when nothing is there
	here  bool        // its files are on this machine
	work  string      // the folder of the session; "" if its files are elsewhere
	// container says that its files are in a container, which runs nothing for the user.
	container bool
}

// locate finds where a path leads. It opens nothing, and does not even stat a
// path that is refused by its name, such as a device.
func (t *Toolset) locate(ctx context.Context, h hermes.Host, asked string) (location, error) {
	p, err := t.named(ctx, h, asked)
	if err != nil {
		return location{}, err
	}
	if err := p.follow(ctx); err != nil {
		return location{}, p.failure("reach", err)
	}
	return p, nil
}

// named is a location of which only the name is known.
func (t *Toolset) named(ctx context.Context, h hermes.Host, asked string) (location, error) {
	if strings.TrimSpace(asked) == "" {
		return location{}, errors.New("path is empty: name a file")
	}
	if strings.ContainsRune(asked, 0) {
		return location{}, errors.New("path contains a NUL character, which no file name can have")
	}
	p := location{files: linkless(h.Environment().Files())}
	home, err := p.files.Resolve("~")
	if err != nil {
		home = ""
	}
	p.rules = policy.PathRules{Home: home, SafeRoots: t.config.SafeRoots}
	onHost := false
	if host, ok := p.files.(hermes.HostFiles); ok {
		onHost = host.OnHost()
	}
	p.here = onHost
	if onHost { // elsewhere these are no paths
		p.rules.State, p.rules.Self, p.rules.Programs, p.rules.Links = t.config.State, t.config.Program, t.config.Path, t.config.Links
		p.work = workspace(ctx, h, p.files)
	} else {
		p.container = h.Environment().Describe(ctx).Isolation.Walls() == "container"
	}
	if onHost && t.config.State != "" {
		p.rules.RealState, _ = p.files.RealPath(ctx, t.config.State)
	}
	if p.path, err = p.files.Resolve(asked); err != nil {
		return location{}, err
	}
	if v := p.rules.Read(p.path); v.Deny && v.Key == "device" {
		return location{}, fmt.Errorf("%s: %s", p.path, v.Reason)
	}
	return p, nil
}

// follow finds what the path leads to, and the home folder, in one look where that takes time.
func (p *location) follow(ctx context.Context) error {
	home := p.rules.Home
	dir, name := splitPath(p.path)
	if l, ok := p.files.(hermes.LocatingFiles); ok {
		return locateAll(ctx, l, p)
	}
	if home != "" {
		p.rules.RealHome, _ = p.files.RealPath(ctx, home) // a missing folder protects nothing
	}
	var err error
	if p.real, err = realPath(ctx, p.files, p.path); err != nil {
		return err
	}
	if dir, err = realPath(ctx, p.files, dir); err != nil {
		return err
	}
	p.entry = joinPath(dir, name)
	if p.info, err = p.files.Stat(ctx, p.real); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// locateAll finds what locations with one home folder lead to, in one look.
func locateAll(ctx context.Context, files hermes.LocatingFiles, list ...*location) error {
	var asked []string
	for _, p := range list {
		asked = append(asked, p.path)
	}
	home := list[0].rules.Home
	if home != "" {
		asked = append(asked, home)
	}
	found, err := files.Locate(ctx, asked...)
	if err != nil {
		return err
	}
	for i, p := range list {
		if home != "" && found[len(list)].Info != nil { // a missing folder protects nothing
			p.rules.RealHome = found[len(list)].Real
		}
		_, name := splitPath(p.path)
		p.real, p.entry, p.info = found[i].Real, joinPath(found[i].Dir, name), found[i].Info
	}
	return nil
}

// linkless returns files that are opened and changed where they were judged: if a
// link takes the place of a folder after that, the change fails. Backends without
// them have plain files.
func linkless(files hermes.Files) hermes.Files {
	if l, ok := files.(hermes.LinklessFiles); ok {
		return l.NoLinks()
	}
	return files
}

// realPath resolves links, also if the last folders do not exist yet.
func realPath(ctx context.Context, files hermes.Files, p string) (string, error) {
	real, err := files.RealPath(ctx, p)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	dir, name := splitPath(p)
	if dir == p || dir == "" {
		return p, nil
	}
	parent, err := realPath(ctx, files, dir)
	if err != nil {
		return "", err
	}
	return joinPath(parent, name), nil
}

// isLink reports whether the path's last entry is a symbolic link.
func (p location) isLink(ctx context.Context) (bool, error) {
	if p.entry == p.real {
		return false, nil
	}
	// A link, or another spelling of the same name, as some disks have it.
	dir, base := splitPath(p.entry)
	entries, err := p.files.List(ctx, dir)
	if err != nil {
		return false, p.failure("reach", err)
	}
	for _, e := range entries {
		if e.Name() == base {
			return e.Type()&fs.ModeSymlink != 0, nil
		}
	}
	return false, nil
}

// splitPath and joinPath work on paths of this machine and of remote ones: a
// path that begins with a slash uses slashes throughout.
func splitPath(p string) (dir, name string) {
	if strings.HasPrefix(p, "/") {
		return path.Dir(p), path.Base(p)
	}
	return filepath.Dir(p), filepath.Base(p)
}

func joinPath(dir, name string) string {
	if strings.HasPrefix(dir, "/") {
		return path.Join(dir, name)
	}
	return filepath.Join(dir, name)
}

// short returns the path with slashes: relative if it is below the current
// folder, else absolute.
func (p location) short() string { return shorten(p.files, p.path) }

func shorten(files hermes.Files, path string) string {
	if here, err := files.Resolve("."); err == nil {
		if rest, ok := strings.CutPrefix(path, here); ok && strings.TrimLeft(rest, `/\`) != rest {
			path = strings.TrimLeft(rest, `/\`)
		}
	}
	return filepath.ToSlash(path)
}

func (p location) readVerdict() policy.PathVerdict { return p.rules.Read(p.path, p.real) }

// writeVerdict judges all names of the file: a link is deleted and replaced where
// it is, and written where it leads.
func (p location) writeVerdict() policy.PathVerdict {
	v := p.rules.Write(p.path, p.entry, p.real)
	if p.container && !v.Deny {
		return policy.PathVerdict{}
	}
	if !v.Deny && !v.Once && p.outsideProgram() {
		return policy.PathVerdict{Ask: true, Once: true, Key: "program", Reason: "changes a program outside of the workspace"}
	}
	return v
}

// outsideProgram reports whether an executable file is there that is not of the workspace: the
// user, or a program of the user, may run it, and it would keep its mode.
func (p location) outsideProgram() bool {
	if p.work == "" || p.info == nil || !p.info.Mode().IsRegular() || p.info.Mode()&0o111 == 0 {
		return false
	}
	rel, err := filepath.Rel(p.work, p.real)
	return err != nil || !filepath.IsLocal(rel)
}

// workspace is the folder of a session with links followed.
func workspace(ctx context.Context, h hermes.Host, files hermes.Files) string {
	dir := h.Session().Dir
	if dir == "" {
		dir, _ = files.Resolve(".")
	}
	if real, err := files.RealPath(ctx, dir); err == nil {
		return real
	}
	return dir
}

// checkReadable refuses what must not or cannot be read as text.
func (p location) checkReadable(ctx context.Context) error {
	if v := p.readVerdict(); v.Deny {
		return fmt.Errorf("%s: %s", p.path, v.Reason)
	}
	if p.info == nil {
		return p.notFound(ctx)
	}
	switch mode := p.info.Mode(); {
	case mode.IsDir():
		return fmt.Errorf("%s is a folder: list it with search_files, target files", p.path)
	case mode&fs.ModeNamedPipe != 0:
		return fmt.Errorf("%s is a pipe, and reading it would wait for a writer: use the terminal tool if that is what you want", p.path)
	case mode&fs.ModeSocket != 0:
		return fmt.Errorf("%s is a socket, which cannot be read as a file", p.path)
	}
	return refuseByName(p.path)
}

// checkWritable refuses paths that may never be written, paths that are not
// regular files, and read-only files. A write replaces a file by renaming
// another over it, which would ignore its read-only mode.
func (p location) checkWritable() error {
	if p.info != nil && p.info.IsDir() {
		return fmt.Errorf("%s is a folder: name a file in it", p.path)
	}
	if v := p.writeVerdict(); v.Deny {
		return fmt.Errorf("%s: %s", p.path, v.Reason)
	}
	if p.info == nil {
		return nil
	}
	switch mode := p.info.Mode(); {
	case !mode.IsRegular():
		return fmt.Errorf("%s is a pipe, a socket or a device, not a regular file: choose another path", p.path)
	case mode&0o222 == 0:
		return fmt.Errorf("%s is read-only and was not changed: choose another path, or ask the user whether it may be changed", p.path)
	}
	return nil
}

// open returns the text of a readable location, extracted where the format
// needs it. Binary content is refused. The caller closes the reader.
func (p location) open(ctx context.Context) (io.ReadCloser, error) {
	f, err := p.files.Open(ctx, p.real)
	if err != nil {
		return nil, p.failure("read", err)
	}
	if extract := document.Extractor(p.path); extract != nil {
		defer f.Close()
		text, err := extract(ctx, f, p.info.Size())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.path, err)
		}
		return io.NopCloser(strings.NewReader(text)), nil
	}
	body, err := refuseBinary(p.path, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	if !p.info.Mode().IsRegular() {
		body = io.LimitReader(body, maxSpecial)
	}
	return struct {
		io.Reader
		io.Closer
	}{body, f}, nil
}

// maxSpecial bounds what is read of a file whose size is unknown.
const maxSpecial = 1 << 20

// text reads a whole file in order to change it. exists is false if there is
// no file.
func (p location) text(ctx context.Context) (text string, exists bool, err error) {
	if p.info == nil {
		return "", false, nil
	}
	if p.info.Size() > maxChanged {
		return "", true, fmt.Errorf("%s has %d bytes, more than the %d this tool can change: use the terminal tool", p.path, p.info.Size(), maxChanged)
	}
	f, err := p.files.Open(ctx, p.real)
	if err != nil {
		return "", true, p.failure("read", err)
	}
	defer f.Close()
	var out strings.Builder // one copy of the file, not two
	out.Grow(int(p.info.Size()))
	if _, err := io.Copy(&out, io.LimitReader(f, maxChanged)); err != nil {
		return "", true, p.failure("read", err)
	}
	return out.String(), true, nil
}

// head reads the beginning of a file that is not read whole, as far as that is possible.
func (p location) head(ctx context.Context) string {
	f, err := p.files.Open(ctx, p.real)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, headSize))
	if err != nil {
		return ""
	}
	return string(head)
}

// maxChanged bounds the files that are changed, in bytes.
const maxChanged = 64 << 20

// failure turns a file system error into a text for the model.
func (p location) failure(doing string, err error) error {
	switch {
	case errors.Is(err, hermes.ErrLink):
		return fmt.Errorf("a part of %s became a symbolic link after the path was checked, so that nothing was done: look at the folder, then try again", p.path)
	case errors.Is(err, fs.ErrNotExist) && doing == "write":
		return fmt.Errorf("cannot write %s: its folder is gone, or it is a link into a folder that does not exist; choose another path", p.path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s not found: it has just disappeared, look for it with search_files", p.path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("no permission to %s %s: choose another path, or ask the user to change its permissions", doing, p.path)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s cannot exist: a part of that path is a file, not a folder", p.path)
	case diskFull(err):
		return fmt.Errorf("the disk is full: %s was not written and is as it was before. Free some space, then try again", p.path)
	}
	return fmt.Errorf("cannot %s %s: %w", doing, p.path, err)
}

// notFound reports a missing file and names similar ones.
func (p location) notFound(ctx context.Context) error {
	dir, name := splitPath(p.path)
	there, _ := splitPath(p.entry)
	entries, err := p.files.List(ctx, there)
	if err != nil {
		return fmt.Errorf("%s not found, and its folder does not exist: look for it with search_files, target files", p.path)
	}
	similar := similarNames(name, entries)
	if len(similar) == 0 {
		return fmt.Errorf("%s not found: look for it with search_files, target files", p.path)
	}
	for i, n := range similar {
		similar[i] = joinPath(dir, n)
	}
	return fmt.Errorf("%s not found. Similar files: %s", p.path, strings.Join(similar, ", "))
}
