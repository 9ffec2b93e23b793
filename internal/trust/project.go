package trust

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"hermes/internal/order"
)

// The settings of a folder, by their paths in it.
const (
	Permissions = ".hermes/permissions.yaml"
	Config      = ".hermes/config.yaml"
	Hooks       = ".hermes/hooks" // a folder; all files in it count
	MCP         = ".mcp.json"
	CursorMCP   = ".cursor/mcp.json"
)

// Project is the settings that hold in a folder, as they were read once. The caller
// must not change it.
type Project struct {
	// Root is the top folder of the project. Dir is the deepest folder that has
	// settings; it names the project in the store, because other folders of the same
	// repository may have other settings.
	Root, Dir string
	// Files are in the order of their paths.
	Files []File
	// Unread are the files and folders that could not be read and may have rules, so that it is not
	// known what the project denies.
	Unread []string
	// Hash is the SHA-256 of the paths, lengths and contents, in hex; "" if not all
	// could be read.
	Hash string
	// Stamp says whether the files are still the same.
	Stamp *Stamp
}

// File is one file of a project's settings.
type File struct {
	// Path is below the root, with slashes. Folder is the absolute folder whose
	// settings it is, and Name its path in that, such as [Permissions].
	Path, Folder, Name string
	// Content is what was hashed.
	Content []byte
	// Program says that the file may be executed.
	Program bool
}

// Empty reports whether there are no settings.
func (p Project) Empty() bool { return len(p.Files) == 0 }

// Named returns the files with a name, such as [Permissions], from the top folder down.
func (p Project) Named(name string) []File {
	files := slices.DeleteFunc(slices.Clone(p.Files), func(f File) bool { return f.Name != name })
	order.By(files, func(a, b File) int { return len(a.Folder) - len(b.Folder) })
	return files
}

// File returns the file at a path below the root.
func (p Project) File(path string) (File, bool) {
	i := slices.IndexFunc(p.Files, func(f File) bool { return f.Path == path })
	if i < 0 {
		return File{}, false
	}
	return p.Files[i], true
}

// CopyOf reports whether the settings are those of another project whose files were copied from
// one folder to another, such as from a repository to a worktree of it: all files are there and the same, and there
// are no others.
func (p Project) CopyOf(of Project, copied, from string) bool {
	if p.Hash == "" || of.Hash == "" || of.Empty() {
		return false
	}
	same := func(a, b File, folder string) bool {
		return a.Name == b.Name && folder == b.Folder && a.Program == b.Program && bytes.Equal(a.Content, b.Content)
	}
	in := func(f File) (folder string, ok bool) { // where a copied file comes from
		rel, err := filepath.Rel(copied, f.Folder)
		return filepath.Join(from, rel), err == nil && within(f.Folder, copied)
	}
	found := map[string]bool{}
	for _, f := range p.Files {
		folder, isCopy := in(f)
		if !isCopy {
			folder = f.Folder // above both
		}
		i := slices.IndexFunc(of.Files, func(g File) bool { return same(f, g, folder) })
		if i < 0 {
			return false
		}
		if isCopy || !within(f.Folder, from) {
			found[of.Files[i].Path] = true
		}
	}
	return len(found) == len(of.Files)
}

func within(folder, dir string) bool {
	rel, err := filepath.Rel(dir, folder)
	return err == nil && filepath.IsLocal(rel)
}

// hashOf sorts files and returns the hash of all.
func hashOf(files []File) string {
	order.By(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	sum := sha256.New()
	for _, f := range files {
		fmt.Fprintf(sum, "%d %s %t %d\n", len(f.Path), f.Path, f.Program, len(f.Content))
		sum.Write(f.Content)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
