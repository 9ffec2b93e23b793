package yamledit_test

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"hermes/internal/yamledit"
)

var seeds = []string{
	sample,
	"a: 1\r\nb:\r\n- x\r\n- y # c\r\n",
	"l:\n- a: 1\n  b: [1, {c: d}]\n- - x\n  - y\n-\n",
	"a: |\n  one\n\n  two\nb: >-\n  x\n  y\n\n# c\nc: |+\n  k\n\n",
	"a: {b: {c: 1, d: }, e: [1,2,], 'f g': \"h\\\"i\"}\n",
	"x: &x {a: 1}\ny:\n  <<: *x\n  b: *x\n",
	"? a\n: b\n? c\n",
	"a: one\n  two\nb: 'x\n  y'\n",
	"--- # head\na: !!str 5\nb: !foo bar\n...\n",
	"a: ~\nb:\nc: ''\n\"d\": {}\ne: []\n",
	"ä: {ö: 'ü'} # é\n日本: 語\n",
	"# nothing\n",
	"a.b: 1\na:\n  b: 2\n",
	"a:\n    - b:\n        c: 1\n      # note\n      d: 2\n",
	"k: [a: b, c]\nz: 1\n",
}

var values = []any{
	nil, true, int64(-7), 2.5, "", "plain", "two words", " led", "a: b", "# no", "'q'", "line\nbreak", "off", "1e3",
	"日本", "-", "?", "{x", "a, b", "12:30:11", "<<", "\u0085", "tab\t", []any{}, map[string]any{},
	[]any{"a", int64(1), nil}, map[string]any{"k": "v", "n": map[string]any{"m": []any{true}}},
	[]any{map[string]any{"a": int64(1), "b": "x"}, []any{"y"}},
}

// FuzzEdit makes one edit at a path that n chooses. The result must have the value,
// nothing else may change, and the changed bytes must be contiguous unless a list or a
// section was rewritten.
func FuzzEdit(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, uint64(i), "k")
	}
	f.Fuzz(func(t *testing.T, src string, n uint64, name string) {
		rnd := rand.New(rand.NewPCG(n, 7))
		d, err := yamledit.Parse([]byte(src))
		if err != nil {
			var fault *yamledit.SyntaxError
			if !errors.As(err, &fault) {
				t.Errorf("not a syntax error: %v", err)
			}
			return
		}
		if _, err := yamledit.Value(d.Root()); err != nil {
			return
		}
		path := somePath(rnd, d.Root(), name)
		if len(path) == 0 {
			return
		}
		if rnd.IntN(4) == 0 {
			checkUnset(t, src, path)
			return
		}
		value := values[rnd.IntN(len(values))]
		out, err := yamledit.Set([]byte(src), path, value)
		if err != nil {
			return
		}
		checkSet(t, src, string(out), path, value)
	})
}

func checkSet(t *testing.T, src, out string, path []string, value any) {
	t.Helper()
	after, err := yamledit.Parse([]byte(out))
	if err != nil {
		t.Fatalf("%q became %q: %v", src, out, err)
	}
	got, err := yamledit.Value(after.Find(path...))
	if err != nil || !yamledit.Equal(got, value) {
		t.Fatalf("%q: set %q to %#v gave %q, which reads %#v", src, path, value, out, got)
	}
	back, err := yamledit.Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if was := back.Find(path...); was == nil && insertedBytes(src, out) < 0 {
		t.Fatalf("%q: a new key %q changed more than it added: %q", src, path, out)
	}
	for _, c := range comments(src, back.Find(path...)) {
		if !strings.Contains(out, c) {
			t.Fatalf("%q: set %q to %#v lost the comment %q: %q", src, path, value, c, out)
		}
	}
}

// insertedBytes returns the length of the one insertion that turns src into out, or
// -1. It allows null or {} to be replaced by a section.
func insertedBytes(src, out string) int {
	begin := 0
	for begin < min(len(src), len(out)) && src[begin] == out[begin] {
		begin++
	}
	end := 0
	for end < min(len(src), len(out))-begin && src[len(src)-1-end] == out[len(out)-1-end] {
		end++
	}
	middle := src[begin : len(src)-end]
	if strings.Trim(strings.SplitN(middle, "#", 2)[0], " \t~{}[]nulNUL") != "" {
		return -1
	}
	return len(out) - begin - end
}

// comments lists the whole-line comments outside the value that is replaced.
func comments(src string, replaced *yaml.Node) []string {
	if replaced != nil && (replaced.Kind != yaml.ScalarNode || strings.ContainsAny(replaced.Value, "\n #")) {
		return nil
	}
	if strings.ContainsAny(src, "|>\"'\r\u0085\u2028\u2029") {
		return nil // a # in there may be text
	}
	var found []string
	for line := range strings.Lines(src) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

func checkUnset(t *testing.T, src string, path []string) {
	t.Helper()
	out, err := yamledit.Unset([]byte(src), path)
	if err != nil {
		return
	}
	if _, err := yamledit.Parse(out); err != nil {
		t.Fatalf("%q: unset %q gave %q: %v", src, path, out, err)
	}
	if len(out) > len(src)+4 {
		t.Fatalf("%q: unset %q gave more: %q", src, path, out)
	}
}

// somePath walks down at random and may add a name that does not exist.
func somePath(rnd *rand.Rand, n *yaml.Node, name string) []string {
	var path []string
	for n != nil && len(n.Content) > 0 && n.Kind != yaml.AliasNode && rnd.IntN(5) > 0 {
		if n.Kind == yaml.SequenceNode {
			i := rnd.IntN(len(n.Content))
			path, n = append(path, strconv.Itoa(i)), n.Content[i]
			continue
		}
		i := rnd.IntN(len(n.Content)/2) * 2
		path, n = append(path, n.Content[i].Value), n.Content[i+1]
	}
	if len(path) == 0 || rnd.IntN(2) == 0 {
		if n != nil && n.Kind == yaml.SequenceNode {
			return append(path, strconv.Itoa(len(n.Content)))
		}
		path = append(path, name)
	}
	return path
}

func FuzzQuotes(f *testing.F) {
	for _, v := range values {
		if s, ok := v.(string); ok {
			f.Add(s, s)
		}
	}
	f.Fuzz(func(t *testing.T, key, text string) {
		key, text = strings.ToValidUTF8(key, "?"), strings.ToValidUTF8(text, "?")
		for _, src := range []string{"z: 1\n", "{z: 1}\n", "z: 'a'\n", "z: \"a\"\n"} {
			out, err := yamledit.Set([]byte(src), []string{"z"}, text)
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			// Another decoder must read the same text.
			var m map[string]any
			if err := yaml.Unmarshal(out, &m); err != nil || m["z"] != text {
				t.Fatalf("%q was written as %q and read as %#v, %v", text, out, m["z"], err)
			}
			if _, err = yamledit.Set(out, []string{key}, "x"); err != nil && key != "<<" {
				t.Fatalf("key %q after text %q in %q: %v", key, text, src, err)
			}
		}
	})
}
