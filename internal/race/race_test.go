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
