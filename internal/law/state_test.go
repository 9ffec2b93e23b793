package law_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strings"
	"testing"
)

// readsEnvironment lists the packages that may read the process environment and its flags.
// All others get values, so that tests and two profiles in one process can differ.
func readsEnvironment(folder string) bool {
	switch folder {
	case "internal/config", "internal/app", "internal/setup", "internal/cmd", "hermescmd", "cmd/hermes":
		return true
	}
	return strings.HasPrefix(folder, "internal/cmd/") || strings.HasPrefix(folder, "bench/")
}

// environmentReaders are the functions of package os that law 6 is about.
var environmentReaders = map[string]bool{
	"Getenv": true, "LookupEnv": true, "Environ": true, "ExpandEnv": true, "Setenv": true, "Unsetenv": true, "Clearenv": true,
}

func TestEnvironmentIsReadInFewPlaces(t *testing.T) {
	t.Parallel()
	h := mustTree(t)
	for _, p := range h.pkgs {
		if readsEnvironment(p.path) {
			continue
		}
		for _, fault := range environmentUses(h.fset, p) {
			t.Error(fault)
		}
	}
}

func environmentUses(fset *token.FileSet, p *pkg) []string {
	var faults []string
	for _, name := range p.imports() {
		if name == "flag" {
			faults = append(faults, p.path+" imports flag: only the commands parse flags")
		}
	}
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "os" && environmentReaders[sel.Sel.Name] {
				faults = append(faults, fset.Position(sel.Pos()).String()+": os."+sel.Sel.Name+
					" belongs in config, app, setup or cmd; hand the value in instead")
			}
			return true
		})
	}
	return faults
}

func TestNothingHappensInInit(t *testing.T) {
	t.Parallel()
	h := mustTree(t)
	for _, p := range h.pkgs {
		for _, fault := range initFuncs(h.fset, p) {
			t.Error(fault)
		}
	}
}

func initFuncs(fset *token.FileSet, p *pkg) []string {
	var faults []string
	for _, f := range p.files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				faults = append(faults, fset.Position(fn.Pos()).String()+": no init: every command pays for it; build the value in app and hand it down")
			}
		}
	}
	return faults
}

func TestNoPackageVariableIsWritten(t *testing.T) {
	t.Parallel()
	h := mustTree(t)
	for _, p := range h.pkgs {
		for _, fault := range writtenVariables(h.fset, p) {
			t.Error(fault)
		}
	}
}

// noImports lets go/types resolve the names of one package without loading any other.
type noImports struct{}

func (noImports) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

// writtenVariables finds assignments to package variables and to what they hold.
func writtenVariables(fset *token.FileSet, p *pkg) []string {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	// Names of other packages stay unresolved; those of this one, and their scopes, are exact.
	conf := types.Config{Importer: noImports{}, Error: func(error) {}}
	checked, _ := conf.Check(p.path, fset, p.files, info)

	var faults []string
	report := func(target ast.Expr) {
		id := root(target)
		if id == nil {
			return
		}
		v, ok := info.Uses[id].(*types.Var)
		if ok && v.Parent() == checked.Scope() {
			faults = append(faults, fset.Position(id.Pos()).String()+": package variable "+id.Name+
				" is written: put it into a struct that someone owns")
		}
	}
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			for _, target := range written(n) {
				report(target)
			}
			return true
		})
	}
	return faults
}

// written lists what a statement assigns to.
func written(n ast.Node) []ast.Expr {
	switch s := n.(type) {
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE {
			return s.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{s.X}
	case *ast.RangeStmt:
		if s.Tok == token.ASSIGN {
			return []ast.Expr{s.Key, s.Value}
		}
	case *ast.CallExpr:
		fn, ok := s.Fun.(*ast.Ident)
		if ok && (fn.Name == "delete" || fn.Name == "clear") && len(s.Args) > 0 {
			return s.Args[:1]
		}
	}
	return nil
}

// root finds the variable below fields, elements and pointers.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}
