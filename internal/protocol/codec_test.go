package protocol_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/protocol"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestTheCodecHasEveryEventAndOperation of the closed sets in the core, under its name in
// snake case.
func TestTheCodecHasEveryEventAndOperation(t *testing.T) {
	t.Parallel()
	for method, table := range map[string][]string{
		"event": slices.Sorted(maps.Keys(protocol.Events())),
		"op":    slices.Sorted(maps.Keys(protocol.Ops())),
	} {
		var want []string
		for _, name := range mustFindReceivers(t, method) {
			want = append(want, snake(name))
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, table); diff != "" {
			t.Errorf("the types with the method %s -core +codec:\n%s", method, diff)
		}
	}
	for name, e := range protocol.Events() {
		if got := snake(reflect.TypeOf(e).Name()); got != name {
			t.Errorf("the event %T is called %s, want %s", e, name, got)
		}
	}
	for name, o := range protocol.Ops() {
		if got := snake(reflect.TypeOf(o).Name()); got != name {
			t.Errorf("the operation %T is called %s, want %s", o, name, got)
		}
	}
}

// mustFindReceivers returns the types of the core that have a method.
func mustFindReceivers(t *testing.T, method string) []string {
	t.Helper()
	files, err := filepath.Glob("../../*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of the core: %v", err)
	}
	var names []string
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == method && fn.Recv != nil {
				names = append(names, fn.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
	}
	return names
}

func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// TestEventsAndOperationsTravelWhole encodes each with all fields set, compares it with its
// golden file, and decodes it again.
func TestEventsAndOperationsTravelWhole(t *testing.T) {
	t.Parallel()
	for name, zero := range protocol.Events() {
		e := filled(reflect.TypeOf(zero)).Interface().(hermes.Event)
		want := protocol.Envelope{Session: "20261124_120000_abcdef", Parent: "20261124_110000_fedcba", Epoch: 3, Seq: 17, Time: moment, Event: e}
		var got protocol.Envelope
		travel(t, "event/"+name, want, &got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s -sent +received:\n%s", name, diff)
		}
	}
	for name, zero := range protocol.Ops() {
		want := filled(reflect.TypeOf(zero)).Interface().(hermes.Op)
		if say, ok := want.(hermes.Say); ok {
			say.Parts[0].Anchors = nil // only the session sets them
		}
		raw, err := protocol.EncodeOp(want)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "op/"+name, raw)
		got, err := protocol.DecodeOp(raw)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s (%v) -sent +received:\n%s", name, err, diff)
		}
	}
}

// TestTheOtherStructsTravelWhole does the same for what methods take and return.
func TestTheOtherStructsTravelWhole(t *testing.T) {
	t.Parallel()
	for name, zero := range map[string]any{
		"snapshot": protocol.Snapshot{}, "session_info": protocol.SessionInfo{}, "filter": protocol.Filter{}, "after": protocol.After{},
		"run_spec": hermes.RunSpec{}, "range": hermes.Range{}, "message": hermes.Message{}, "from": hermes.From{},
	} {
		want := filled(reflect.TypeOf(zero)).Interface()
		got := reflect.New(reflect.TypeOf(zero))
		travel(t, name, want, got.Interface())
		if diff := cmp.Diff(want, got.Elem().Interface()); diff != "" {
			t.Errorf("%s -sent +received:\n%s", name, diff)
		}
		strict := reflect.New(reflect.TypeOf(zero))
		if err := protocol.DecodeStrict(mustMarshal(t, want), strict.Interface()); err != nil {
			t.Errorf("%s is refused: %v", name, err)
		}
	}
}

// travel encodes a value, compares it with its golden file and decodes it into got.
func travel(t *testing.T, name string, v, got any) {
	t.Helper()
	raw := mustMarshal(t, v)
	golden(t, name, raw)
	if err := json.Unmarshal(raw, got); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

func mustMarshal(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// golden compares JSON with a file, in which it is indented.
func golden(t *testing.T, name string, raw []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	file := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run the test with -update", err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s -want +got:\n%s", file, diff)
	}
}

// TestTheGoldenFilesAreThoseOfTheCodec, so that none is left of what is gone.
func TestTheGoldenFilesAreThoseOfTheCodec(t *testing.T) {
	t.Parallel()
	for folder, want := range map[string][]string{
		"event": slices.Sorted(maps.Keys(protocol.Events())),
		"op":    slices.Sorted(maps.Keys(protocol.Ops())),
	} {
		files, err := filepath.Glob(filepath.Join("testdata", folder, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range files {
			got = append(got, strings.TrimSuffix(filepath.Base(f), ".json"))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("testdata/%s -codec +files:\n%s", folder, diff)
		}
	}
}

var moment = time.Date(2026, 11, 24, 12, 30, 0, 250_000_000, time.UTC)

// filled returns a value whose fields that travel are all set, texts to their own names.
func filled(of reflect.Type) reflect.Value {
	n := int64(0)
	v := reflect.New(of).Elem()
	fill(v, of.Name(), &n)
	return v
}

// sample are values of types whose values mean something.
var sample = map[reflect.Type]any{
	reflect.TypeFor[hermes.Role]():          hermes.RoleAssistant,
	reflect.TypeFor[hermes.Finish]():        hermes.FinishCalls,
	reflect.TypeFor[hermes.Busy]():          hermes.BusyQueue,
	reflect.TypeFor[hermes.NoticeLevel]():   hermes.NoticeWarning,
	reflect.TypeFor[hermes.Outcome]():       hermes.OutcomeFailed,
	reflect.TypeFor[hermes.Class]():         hermes.ClassRateLimit,
	reflect.TypeFor[hermes.Decision]():      hermes.AllowSession,
	reflect.TypeFor[hermes.GrantScope]():    hermes.ScopeKind,
	reflect.TypeFor[hermes.Effort]():        hermes.EffortHigh,
	reflect.TypeFor[hermes.CommandAction](): hermes.ActionSwitch,
	reflect.TypeFor[hermes.RightsMode]():    hermes.ModeAsk,
	reflect.TypeFor[hermes.Approver]():      hermes.ApproverManual,
	reflect.TypeFor[hermes.Unattendance]():  hermes.UnattendedDeny,
	reflect.TypeFor[protocol.State]():       protocol.StateAsking,
	reflect.TypeFor[time.Time]():            moment,
	reflect.TypeFor[time.Duration]():        1500 * time.Millisecond,
}

func fill(v reflect.Value, name string, n *int64) {
	if s, ok := sample[v.Type()]; ok {
		v.Set(reflect.ValueOf(s))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			switch {
			case tag == "":
				panic(v.Type().String() + "." + v.Type().Field(i).Name + " travels without a name of its own in JSON")
			case tag != "-":
				fill(v.Field(i), tag, n)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name, n)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte{0, 128, 255})
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name, n)
	case reflect.String:
		v.SetString(strings.ReplaceAll(name, "_", " "))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		*n++
		v.SetInt(*n)
	case reflect.Float64:
		v.SetFloat(0.5)
	default:
		panic("a " + v.Kind().String() + " in " + name)
	}
}
