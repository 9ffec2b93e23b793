package law_test

import (
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// oddWords are words that read oddly in texts for people and models, each with what to write
// instead. Words with an ordinary meaning are matched in the odd one only.
var oddWords = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\b(?:mend|mends|mended|mending)\b`), "fix or repair"},
	{regexp.MustCompile(`(?i)\banew\b`), "again"},
	{regexp.MustCompile(`(?i)\b(?:take|takes|taking|taken|took)(?: (?:it|this|that|them|all|one|something|a change|changes))? back\b`), "undo"},
	{regexp.MustCompile(`(?i)\bin all(?:$|[^\w ]| (?:and|but)\b)`), "in total"},
	{regexp.MustCompile(`(?i)\bnobody\b`), "no one, or say what is missing"},
	{regexp.MustCompile(`(?i)\bstands\b`), "is"},
	{regexp.MustCompile(`(?i)\blies\b`), "is"},
	{regexp.MustCompile(`(?i)\bno text file\b`), "not a text file"},
	// The permission.
	{regexp.MustCompile(`(?i)\b(?:without|needs?|needed|asks? for|asked for|gives?|gave|given|waits? for|your|user's|person's|without any|no) leave\b`), "approval"},
	{regexp.MustCompile(`(?i)\bleave (?:is|was|to (?:run|do|use|write|change|read))\b`), "approval"},
	// Quitting.
	{regexp.MustCompile(`(?i)\b(?:to leave|leaves?)(?:[.;:)]| with status\b| hermes\b| the (?:chat|program|terminal|conversation)\b)`), "quit"},
}

// spared are the files whose texts are not searched, with the reason.
var spared = map[string]string{
	"internal/policy/inject.go": "patterns of what untrusted text says",
}

// sparedTexts are texts that may not change, by how they begin, with the reason.
var sparedTexts = map[string]string{
	"(Part of what stands above ": "summaries of version 0.1.0 are stored with it",
}

// TestTextsUsePlainWords reads every string and comment of the program, the texts that it embeds
// and the documents.
func TestTextsUsePlainWords(t *testing.T) {
	t.Parallel()
	for _, fault := range oddTexts(mustTree(t), os.DirFS(mustRoot(t))) {
		t.Error(fault)
	}
}

func oddTexts(tree *moduleTree, root fs.FS) []string {
	var faults []string
	for _, p := range tree.pkgs {
		for i, f := range p.files {
			if spared[p.names[i]] != "" {
				continue
			}
			for _, s := range append(texts(f), comments(f)...) {
				if sparedText(s.text) {
					continue
				}
				for _, odd := range oddIn(s.text) {
					faults = append(faults, tree.fset.Position(s.pos).String()+": "+odd)
				}
			}
		}
	}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".md"):
			return nil
		}
		raw, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		n := 0
		for line := range strings.Lines(string(raw)) {
			n++
			for _, odd := range oddIn(strings.TrimRight(line, "\n")) {
				faults = append(faults, name+":"+strconv.Itoa(n)+": "+odd)
			}
		}
		return nil
	})
	if err != nil {
		faults = append(faults, "read the documents: "+err.Error())
	}
	return faults
}

func sparedText(text string) bool {
	for start := range sparedTexts {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// oddIn names the odd words of a text.
func oddIn(text string) []string {
	var found []string
	for _, w := range oddWords {
		if m := w.pattern.FindString(text); m != "" {
			found = append(found, strconv.Quote(strings.TrimSpace(m))+": write "+w.instead)
		}
	}
	return found
}

type textAt struct {
	text string
	pos  token.Pos
}

// texts are the strings of a file that people or models read: all but struct tags, import paths
// and single words, which are keys and names. Of a tag the doc is read, which is for the model. The
// tree is shared with the other tests, so nothing in it is changed.
func texts(f *ast.File) []textAt {
	var list []textAt
	tags := map[*ast.BasicLit]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag == nil {
				break
			}
			tags[n.Tag] = true
			tag, _ := strconv.Unquote(n.Tag.Value) // the parser accepted it
			if m := docTag.FindStringSubmatch(tag); m != nil {
				list = append(list, textAt{m[1], n.Tag.Pos()})
			}
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if n.Kind == token.STRING && !tags[n] && err == nil && strings.ContainsAny(strings.TrimSpace(text), " \n") {
				list = append(list, textAt{text, n.Pos()})
			}
		}
		return true
	})
	return list
}

// comments are the comments of a file: the engineers who come after us are readers, too.
func comments(f *ast.File) []textAt {
	var list []textAt
	for _, group := range f.Comments {
		list = append(list, textAt{group.Text(), group.Pos()})
	}
	return list
}

var docTag = regexp.MustCompile(`\bdoc:"((?:[^"\\]|\\.)*)"`)

func TestOddWordsAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"It mends a small project.":                       1,
		"mended: the mode is 700":                         1,
		"say it anew":                                     1,
		"add --yes to take back what is shown":            1,
		"what was taken back":                             1,
		"3 sessions in all, 2 of them open":               1,
		"package init: 2 ms in all":                       1,
		"in all modes":                                    0,
		"nobody can be asked":                             1,
		"the first model stands":                          1,
		"it lies outside the folder":                      1,
		"it is no text file":                              1,
		"this needs leave":                                1,
		"without leave nothing runs":                      1,
		"press Ctrl+C twice to leave.":                    1,
		"type /quit to leave the chat":                    1,
		"leave the name empty":                            0,
		"leaves the file as it is":                        0,
		"leave it out":                                    0,
		"Undo this change? It was made by a skill review": 0,
	} {
		if got := oddIn(text); len(got) != want {
			t.Errorf("%q: got %q, want %d", text, got, want)
		}
	}
	tree := mustParse(t, map[string]string{"x/a.go": "package x\nimport _ \"the mended\"\ntype t struct { A int `json:\"nobody stands\" doc:\"what lies here\"` }\n// lies\nconst a = \"nobody\"\nvar b = \"ask nobody\"\n"})
	got := oddTexts(tree, fstest.MapFS{"docs/a.md": {Data: []byte("fine\nsaid anew\n")}, "testdata/b.md": {Data: []byte("anew")}, "c.txt": {Data: []byte("anew")}})
	want := []string{"x/a.go:3", "x/a.go:6", "x/a.go:4", "docs/a.md:2"}
	for i, at := range want {
		if len(got) != len(want) || !strings.Contains(got[i], at) {
			t.Fatalf("got %q, want one at each of %q", got, want)
		}
	}
}

// TestOldNamesStayAway fails on declarations that were renamed, by package and name, so that no
// old word comes back beside the new one.
func TestOldNamesStayAway(t *testing.T) {
	t.Parallel()
	tree := mustTree(t)
	for _, fault := range oldNamesIn(tree) {
		t.Error(fault)
	}
}

func oldNamesIn(tree *moduleTree) []string {
	var faults []string
	for _, p := range tree.pkgs {
		if instead := oldPackages[p.path]; instead != "" {
			faults = append(faults, p.path+": this package is now "+instead)
		}
		old := oldNames[p.path]
		if old == "" {
			continue
		}
		names := strings.Fields(old)
		for _, f := range p.files {
			for _, d := range declared(f) {
				if slices.Contains(names, d.name) {
					faults = append(faults, tree.fset.Position(d.pos).String()+": "+d.name+" was renamed; see internal/law/old_names_test.go")
				}
			}
		}
	}
	return faults
}

type declaration struct {
	name string
	pos  token.Pos
}

// declared are the names that a file declares for its package: Name, or Type.Member for methods
// and fields.
func declared(f *ast.File) []declaration {
	var list []declaration
	add := func(owner string, id *ast.Ident) {
		name := id.Name
		if owner != "" {
			name = owner + "." + name
		}
		list = append(list, declaration{name, id.Pos()})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			owner := ""
			if d.Recv != nil && len(d.Recv.List) == 1 {
				owner = receiver(d.Recv.List[0].Type)
			}
			add(owner, d.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					for _, id := range s.Names {
						add("", id)
					}
				case *ast.TypeSpec:
					add("", s.Name)
					members(s.Type, func(id *ast.Ident) { add(s.Name.Name, id) })
				}
			}
		}
	}
	return list
}

// members calls a func with each field and method that a type declares.
func members(t ast.Expr, add func(*ast.Ident)) {
	var fields *ast.FieldList
	switch t := t.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		return
	}
	for _, f := range fields.List {
		for _, id := range f.Names {
			add(id)
		}
	}
}

// receiver is the name of a method's type.
func receiver(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

func TestOldNamesAreFound(t *testing.T) {
	t.Parallel()
	tree := mustParse(t, map[string]string{
		"internal/session/a.go": "package session\ntype Equipment struct{}\ntype Config struct { Equip, Owner int }\nfunc (s *Session) lookBack() {}\nfunc lookBack() {}",
		"internal/fence/a.go":   "package fence",
		"internal/tool/x/a.go":  "package x\ntype Equipment struct{}",
	})
	got := oldNamesIn(tree)
	want := []string{"internal/fence: ", "internal/session/a.go:2", "internal/session/a.go:3", "internal/session/a.go:4"}
	for i, at := range want {
		if len(got) != len(want) || !strings.HasPrefix(got[i], at) {
			t.Fatalf("got %q, want one at each of %q", got, want)
		}
	}
}
