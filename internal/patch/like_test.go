package patch_test

import (
	"testing"

	"hermes/internal/patch"
)

func TestWholeTextKeepsLineEndsAndByteOrderMark(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, old, new, want, kept string }{
		{"a new file", "", "a\nb\n", "a\nb\n", ""},
		{"LF", "a\n", "a\nb\n", "a\nb\n", ""},
		{"CRLF", "a\r\nb\r\n", "a\nb\nc", "a\r\nb\r\nc", "CRLF line ends"},
		{"CRLF that is sent", "a\r\n", "a\r\nb\n", "a\r\nb\n", ""},
		{"mostly CRLF", "a\r\nb\r\nc\n", "x\ny\n", "x\r\ny\r\n", "CRLF line ends"},
		{"mostly LF", "a\r\nb\nc\n", "x\ny\n", "x\ny\n", ""},
		{"one line", "a\r\n", "x", "x", ""},
		{"a mark", "\ufeffa\n", "b\n", "\ufeffb\n", "its byte order mark"},
		{"a mark that is sent", "a\n", "\ufeffb\n", "\ufeffb\n", ""},
		{"both", "\ufeffa\r\n", "b\nc\n", "\ufeffb\r\nc\r\n", "CRLF line ends and its byte order mark"},
	} {
		text, kept := patch.Like(tt.old, tt.new)
		if text != tt.want || kept != tt.kept {
			t.Errorf("%s: got %q, %q, want %q, %q", tt.name, text, kept, tt.want, tt.kept)
		}
	}
}
