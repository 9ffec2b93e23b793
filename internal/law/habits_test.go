package law_test

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	t.Parallel()
	for _, p := range mustTree(t).pkgs {
		documented := slices.ContainsFunc(p.files, func(f *ast.File) bool { return f.Doc != nil })
		if !documented {
			t.Errorf("%s has no package comment: say what it owns, what it must not know, and where to start reading", p.path)
		}
	}
}

// TestChildrenAreStartedByProc keeps processes in groups that end whole. The benchmarks measure
// processes and are exempt.
func TestChildrenAreStartedByProc(t *testing.T) {
	t.Parallel()
	h := mustTree(t)
	for _, p := range h.pkgs {
		if p.path == "internal/proc" || strings.HasPrefix(p.path, "bench/") {
			continue
		}
		for _, fault := range startsChildren(h.fset, p) {
			t.Error(fault)
		}
	}
}

func startsChildren(fset *token.FileSet, p *pkg) []string {
	var faults []string
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if ok && (x.Name == "exec" && strings.HasPrefix(sel.Sel.Name, "Command") || x.Name == "os" && sel.Sel.Name == "StartProcess") {
				faults = append(faults, fset.Position(sel.Pos()).String()+
					": internal/proc alone starts processes, so that none is left behind")
			}
			return true
		})
	}
	return faults
}

// TestClientsComeFromHTTPC keeps the rule for redirects, which protects keys, in one place. The
// guard of web pages takes its rule from the caller, and logins follow no redirect.
func TestClientsComeFromHTTPC(t *testing.T) {
	t.Parallel()
	h := mustTree(t)
	for _, p := range h.pkgs {
		switch p.path {
		case "internal/httpc", "internal/netguard", "internal/oauth":
			continue
		}
		if strings.HasPrefix(p.path, "bench/") || strings.HasPrefix(p.path, "hermestest") {
			continue
		}
		for _, fault := range ownClients(h.fset, p) {
			t.Error(fault)
		}
	}
}

func ownClients(fset *token.FileSet, p *pkg) []string {
	var faults []string
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			var at ast.Expr
			switch n := n.(type) {
			case *ast.CompositeLit:
				at = n.Type
			case *ast.SelectorExpr:
				switch n.Sel.Name {
				case "DefaultClient", "Get", "Head", "Post", "PostForm":
					at = n
				}
			}
			sel, ok := at.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if _, made := n.(*ast.CompositeLit); made && sel.Sel.Name != "Client" {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "http" {
				faults = append(faults, fset.Position(sel.Pos()).String()+
					": internal/httpc makes the HTTP clients, so that no key follows a redirect to another server")
			}
			return true
		})
	}
	return faults
}

// TestChildrenAreMarked keeps a new place that starts children from forgetting what tells a program
// that an agent started it.
func TestChildrenAreMarked(t *testing.T) {
	t.Parallel()
	h := mustTree(t)
	for _, p := range h.pkgs {
		for _, fault := range unmarked(h.fset, p) {
			t.Error(fault)
		}
	}
}

// unmarked finds commands without the files of a mark.
func unmarked(fset *token.FileSet, p *pkg) []string {
	var faults []string
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			c, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if sel, ok := c.Type.(*ast.SelectorExpr); ok && sel.Sel.Name == "Command" && isName(sel.X, "proc") && !hasKey(c, "Files") {
				faults = append(faults, fset.Position(c.Pos()).String()+
					": set Files, and the variables in Env, from a lineage.Mark; nil if no agent starts it")
			}
			return true
		})
	}
	return faults
}

func isName(e ast.Expr, name string) bool {
	x, ok := e.(*ast.Ident)
	return ok && x.Name == name
}

func hasKey(c *ast.CompositeLit, name string) bool {
	return slices.ContainsFunc(c.Elts, func(e ast.Expr) bool {
		pair, ok := e.(*ast.KeyValueExpr)
		return ok && isName(pair.Key, name)
	})
}

// TestLazyExpressionsAreValid compiles every expression of lazy.Regexp, which would fail only
// when it is first used.
func TestLazyExpressionsAreValid(t *testing.T) {
	t.Parallel()
	h, all := mustTree(t), 0
	for _, p := range h.pkgs {
		n, faults := lazyExpressions(h.fset, p)
		all += n
		for _, fault := range faults {
			t.Error(fault)
		}
	}
	if all < 100 {
		t.Errorf("only %d expressions were found", all)
	}
}

// lazyExpressions counts the calls of lazy.Regexp in a package and reports expressions that are
// not valid, or not constant.
func lazyExpressions(fset *token.FileSet, p *pkg) (n int, faults []string) {
	var calls []*ast.CallExpr
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 {
				if sel, ok := call.Fun.(*ast.SelectorExpr); ok && isName(sel.X, "lazy") && sel.Sel.Name == "Regexp" {
					calls = append(calls, call)
				}
			}
			return true
		})
	}
	if len(calls) == 0 {
		return 0, nil
	}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: noImports{}, Error: func(error) {}} // constants need no other package
	_, _ = config.Check(p.path, fset, p.files, &info)
	for _, call := range calls {
		at := fset.Position(call.Pos()).String()
		expr := info.Types[call.Args[0]].Value
		if expr == nil || expr.Kind() != constant.String {
			faults = append(faults, at+": write the expression as a constant of this package, so that it can be checked")
			continue
		}
		if _, err := regexp.Compile(constant.StringVal(expr)); err != nil {
			faults = append(faults, at+": "+err.Error())
		}
	}
	return len(calls), faults
}

// TestNoTemplates names the imports that undo the linker's work before the gate in CI counts bytes.
func TestNoTemplates(t *testing.T) {
	t.Parallel()
	for _, p := range mustTree(t).pkgs {
		for _, name := range p.imports() {
			if name == "text/template" || name == "html/template" {
				t.Errorf("%s imports %s: it looks up methods by name, so that the linker keeps every method of everything (8 MB)", p.path, name)
			}
		}
	}
}
