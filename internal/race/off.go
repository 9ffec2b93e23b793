//go:build !race

package race

// Enabled says that the race detector is on: the program runs several times slower and needs more memory.
const Enabled = false
