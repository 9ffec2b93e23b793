//go:build !race

package sandbox_test

// raced says whether the race detector is on.
const raced = false
