package redact

import (
	"slices"
	"testing"
)

// TestOverlapsAreJoined checks what protects from a mistake in a rule: none is known
// that makes spans which overlap.
func TestOverlapsAreJoined(t *testing.T) {
	t.Parallel()
	got := ordered([]span{{5, 10, "a"}, {0, 3, "b"}, {8, 12, "c"}, {20, 21, "d"}})
	want := []span{{0, 3, "b"}, {5, 12, hidden}, {20, 21, "d"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
