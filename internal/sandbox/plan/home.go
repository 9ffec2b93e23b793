package plan

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"hermes/internal/atomicfile"
	"hermes/internal/sandbox/gitguard"
)

// file is one file of a private home.
type file struct {
	folder, name string // the folder is below the home; "." is the home itself
	text         []byte
	mode         fs.FileMode
}

// maxCopied bounds a file of the user that is copied.
const maxCopied = 1 << 20

// privateHome decides what is in the private home: who the user is for git, and which
// hosts ssh knows. Nothing in it runs a program.
func (p *planner) privateHome() {
	var config []byte
	for _, at := range []string{filepath.Join(p.xdgConfig(), "git", "config"), filepath.Join(p.home0, ".gitconfig")} {
		config = append(config, gitguard.Harmless(small(at))...)
	}
	p.files = append(p.files, file{".", ".gitconfig", config, 0o600})
	if hosts := small(filepath.Join(p.home0, ".ssh", "known_hosts")); len(hosts) > 0 {
		p.files = append(p.files, file{".ssh", "known_hosts", hosts, 0o400})
	}
}

func (p *planner) xdgConfig() string {
	if dir := p.variable("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(p.home0, ".config")
}

// small reads a regular file up to a bound.
func small(at string) []byte {
	info, err := os.Stat(at)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCopied {
		return nil
	}
	text, err := os.ReadFile(at)
	if err != nil {
		return nil
	}
	return text
}

// Prepare makes the private folders of a plan, and the files in the private home that
// are not as they should be. Programs of an earlier session could write everywhere in
// these folders, so no link in them is followed.
func (p Plan) Prepare() error {
	if err := p.prepare(); err != nil {
		return fmt.Errorf("make the private folders of the sandbox: %w", err)
	}
	return nil
}

func (p Plan) prepare() error {
	root, err := atomicfile.OpenFolder(p.private.root, true)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, at := range []string{p.private.temp, p.private.home, p.private.cache} {
		dir, err := own(root, filepath.Base(at))
		if err != nil {
			return err
		}
		dir.Close()
	}
	home, err := own(root, filepath.Base(p.private.home))
	if err != nil {
		return err
	}
	defer home.Close()
	for _, f := range p.files {
		if err := f.write(home); err != nil {
			return err
		}
	}
	return nil
}

// own opens a folder of ours, in place of whatever else has its name.
func own(at *os.Root, name string) (*os.Root, error) {
	info, err := at.Lstat(name)
	if err == nil && !info.IsDir() {
		if err := at.Remove(name); err != nil {
			return nil, err
		}
	}
	if err != nil || !info.IsDir() {
		if err := at.Mkdir(name, 0o700); err != nil {
			return nil, err
		}
		if info, err = at.Lstat(name); err != nil {
			return nil, err
		}
	}
	if info.Mode().Perm()&0o700 != 0o700 { // a program closed it
		if err := at.Chmod(name, 0o700); err != nil {
			return nil, err
		}
	}
	dir, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := dir.Stat("."); err != nil || !os.SameFile(info, now) {
		dir.Close()
		return nil, fmt.Errorf("%s was replaced while it was opened: end programs that use it", name)
	}
	return dir, nil
}

// write writes the file if it is not as it should be.
func (f file) write(home *os.Root) error {
	dir := home
	if f.folder != "." {
		sub, err := own(home, f.folder)
		if err != nil {
			return err
		}
		defer sub.Close()
		dir = sub
	}
	info, err := dir.Lstat(f.name)
	if err == nil && info.Mode().IsRegular() && info.Size() == int64(len(f.text)) && same(dir, f.name, f.text) {
		return nil
	}
	if err == nil {
		if err := dir.RemoveAll(f.name); err != nil {
			return err
		}
	}
	return atomicfile.WriteIn(dir, f.name, f.text, atomicfile.Options{Mode: f.mode})
}

func same(dir *os.Root, name string, text []byte) bool {
	f, err := dir.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	is, err := io.ReadAll(io.LimitReader(f, int64(len(text))+1))
	return err == nil && bytes.Equal(is, text)
}
