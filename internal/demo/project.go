package demo

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hermes/internal/patch"
)

//go:embed project
var files embed.FS

// Project creates the sample project in dir, which must exist. It refuses to overwrite existing files.
func Project(dir string) error {
	return eachFile(func(name string, content []byte) error {
		target := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return fmt.Errorf("create the sample project: %w", err)
		}
		f, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return fmt.Errorf("create the sample project: %w", err)
		}
		_, err = f.Write(content)
		if closing := f.Close(); err == nil {
			err = closing
		}
		return err
	})
}

// Diff returns the changes in dir since Project as one unified diff, or "" without changes. It ignores
// new files.
func Diff(dir string) (string, error) {
	var all strings.Builder
	err := eachFile(func(name string, content []byte) error {
		now, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return fmt.Errorf("compare the sample project: %w", err)
		}
		if !bytes.Equal(now, content) {
			all.WriteString(patch.Unified("a/"+name, "b/"+name, string(content), string(now)))
		}
		return nil
	})
	return all.String(), err
}

// eachFile visits the files of the embedded project in the order of their names.
func eachFile(visit func(name string, content []byte) error) error {
	root, err := fs.Sub(files, "project")
	if err != nil {
		return err
	}
	return fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		return visit(name, content)
	})
}
