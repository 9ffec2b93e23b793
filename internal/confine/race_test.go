//go:build race

package confine_test

// raced says whether the race detector is on.
const raced = true
