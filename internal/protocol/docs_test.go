package protocol_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/protocol"
)

// TestTheDocumentDescribesAllThatTravels, each event, operation and object with the names and types
// of all its fields, and nothing that is gone.
func TestTheDocumentDescribesAllThatTravels(t *testing.T) {
	t.Parallel()
	got := map[string]map[string][]string{}
	part := ""
	for _, s := range strings.Split(mustReadDocument(t), "\n#")[1:] {
		title, body, _ := strings.Cut(s, "\n")
		if !strings.HasPrefix(title, "##") {
			part = strings.TrimLeft(title, "# ")
			got[part] = map[string][]string{}
			continue
		}
		got[part][strings.TrimLeft(title, "# ")] = fieldRows(body)
	}
	events, ops, objects := map[string][]string{}, map[string][]string{}, map[string][]string{}
	for name, e := range protocol.Events() {
		events[name] = describe(reflect.TypeOf(e), objects)
	}
	for name, o := range protocol.Ops() {
		ops[name] = describe(reflect.TypeOf(o), objects)
	}
	for _, o := range []any{protocol.Snapshot{}, protocol.Filter{}, protocol.After{}, hermes.RunSpec{}, hermes.Range{}} {
		objects[reflect.TypeOf(o).Name()] = describe(reflect.TypeOf(o), objects)
	}
	objects["Envelope"] = []string{
		"session: text", "parent: text, optional", "epoch: number", "seq: number", "time: time, optional", "type: text, optional", "event: any, optional",
	}
	for part, want := range map[string]map[string][]string{"Events": events, "Operations": ops, "Objects": objects} {
		if diff := cmp.Diff(want, got[part]); diff != "" {
			t.Errorf("docs/protocol.md, %s -codec +document:\n%s", part, diff)
		}
	}
}

func mustReadDocument(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

var fieldRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([^|]+) \\|")

// fieldRows returns the names and types of the fields in a table, without links.
func fieldRows(text string) []string {
	link := regexp.MustCompile("\\[`(\\w+)`\\]\\(#(\\w+)\\)")
	var rows []string
	for _, m := range fieldRow.FindAllStringSubmatch(text, -1) {
		rows = append(rows, m[1]+": "+link.ReplaceAllString(m[2], "$1"))
	}
	return rows
}

// describe returns the names and types of the fields of a struct as the document has them, and adds
// the structs that it holds to objects.
func describe(of reflect.Type, objects map[string][]string) []string {
	var rows []string
	for i := range of.NumField() {
		name, options, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		word := wordFor(of.Field(i).Type, objects)
		if options != "" {
			word += ", optional"
		}
		rows = append(rows, name+": "+word)
	}
	return rows
}

func wordFor(of reflect.Type, objects map[string][]string) string {
	switch {
	case of == reflect.TypeFor[time.Time]():
		return "time"
	case of == reflect.TypeFor[[]byte]():
		return "base64"
	}
	switch of.Kind() {
	case reflect.Pointer:
		return wordFor(of.Elem(), objects)
	case reflect.Slice:
		return "list of " + wordFor(of.Elem(), objects)
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "bool"
	case reflect.Struct:
		if of.Implements(reflect.TypeFor[hermes.Event]()) {
			return snake(of.Name()) // it is described among the events
		}
		if _, known := objects[of.Name()]; !known {
			objects[of.Name()] = nil // it may hold itself
			objects[of.Name()] = describe(of, objects)
		}
		return of.Name()
	}
	return "number"
}

// TestTheDocumentHasAllValues of the texts that mean something to programs.
func TestTheDocumentHasAllValues(t *testing.T) {
	t.Parallel()
	document := mustReadDocument(t)
	types := []string{
		"Role", "Finish", "Busy", "NoticeLevel", "Outcome", "Class", "Decision", "GrantScope", "Effort", "CommandAction", "RightsMode", "Approver", "Unattendance",
		"State",
	}
	seen := map[string]bool{}
	files, err := filepath.Glob("../../*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(files, "snapshot.go") {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || len(v.Values) != 1 {
				return true
			}
			of, _ := v.Type.(*ast.Ident)
			text, _ := v.Values[0].(*ast.BasicLit)
			if of == nil || text == nil || !slices.Contains(types, of.Name) {
				return true
			}
			seen[of.Name] = true
			value, err := strconv.Unquote(text.Value)
			if err != nil {
				t.Fatal(err)
			}
			if value != "" && !strings.Contains(document, "`"+value+"`") {
				t.Errorf("docs/protocol.md does not say what %q, a %s, means", value, of.Name)
			}
			return true
		})
	}
	if len(seen) != len(types) {
		t.Errorf("only %v have values", seen)
	}
}

// TestTheLinksOfTheDocumentLead somewhere.
func TestTheLinksOfTheDocumentLead(t *testing.T) {
	t.Parallel()
	document := mustReadDocument(t)
	var anchors []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(document, -1) {
		anchors = append(anchors, strings.ReplaceAll(strings.ToLower(m[1]), " ", "-"))
	}
	for _, m := range regexp.MustCompile(`\]\(#([^)]+)\)`).FindAllStringSubmatch(document, -1) {
		if !slices.Contains(anchors, m[1]) {
			t.Errorf("docs/protocol.md has no heading for the link #%s", m[1])
		}
	}
	slices.Sort(anchors)
	if n := len(anchors); len(slices.Compact(anchors)) != n {
		t.Error("docs/protocol.md has two headings with one name: a link leads to the first only")
	}
}
