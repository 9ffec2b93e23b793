package document

import (
	"strings"
	"testing"
)

// FuzzDocuments checks that no document makes a parser panic or hang.
func FuzzDocuments(f *testing.F) {
	f.Add(`<a><t>x</t><c r="ZZZZZZZ1" t="s"><v>9</v></c></a>`)
	f.Add(`{"cells":[{"source":[1],"outputs":[{"data":{"text/plain":["a"]}}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = paragraphs([]byte(text))
		var out strings.Builder
		_ = sheet(&out, []byte(text), []string{"a"})
		_, _ = notebook(t.Context(), strings.NewReader(text), int64(len(text)))
		_, _ = zipped(wordText)(t.Context(), strings.NewReader(text), int64(len(text)))
	})
}
