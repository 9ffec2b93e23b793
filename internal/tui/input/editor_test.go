package input

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEditing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ keys, want string }{
		{"abc<left><left>X", "aX|bc"},
		{"abc<home>X<end>Y", "XabcY|"},
		{"a b c<ctrl+w>", "a b |"},
		{"one two<alt+backspace>", "one |"},
		{"one two<alt+b>X", "one X|two"},
		{"one two<ctrl+a><alt+f>X", "oneX| two"},
		{"one two<ctrl+a><alt+d>", "| two"},
		{"one<ctrl+u>two", "two|"},
		{"one<ctrl+a><ctrl+k><ctrl+y><ctrl+y>", "oneone|"},
		{"汉字<left><backspace>", "|字"},
		{"e\u0301x<left><backspace>", "|x"},
		{"👨\u200d👩\u200d👧<backspace>", "|"},
		{"a<alt+enter>b<up>X", "aX|\nb"},
		{"abc<alt+enter>d<up><end><down>X", "abc\ndX|"},
		{"ab<alt+enter><ctrl+k><backspace>", "ab|"},
		{"ab<home><delete>", "|b"},
		{"<backspace><delete><left><right><ctrl+w><ctrl+k><ctrl+y>a", "a|"},
	} {
		e := New("", "", nil)
		for rest := c.keys; rest != ""; {
			if rest[0] == '<' {
				end := strings.IndexByte(rest, '>')
				e.Press(Key{Name: rest[1:end]}, 40)
				rest = rest[end+1:]
				continue
			}
			next := strings.IndexByte(rest, '<')
			if next < 0 {
				next = len(rest)
			}
			e.Paste(rest[:next]) // joined characters come as one
			rest = rest[next:]
		}
		if got := string(e.text[:e.cur]) + "|" + string(e.text[e.cur:]); got != c.want {
			t.Errorf("%s: %q, want %q", c.keys, got, c.want)
		}
	}
}

func TestUpAndDownKeepTheColumnAcrossWrappedRows(t *testing.T) {
	t.Parallel()
	e := newEditor()
	e.Insert("0123456789abcdefghij\nxy\n汉字汉字汉字")
	e.move(17) // row 1 of width 10, column 7
	for _, step := range []struct {
		by, row, col int
	}{{1, 2, 2}, {1, 3, 6}, {-1, 2, 2}, {-1, 1, 7}, {-1, 0, 7}} {
		if !e.vertical(step.by, 10) {
			t.Fatalf("cannot go %+d", step.by)
		}
		if _, row, col := e.layout(10); row != step.row || col != step.col {
			t.Errorf("after %+d at %d, %d; want %d, %d", step.by, row, col, step.row, step.col)
		}
	}
	if e.vertical(-1, 10) {
		t.Error("went above the first row")
	}
}

func FuzzEditor(f *testing.F) {
	f.Add("abc", []byte{1, 2, 3, 200, 5}, 10)
	f.Add("汉字\n👨\u200d👩\u200d👧\te\u0301", []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, 5)
	names := []string{
		"left", "right", "home", "end", "backspace", "delete", "ctrl+w", "alt+b", "alt+f", "ctrl+k", "ctrl+y", "ctrl+u",
		"alt+d", "alt+backspace", "ctrl+home", "ctrl+end",
	}
	f.Fuzz(func(t *testing.T, text string, keys []byte, width int) {
		width = 4 + (width&0xff)%60
		e := newEditor()
		for _, k := range keys[:min(len(keys), 200)] {
			switch {
			case int(k) < len(names):
				e.Edit(names[k])
			case k < 100:
				e.vertical(1, width)
			case k < 150:
				e.vertical(-1, width)
			case k < 200:
				e.paste(strings.Repeat(text, int(k)%12))
			default:
				e.Insert(text)
			}
			if len(e.text) > 5000 {
				break
			}
		}
		rows, row, col := e.layout(width)
		if e.cur < 0 || e.cur > len(e.text) || row < 0 || row >= len(rows) || col < 0 || col >= width+1 {
			t.Fatalf("cursor %d of %d at %d, %d of %d rows", e.cur, len(e.text), row, col, len(rows))
		}
		shown := 0
		for i, r := range rows {
			used := 0
			for _, p := range r.runes {
				used += p.width
				n, _, _ := e.draw(p.at)
				shown += n
			}
			if used > width {
				t.Fatalf("row %d takes %d of %d", i, used, width)
			}
		}
		if breaks := strings.Count(string(e.text), "\n"); shown+breaks != len(e.text) {
			t.Fatalf("%d characters and %d breaks are shown of %d", shown, breaks, len(e.text))
		}
		if v := e.Value(); !utf8.ValidString(v) {
			t.Fatalf("the value is broken: %q", v)
		}
	})
}
