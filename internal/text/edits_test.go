package text_test

import (
	"strings"
	"testing"

	"hermes/internal/text"
)

func TestEdits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"modle", "model", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 1},
		{"grün", "grau", 2}, {"ä", "o", 1}, {"model", "model", 0}, {strings.Repeat("a", 101), "a", 102},
	} {
		if got := text.Edits(tt.a, tt.b); got != tt.want {
			t.Errorf("from %q to %q: %d edits, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
