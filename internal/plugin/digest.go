package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"hermes/internal/text"
)

const (
	maxFiles = 20_000
	maxBytes = 512 << 20 // of all files of a plugin
)

// Digest names the contents of the folder of a plugin: each file with its path, whether it may be
// run, and its bytes. Any change gives another one. Links are allowed if they stay in the folder;
// what is neither a file, a folder nor a link is an error.
func Digest(dir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	d := digest{root: root, dir: dir, sum: sha256.New()}
	if err := fs.WalkDir(root.FS(), ".", d.entry); err != nil {
		return "", fmt.Errorf("look at the files of the plugin: %w", err)
	}
	return hex.EncodeToString(d.sum.Sum(nil)), nil
}

// digest is a folder that is being read.
type digest struct {
	root  *os.Root
	dir   string
	sum   hash.Hash
	files int
	bytes int64
}

func (d *digest) entry(path string, e fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if d.files++; d.files > maxFiles {
		return fmt.Errorf("there are more than %d", maxFiles)
	}
	switch t := e.Type(); {
	case t.IsDir():
		fmt.Fprintf(d.sum, "folder %q\n", path)
		return nil
	case t&fs.ModeSymlink != 0:
		return d.link(path)
	case t.IsRegular():
		return d.file(path)
	}
	return fmt.Errorf("%q is neither a file nor a folder", text.Visible(path))
}

// link counts where a link leads, and refuses one that leaves the folder.
func (d *digest) link(path string) error {
	to, err := d.root.Readlink(filepath.FromSlash(path))
	if err != nil {
		return err
	}
	if filepath.IsAbs(to) {
		return fmt.Errorf("%q is a link to %q; a plugin holds its files itself", text.Visible(path), text.Visible(to))
	}
	if _, err := d.root.Stat(filepath.FromSlash(path)); err != nil { // follows no link out of the root
		return fmt.Errorf("%q is a link that leads nowhere in the plugin: %w", text.Visible(path), err)
	}
	fmt.Fprintf(d.sum, "link %q %q\n", path, filepath.ToSlash(to))
	return nil
}

func (d *digest) file(path string) error {
	f, err := d.root.Open(filepath.FromSlash(path))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("a file has changed meanwhile; try it again")
	}
	one := sha256.New()
	n, err := io.Copy(one, io.LimitReader(f, maxBytes-d.bytes+1))
	if err != nil {
		return err
	}
	if d.bytes += n; d.bytes > maxBytes {
		return fmt.Errorf("they are larger than %s together", text.Size(maxBytes))
	}
	fmt.Fprintf(d.sum, "file %q %v %x\n", path, info.Mode()&0o111 != 0, one.Sum(nil))
	return nil
}
