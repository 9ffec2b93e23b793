package file

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzReadPage checks that a page is valid text within its bounds whose lines
// are numbered from the offset, for any file.
func FuzzReadPage(f *testing.F) {
	f.Add([]byte("a\nb\r\n\xff\n"), 1, 2, 50)
	f.Add([]byte("\ufefféé\n\n"), 2, 1, 1)
	f.Fuzz(func(t *testing.T, data []byte, offset, limit, line int) {
		w := window{offset: min(max(offset, 1), 100), limit: min(max(limit, 1), 100), maxChars: 500, maxLine: min(max(line, 1), 100)}
		p, err := readPage(bytes.NewReader(data), w)
		if err != nil {
			t.Fatal(err)
		}
		total := bytes.Count(data, []byte{'\n'})
		if len(data) > 0 && data[len(data)-1] != '\n' {
			total++
		}
		if p.total != total || !utf8.ValidString(p.text) || p.shown > w.limit || strings.Count(p.text, "\n") != p.shown {
			t.Fatalf("%+v for %d lines", p, total)
		}
		if p.more != (w.offset+p.shown <= total && p.shown > 0) {
			t.Fatalf("more is %v with %d of %d lines shown from %d", p.more, p.shown, total, w.offset)
		}
	})
}

// FuzzParsers checks that no text or document makes a parser panic or hang.
func FuzzParsers(f *testing.F) {
	f.Add("a = [1, {b = \"c\"}]\n[[x.'y']]\n\"\"\"")
	f.Add(`<a><t>x</t><c r="ZZZZZZZ1" t="s"><v>9</v></c></a>`)
	f.Add(`{"cells":[{"source":[1],"outputs":[{"data":{"text/plain":["a"]}}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		checkTOML(text)
		checkJSON(text)
		numbered(text)
		_, _ = paragraphs([]byte(text))
		var out strings.Builder
		_ = sheet(&out, []byte(text), []string{"a"})
		_, _ = notebook(strings.NewReader(text), int64(len(text)))
		_, _ = zipped(wordText)(strings.NewReader(text), int64(len(text)))
	})
}
