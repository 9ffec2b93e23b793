package yamledit_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/yamledit"
)

const sample = `# settings of ann

model:
  default: "claude"   # the big one
  # provider: none

terminal:   # where commands run
    timeout: 180
    env_passthrough:
    - HOME   # needed
    - LANG
display: {skin: mono, compact: false}   # flow

# the end
`

func TestSetWritesOnlyTheKey(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		src   string
		key   string
		value any
		want  string // of the changed part; see replaced
	}{
		{"text keeps its quotes and comment", sample, "model.default", "gpt", `"claude"   # => "gpt"   #`},
		{"number", sample, "terminal.timeout", 60, `timeout: 180 => timeout: 60`},
		{"new key at the end of its section", sample, "model.provider", "openrouter",
			"big one\n => big one\n  provider: openrouter\n"},
		{"new key follows the indentation", sample, "terminal.cwd", "/tmp", "- LANG\n => - LANG\n    cwd: /tmp\n"},
		{"new section", sample, "agent.max_turns", 90, "false}   # flow\n => false}   # flow\nagent:\n  max_turns: 90\n"},
		{"flow value", sample, "display.skin", "ares", "skin: mono => skin: ares"},
		{"flow bool", sample, "display.compact", true, "compact: false => compact: true"},
		{"flow insert", sample, "display.language", "en", "compact: false} => compact: false, language: en}"},
		{"flow nested", sample, "display.a.b", []string{"x"}, "false} => false, a: {b: [x]}}"},
		{"item", sample, "terminal.env_passthrough.1", "TZ", "- LANG => - TZ"},
		{"append", sample, "terminal.env_passthrough.2", "TZ", "- LANG => - LANG\n    - TZ"},
		{"list grows, comments stay", sample, "terminal.env_passthrough", []string{"HOME", "TZ", "LANG"},
			"- LANG => - TZ\n    - LANG"},
		{"list shrinks", sample, "terminal.env_passthrough", []string{"HOME"}, "    - LANG\n => "},
		{"list empties", sample, "terminal.env_passthrough", []string{},
			"env_passthrough:\n    - HOME   # needed\n    - LANG => env_passthrough: []"},
		{"list becomes text", sample, "terminal.env_passthrough", "all",
			"env_passthrough:\n    - HOME   # needed\n    - LANG => env_passthrough: all"},
		{"text becomes list", sample, "terminal.timeout", []string{"a", "b"}, "timeout: 180 => timeout:\n      - a\n      - b"},
		{"text becomes list before a comment", sample, "model.default", []string{"a"},
			"default: \"claude\"   # the big one => default:   # the big one\n    - a"},
		{"text that looks like a number", sample, "model.default", "123", `"claude" => "123"`},
		{"plain text that looks like a bool", "a: b\n", "a", "off", "b => 'off'"},
		{"plain text that looks like a time", "a: b\n", "a", "12:30", "b => '12:30'"},
		{"plain text with a colon", "a: b\n", "a", "x: y # z", "b => 'x: y # z'"},
		{"line breaks", "a: b\n", "a", "x\ny", `b => "x\ny"`},
		{"empty text", "a: b\n", "a", "", "b => ''"},
		{"null", "a: b\n", "a", nil, "b => null"},
		{"float", "a: b\n", "a", 0.5, "b => 0.5"},
		{"whole float stays a float", "a: b\n", "a", 2.0, "b => 2.0"},
		{"nothing yet", "a:\nb: 1\n", "a", 1, "a: => a: 1"},
		{"nothing with a comment", "a: # x\nb: 1\n", "a.c", 1, "# x\n => # x\n  c: 1\n"},
		{"explicit null becomes a section", "a: ~ # x\n", "a.c", 1, "a: ~ # x => a: # x\n  c: 1"},
		{"empty braces become a section", "a: {}\nb: 1\n", "a.c.d", 1, "a: {} => a:\n  c:\n    d: 1"},
		{"block scalar", "a: |\n  one\n  two\n\nb: 1\n", "a", "x", "|\n  one\n  two => x"},
		{"after a kept block scalar", "a:\n  b: |+\n    x\n\nc: 1\n", "a.d", 1, "x\n\n => x\n\n  d: 1\n"},
		{"block scalar at the end without a break", "a: |\n  x", "b", 1, "a: | => b: 1\na: |"},
		{"plain text over lines", "a: one\n  two\n  three # c\nb: 1\n", "a", "x", "one\n  two\n  three => x"},
		{"windows line ends", "a: 1\r\nb:\r\n  c: 2\r\n", "b.d", 3, "c: 2\r\n => c: 2\r\n  d: 3\r\n"},
		{"no final break", "a: 1", "b", 2, "a: 1 => a: 1\nb: 2"},
		{"comments only", "# hello\n", "a.b", 1, "# hello\n => # hello\na:\n  b: 1\n"},
		{"empty text file", "", "a", 1, " => a: 1\n"},
		{"document marks", "---\na: 1\n...\n", "b", 2, "a: 1\n => a: 1\nb: 2\n"},
		{"byte order mark", "\ufeffa: 1\n", "a", 2, "a: 1 => a: 2"},
		{"umlauts before the value", "ä: {ö: ü, b: 1}\n", "ä.b", 2, "b: 1 => b: 2"},
		{"quoted key", "'a b': 1\n", "a b", 2, ": 1 => : 2"},
		{"section in a list", "l:\n- a: 1\n  b: 2\n", "l.0.b", 3, "b: 2 => b: 3"},
		{"new key in a section of a list", "l:\n- a: 1\n", "l.0.b", 3, "a: 1 => a: 1\n  b: 3"},
		{"append a section", "l:\n  - a: 1\n", "l.1", map[string]any{"a": 2, "b": 3}, "- a: 1 => - a: 1\n  - a: 2\n    b: 3"},
		{"empty item", "l:\n  -\n", "l.0.a", 1, "  - =>   - a: 1"},
		{"repeated key: the last counts", "a: 1\na: 2\n", "a", 3, "a: 2 => a: 3"},
		{"over a merged key", "x: &x {a: 1}\ny:\n  <<: *x\n  b: 2\n", "y.a", 5, "b: 2 => b: 2\n  a: 5"},
		{"an alias itself", "x: &x 1\ny: *x\n", "y", 2, "*x => 2"},
		{"multi-line flow", "a: {\n  b: 1, # one\n}\n", "a.c", 2, "b: 1, => b: 1, c: 2,"},
		{"literal dots", "m:\n  gpt-4.1: 5\n", "m.gpt-4.1", 6, ": 5 => : 6"},
		{"escaped dots", "m:\n  a: 5\n", `m.gpt-4\.1.x`, 6, "a: 5 => a: 5\n  gpt-4.1:\n    x: 6"},
		{"section changes key by key", "a:\n  b: 1 # one\n  c: 2 # two\n", "a", map[string]any{"b": 1, "c": 3},
			"c: 2 => c: 3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := yamledit.Set([]byte(tt.src), resolve(t, tt.src, tt.key), tt.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(replaced(t, tt.src, tt.want), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// replaced applies "old => new" to the only occurrence of old in src.
func replaced(t *testing.T, src, change string) string {
	t.Helper()
	from, to, found := strings.Cut(change, " => ")
	if !found || src != "" && strings.Count(src, from) != 1 && from != "" {
		t.Fatalf("the case is wrong: %q occurs %d times in the text", from, strings.Count(src, from))
	}
	return strings.Replace(src, from, to, 1)
}

func resolve(t *testing.T, src, key string) []string {
	t.Helper()
	d, err := yamledit.Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	path, err := d.Resolve(key)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUnsetRemovesTheKeyAndItsLines(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, src, key, want string }{
		{"text", sample, "model.default", "  default: \"claude\"   # the big one\n => "},
		{"list", sample, "terminal.env_passthrough", "    env_passthrough:\n    - HOME   # needed\n    - LANG\n => "},
		{"section", "a:\n  b: 1\n  # about c\n  c: 2\nd: 3\n", "a", "a:\n  b: 1\n  # about c\n  c: 2\n => "},
		{"flow first", sample, "display.skin", "{skin: mono, compact => {compact"},
		{"flow last", sample, "display.compact", "mono, compact: false} => mono}"},
		{"flow only", "a: {b: 1}\n", "a.b", "{b: 1} => {}"},
		{"flow only with a comma", "a: [1,]\n", "a.0", "[1,] => []"},
		{"item", sample, "terminal.env_passthrough.0", "    - HOME   # needed\n => "},
		{"only item", "a:\n- 1 # c\nb: 2\n", "a.0", "a:\n- 1 # c => a: []"},
		{"first of a compact section", "l:\n- a: 1 # one\n  b: 2\n", "l.0.a", "a: 1 # one\n  b => b"},
		{"only one of a compact section", "l:\n- a: 1\n- b: 2\n", "l.0.a", "a: 1 => {}"},
		{"last without a break", "a: 1\nb: 2", "b", "b: 2 => "},
		{"repeated", "a: 1\nb: 2\na: 3\n", "a", "a: 1\nb: 2\na: 3 => b: 2"},
		{"not there", sample, "model.nothing", "# the end => # the end"},
		{"only one of a section", "a:\n  b: 1\nc: 2\n", "a.b", "  b: 1\n => "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := yamledit.Unset([]byte(tt.src), resolve(t, tt.src, tt.key))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(replaced(t, tt.src, tt.want), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatCannotBeEditedIsRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, src, key string
		want           error
	}{
		{"below a text", "a: b\n", "a.c", yamledit.ErrNotSection},
		{"through an alias", "x: &x {a: 1}\ny: *x\n", "y.a", yamledit.ErrAlias},
		{"an anchor in use", "x: &x 1\ny: *x\n", "x", yamledit.ErrUnsafe},
		{"no such index", "l: [1]\n", "l.5", yamledit.ErrIndex},
		{"no index at all", "l: [1]\n", "l.a", yamledit.ErrIndex},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path, err := yamledit.Split(tt.key)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := yamledit.Set([]byte(tt.src), path, int64(7)); !errors.Is(err, tt.want) {
				t.Errorf("got %q, %v, want %v", got, err, tt.want)
			}
		})
	}
}

func TestParseSaysTheLine(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, src string
		line      int
	}{
		{"unclosed bracket", "a: 1\nb: [1, 2\nc: 3\n", 2},
		{"tab", "a:\n\tb: 1\n", 2},
		{"two documents", "a: 1\n---\nb: 2\n", 2},
		{"not UTF-8", "a: 1\nb: \xff\n", 2},
		{"bad indentation", "a:\n  b: 1\n c: 2\n", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := yamledit.Parse([]byte(tt.src))
			var fault *yamledit.SyntaxError
			if !errors.As(err, &fault) || fault.Line != tt.line {
				t.Errorf("got %v, want line %d", err, tt.line)
			}
		})
	}
}

func TestSettingWhatIsThereChangesNothing(t *testing.T) {
	t.Parallel()
	src := "a: yes   # c\nb: 0x10\nc: [1, 2]\n"
	for key, value := range map[string]any{"a": true, "b": 16, "c": []any{1, 2}} {
		got, err := yamledit.Set([]byte(src), []string{key}, value)
		if err != nil || string(got) != src {
			t.Errorf("%s: got %q, %v", key, got, err)
		}
	}
}

func TestPlainReadsLikePyYAML(t *testing.T) {
	t.Parallel()
	tests := map[string]any{
		"yes": true, "On": true, "TRUE": true, "no": false, "off": false, "False": false, "y": "y", "oN": "oN",
		"": nil, "~": nil, "Null": nil, "none": "none",
		"12": int64(12), "-3": int64(-3), "1_000": int64(1000), "0x1F": int64(31), "0b11": int64(3), "017": int64(15),
		"1.5": 1.5, ".5": 0.5, "1e3": 1000.0, "1.": 1.0,
		"12:30": "12:30", "1.2.3": "1.2.3", "3.12-slim": "3.12-slim", "-": "-", "+": "+", "2026-11-20": "2026-11-20",
		"0x": "0x", "99999999999999999999": 1e20, "infinity": "infinity",
	}
	for text, want := range tests {
		if got := yamledit.Plain(text); got != want {
			t.Errorf("%q: got %T %v, want %T %v", text, got, got, want, want)
		}
	}
}

func TestSplitAndJoin(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"a.b":          {"a", "b"},
		`a.gpt-4\.1.x`: {"a", "gpt-4.1", "x"},
		`c\\.d`:        {`c\`, "d"},
		`win\path`:     {`win\path`},
	}
	for key, want := range tests {
		got, err := yamledit.Split(key)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", key, err, diff)
		}
		again, err := yamledit.Split(yamledit.Join(got))
		if diff := cmp.Diff(want, again); diff != "" || err != nil {
			t.Errorf("%s and back: %v %s", key, err, diff)
		}
	}
	for _, key := range []string{"", "a..b", ".a", "a."} {
		if got, err := yamledit.Split(key); err == nil {
			t.Errorf("%q was accepted as %q", key, got)
		}
	}
}

func TestLargeTextsAreNotSlow(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 100_000) + "end"
	src := "a: " + long + "\nb: '" + long + "'\nc:\n" + strings.Repeat("  - x\n", 20_000) + "d: 1\n"
	start := time.Now()
	for _, key := range []string{"a", "b", "d", "e"} {
		out, err := yamledit.Set([]byte(src), []string{key}, "v")
		if err != nil {
			t.Fatal(err)
		}
		src = string(out)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("four edits of a megabyte took %v", took)
	}
	if src != "a: v\nb: 'v'\nc:\n"+strings.Repeat("  - x\n", 20_000)+"d: v\ne: v\n" {
		t.Error("the text is wrong")
	}
}
