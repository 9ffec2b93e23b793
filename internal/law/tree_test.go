package law_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "hermes"

// pkg is one folder with Go files. Test files are skipped, because a test may know more than
// the code that it tests.
type pkg struct {
	path  string // relative to the module root, with slashes; "." is the root
	files []*ast.File
	names []string // file names, beside files
}

// moduleTree is the parsed tree.
type moduleTree struct {
	fset *token.FileSet
	pkgs []*pkg
}

// tree parses every Go file of the module once for all tests of this package.
var tree = sync.OnceValues(func() (*moduleTree, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	return parseTree(os.DirFS(root))
})

func mustTree(t *testing.T) *moduleTree {
	t.Helper()
	h, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func mustRoot(t *testing.T) string {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// moduleRoot walks up from the test's folder to go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fs.ErrNotExist
		}
		dir = up
	}
}

func parseTree(root fs.FS) (*moduleTree, error) {
	h := &moduleTree{fset: token.NewFileSet()}
	byPath := map[string]*pkg{}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipDir(name)
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(h.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		p := byPath[dir]
		if p == nil {
			p = &pkg{path: dir}
			byPath[dir] = p
			h.pkgs = append(h.pkgs, p)
		}
		p.files = append(p.files, file)
		p.names = append(p.names, name)
		return nil
	})
	slices.SortFunc(h.pkgs, func(a, b *pkg) int { return strings.Compare(a.path, b.path) })
	return h, err
}

// skipDir skips the folders that the go command skips.
func skipDir(name string) error {
	base := path.Base(name)
	if name == "." {
		return nil
	}
	if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	return nil
}

// find returns the package in folder, or nil.
func (tree *moduleTree) find(folder string) *pkg {
	for _, p := range tree.pkgs {
		if p.path == folder {
			return p
		}
	}
	return nil
}

// below returns the packages under folder, at any depth, without folder itself.
func (tree *moduleTree) below(folder string) []*pkg {
	var found []*pkg
	for _, p := range tree.pkgs {
		if strings.HasPrefix(p.path, folder+"/") {
			found = append(found, p)
		}
	}
	return found
}

// imports lists what the package imports, each path once, sorted.
func (p *pkg) imports() []string {
	var all []string
	for _, f := range p.files {
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err == nil {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// inModule turns an import path into a folder of this module.
func inModule(importPath string) (folder string, ok bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

// thirdParty reports whether an import is neither ours nor the standard library's.
func thirdParty(importPath string) bool {
	if _, ok := inModule(importPath); ok {
		return false
	}
	first, _, _ := strings.Cut(importPath, "/")
	return strings.Contains(first, ".")
}
