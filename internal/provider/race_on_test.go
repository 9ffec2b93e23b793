//go:build race

package provider_test

// raced says that the race detector watches, which makes all of it slower.
const raced = true
