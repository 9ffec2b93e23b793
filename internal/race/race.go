// Package race says whether the race detector watches this program, for tests whose work would take it
// minutes. A test that does less then, or nothing since one goroutine does its work, must do all of it
// without the detector: .ci/run runs both. It knows nothing of the tests.
package race

import "testing"

// Rounds returns whole without the race detector, and fewer with it: how often a test tries something,
// or how much it gives to something, where the tenth try meets no other goroutines than the first.
func Rounds(whole, fewer int) int {
	if Enabled {
		return fewer
	}
	return whole
}

// Skip skips a test with the race detector, which finds nothing in what one goroutine does.
func Skip(t testing.TB) {
	t.Helper()
	if Enabled {
		t.Skip("works in one goroutine, and the run without the race detector has it")
	}
}
