package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
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
	slices.SortFunc(files, func(a, b File) int { return len(a.Folder) - len(b.Folder) })
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

// hashOf sorts files and returns the hash of all.
func hashOf(files []File) string {
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	sum := sha256.New()
	for _, f := range files {
		fmt.Fprintf(sum, "%d %s %t %d\n", len(f.Path), f.Path, f.Program, len(f.Content))
		sum.Write(f.Content)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
