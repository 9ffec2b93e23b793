//go:build race && !everybyte

package remote_test

// stride is how far apart the cuts of a connection are: the race detector takes most of the time,
// and where in a message a connection is cut does not change who meets whom. It is no multiple of a
// length that repeats.
const stride = 61

// manyEvents is how many come while a frontend does not read.
const manyEvents = 20_000
