package file

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzReadPage checks that a page is valid text within its bounds whose lines
// are numbered from the offset, for any file, and that nothing panics.
func FuzzReadPage(f *testing.F) {
	f.Add([]byte("a\nb\r\n\xff\n"), 1, 2, 50)
	f.Add([]byte("\ufefféé\n\n"), 2, 1, 1)
	f.Fuzz(func(t *testing.T, data []byte, offset, limit, line int) {
		w := window{offset: min(max(offset, 1), 100), limit: min(max(limit, 1), 100), maxChars: 500, maxLine: min(max(line, 1), 100)}
		p, err := readPage(bytes.NewReader(data), w)
		if err != nil {
			t.Fatal(err)
		}
		numbered(string(data))
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
