package law_test

import (
	"go/ast"
	"path"
	"strings"
	"testing"
)

// TestWhatIsBuiltIsListed catches the forgotten line: a tool, transport or hook that compiles,
// passes its tests, and is in no list.
func TestWhatIsBuiltIsListed(t *testing.T) {
	t.Parallel()
	h := mustTree(t)
	for _, point := range []struct{ folder, list string }{
		{"internal/tool", "internal/app"},
		{"internal/hook", "internal/app"},
		{"internal/memory/external", "internal/app"},
		{"internal/platform", "internal/app"},
		{"internal/store", "internal/app"},
		{"internal/transport", "internal/provider"}, // but internal/transport/base, which all of them share
		{"internal/cmd", "internal/cmd"},
	} {
		for _, fault := range unlisted(h, point.folder, point.list) {
			t.Error(fault)
		}
	}
}

// unlisted returns the packages below folder whose constructor the list does not call.
func unlisted(h *moduleTree, folder, list string) []string {
	below := h.below(folder)
	if len(below) == 0 {
		return nil
	}
	composer := h.find(list)
	if composer == nil {
		return []string{folder + " has packages, but " + list + ", which lists them, does not exist"}
	}
	var faults []string
	for _, p := range below {
		if p.path != transportBase && !constructs(composer, module+"/"+p.path) {
			faults = append(faults, p.path+" is built but in no list: call its constructor in "+list)
		}
	}
	return faults
}

// constructs reports whether a package calls a New… function of the one with this import path.
func constructs(p *pkg, importPath string) bool {
	for _, f := range p.files {
		for _, spec := range f.Imports {
			if spec.Path.Value != `"`+importPath+`"` {
				continue
			}
			name := path.Base(importPath)
			if spec.Name != nil {
				name = spec.Name.Name
			}
			if callsNew(f, name) {
				return true
			}
		}
	}
	return false
}

func callsNew(f *ast.File, name string) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return !found
		}
		x, ok := sel.X.(*ast.Ident)
		found = found || ok && x.Name == name && constructor(sel.Sel.Name)
		return !found
	})
	return found
}

// constructor reports whether a name is that of a constructor: New…, or Open for a store.
func constructor(name string) bool {
	return strings.HasPrefix(name, "New") || name == "Open"
}
