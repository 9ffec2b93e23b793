package tokens_test

import (
	"strings"
	"testing"

	"hermes/internal/tokens"
)

func TestText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want int
	}{
		{"", 0},
		{"a", 1},
		{"abcd", 1},
		{"abcde", 2},
		{strings.Repeat("x", 400), 100},
		{"éééé", 1}, // characters, not bytes
		{"日本語", 3},
		{"日本語 ok!", 4},
		{"한국", 2},
		{"\xff\xff\xff\xff", 1},
	}
	for _, tt := range tests {
		if got := tokens.Text(tt.in); got != tt.want {
			t.Errorf("Text(%q) = %d, want %d", tt.in, got, tt.want)
		}
	}
	if got := tokens.Texts("ab", "", "cd"); got != 1 {
		t.Errorf("Texts = %d, want 1: pieces are not rounded one by one", got)
	}
}

// TestPlainTextCountsAsOtherText: wherever other characters stand between plain ones.
func TestPlainTextCountsAsOtherText(t *testing.T) {
	t.Parallel()
	for at := range 20 {
		for other, want := range map[string]int{"é": 20, "日": 23, "\xff": 20} {
			text := strings.Repeat("x", at) + other + strings.Repeat("x", 19-at)
			if got := tokens.Quarters(text); got != want {
				t.Errorf("Quarters(%q) = %d, want %d", text, got, want)
			}
		}
	}
}

func TestAnchor(t *testing.T) {
	t.Parallel()
	a := tokens.Anchor{Counted: 1200, Estimated: 1000}
	for in, want := range map[int]int{1000: 1200, 1100: 1300, 500: 600, 0: 0} {
		if got := a.Now(in); got != want {
			t.Errorf("Now(%d) = %d, want %d", in, got, want)
		}
	}
	if got := (tokens.Anchor{}).Now(77); got != 77 {
		t.Errorf("without a count: %d, want the estimate", got)
	}
}

func BenchmarkText(b *testing.B) {
	s := strings.Repeat("The quick brown fox. ", 5000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		tokens.Text(s)
	}
}
