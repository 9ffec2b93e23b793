//go:build race

package confine_test

// raced says whether the race detector is on. It slows down what starts many programs; what
// those do inside is none of its business, and is tested without it as well.
const raced = true
