package law_test

import (
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hermes/internal/config"
)

// settingsWalk finds the fields of settings that code outside internal/config reads. It checks
// types with the compiler's own export data, so that a name is never mistaken for another.
type settingsWalk struct {
	t        *testing.T
	fset     *token.FileSet
	packages map[string]listed
	importer types.Importer
	structs  map[*types.Var]field // the fields of the structs of internal/config
	read     map[field]bool
	used     map[string]bool // the functions of internal/config that others use
}

// listed is one package as `go list` knows it.
type listed struct {
	export, dir string
	files       []string
	deps        []string
}

const configPath = module + "/internal/config"

// fieldsRead returns every field of a struct of settings that is read outside internal/config.
func fieldsRead(t *testing.T) map[field]bool {
	t.Helper()
	w := newSettingsWalk(t)
	readers := 0
	for name, p := range w.packages {
		if folder, ours := inModule(name); !ours || folder == "internal/config" || !slices.Contains(p.deps, configPath) {
			continue
		}
		readers++
		sources := map[string]string{}
		for _, file := range p.files {
			src, err := os.ReadFile(filepath.Join(p.dir, file))
			if err != nil {
				t.Fatal(err)
			}
			sources[filepath.Join(p.dir, file)] = string(src)
		}
		w.check(name, sources)
	}
	if readers == 0 {
		t.Fatal("no package reads the configuration")
	}
	return w.fields()
}

// newSettingsWalk asks the go command for the export data of all packages.
func newSettingsWalk(t *testing.T) *settingsWalk {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f",
		`{{.ImportPath}}|{{.Export}}|{{.Dir}}|{{join .GoFiles ","}}|{{join .Deps ","}}`, "./...")
	cmd.Dir = mustRoot(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	w := &settingsWalk{t: t, fset: token.NewFileSet(), packages: map[string]listed{}, structs: map[*types.Var]field{}, read: map[field]bool{}, used: map[string]bool{}}
	for line := range strings.Lines(string(out)) {
		p := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		w.packages[p[0]] = listed{p[1], p[2], strings.Split(p[3], ","), strings.Split(p[4], ",")}
	}
	w.importer = importer.ForCompiler(w.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(w.packages[path].export) })
	settings, err := w.importer.Import(configPath)
	if err != nil {
		t.Fatal(err)
	}
	w.learn(settings)
	return w
}

// learn remembers the fields of the structs of a package.
func (w *settingsWalk) learn(p *types.Package) {
	for _, name := range p.Scope().Names() {
		if of, ok := p.Scope().Lookup(name).Type().Underlying().(*types.Struct); ok {
			for i := range of.NumFields() {
				w.structs[of.Field(i)] = field{name, of.Field(i).Name()}
			}
		}
	}
}

// check checks the types of a package and remembers the fields that it reads and the functions
// of internal/config that it uses.
func (w *settingsWalk) check(path string, sources map[string]string) {
	w.t.Helper()
	info, files := w.typed(path, sources)
	for _, f := range files {
		w.reads(f, info, w.read)
	}
	for _, o := range info.Uses {
		if f, ok := o.(*types.Func); ok && f.Pkg() != nil && f.Pkg().Path() == configPath {
			w.used[funcName(f)] = true
		}
	}
}

// reads adds the fields that are selected below a node, other than to assign to them.
func (w *settingsWalk) reads(n ast.Node, info *types.Info, to map[field]bool) {
	written := map[ast.Expr]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				written[left] = n.Tok == token.ASSIGN
			}
		case *ast.SelectorExpr:
			if v, ok := info.ObjectOf(n.Sel).(*types.Var); ok && !written[n] {
				if f, ok := w.structs[v.Origin()]; ok {
					to[f] = true
				}
			}
		}
		return true
	})
}

func (w *settingsWalk) typed(path string, sources map[string]string) (*types.Info, []*ast.File) {
	w.t.Helper()
	var files []*ast.File
	for name, src := range sources {
		f, err := parser.ParseFile(w.fset, name, src, parser.SkipObjectResolution)
		if err != nil {
			w.t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: w.importer}
	checked, err := conf.Check(path, w.fset, files, info)
	if err != nil {
		w.t.Fatal(err)
	}
	if path == configPath {
		w.learn(checked)
	}
	return info, files
}

// fields returns what is read, directly or by functions of internal/config that others use. A
// section counts as read if a function that is used decodes it.
func (w *settingsWalk) fields() map[field]bool {
	w.t.Helper()
	p := w.packages[configPath]
	sources := map[string]string{}
	for _, file := range p.files {
		src, err := os.ReadFile(filepath.Join(p.dir, file))
		if err != nil {
			w.t.Fatal(err)
		}
		sources[filepath.Join(p.dir, file)] = string(src)
	}
	info, files := w.typed(configPath, sources)
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || !w.used[funcName(info.Defs[fn.Name].(*types.Func))] {
				continue
			}
			w.reads(fn.Body, info, w.read)
			w.sections(fn.Body, info)
		}
	}
	return w.read
}

// sections marks the fields on the paths of calls of section: section[Agent](c, "agent").
func (w *settingsWalk) sections(body ast.Node, info *types.Info) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		generic, ok := call.Fun.(*ast.IndexExpr)
		if name, named := ast.Unparen(orNil(generic, ok)).(*ast.Ident); !named || name.Name != "section" {
			return true
		}
		t := reflect.TypeFor[config.Settings]()
		if len(call.Args) == 1 { // the top level
			return true
		}
		for _, arg := range call.Args[1:] {
			value := info.Types[arg].Value
			if t.Kind() != reflect.Struct {
				break
			}
			name := "*" // not constant: any name in a map
			if value != nil {
				name = constant.StringVal(value)
			}
			f, ok := fieldWithKey(t, name)
			if !ok {
				break
			}
			w.read[field{t.Name(), f.Name}] = true
			t = f.Type
		}
		return true
	})
}

func orNil(x *ast.IndexExpr, ok bool) ast.Expr {
	if !ok {
		return nil
	}
	return x.X
}

func fieldWithKey(t reflect.Type, key string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("key") == key {
			return t.Field(i), true
		}
	}
	return reflect.StructField{}, false
}

// funcName names a function or method by its receiver's type and its own name.
func funcName(f *types.Func) string {
	recv := f.Signature().Recv()
	if recv == nil {
		return f.Name()
	}
	t := recv.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name() + "." + f.Name()
	}
	return f.Name()
}
