package race_test

import (
	"testing"

	"hermes/internal/race"
)

// TestAllRoundsAreRunWithoutTheDetector: a test does less only where the detector is on.
func TestAllRoundsAreRunWithoutTheDetector(t *testing.T) {
	want := 16
	if race.Enabled {
		want = 3
	}
	if got := race.Rounds(16, 3); got != want {
		t.Errorf("%d rounds, want %d (detector on: %v)", got, want, race.Enabled)
	}
}

// TestSkip skips where the detector is on, and only there.
func TestSkip(t *testing.T) {
	ran := false
	ok := t.Run("one", func(t *testing.T) {
		race.Skip(t)
		ran = true
	})
	if !ok || ran == race.Enabled {
		t.Errorf("ran: %v (detector on: %v)", ran, race.Enabled)
	}
}
