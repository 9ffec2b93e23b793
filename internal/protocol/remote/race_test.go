//go:build race

package remote_test

// stride is how far apart the cuts of a connection are: the race detector takes most of the time.
const stride = 4
