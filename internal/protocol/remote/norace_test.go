//go:build !race || everybyte

package remote_test

// stride is how far apart the cuts of a connection are.
const stride = 1

// manyEvents is how many come while a frontend does not read.
const manyEvents = 100_000
