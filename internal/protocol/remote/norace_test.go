//go:build !race

package remote_test

// stride is how far apart the cuts of a connection are.
const stride = 1
