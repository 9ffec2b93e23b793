package text_test

import (
	"strings"
	"testing"

	"hermes/internal/text"
)

func TestTailKeepsTheLastLine(t *testing.T) {
	t.Parallel()
	var tail text.Tail
	if got := tail.Last(); got != "" {
		t.Errorf("empty: %q", got)
	}
	for range 10 {
		n, err := tail.Write([]byte(strings.Repeat("x", 5000)))
		if n != 5000 || err != nil {
			t.Error(n, err)
		}
	}
	_, _ = tail.Write([]byte("\nfirst\nno \x1b[2Jlicence\U000E0041\n\n"))
	if got := tail.Last(); got != "no [2Jlicence" {
		t.Errorf("got %q", got)
	}
}
