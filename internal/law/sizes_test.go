package law_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"testing"
)

// maxFields is how many fields a struct may have; an embedded one counts as one.
const maxFields = 15

// TestStructsStaySmall keeps the states of the packages that grow the fastest
// in parts: what has more fields holds several things.
func TestStructsStaySmall(t *testing.T) {
	t.Parallel()
	h := mustTree(t)
	for _, folder := range []string{"internal/session", "internal/app", "internal/tui"} {
		own := h.find(folder)
		if own == nil {
			t.Errorf("%s is not there: correct this test", folder)
			continue
		}
		for _, p := range append(h.below(folder), own) {
			for _, fault := range largeStructs(h.fset, p) {
				t.Error(fault)
			}
		}
	}
}

func largeStructs(fset *token.FileSet, p *pkg) []string {
	var faults []string
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			fields := 0
			for _, field := range s.Fields.List {
				fields += max(len(field.Names), 1)
			}
			if fields > maxFields {
				faults = append(faults, fmt.Sprintf("%s: a struct of %d fields; with more than %d, name its parts", fset.Position(s.Pos()), fields, maxFields))
			}
			return true
		})
	}
	return faults
}
