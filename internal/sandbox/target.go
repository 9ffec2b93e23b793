package sandbox

// Target is what a keeper attacks before it starts the first command. A layer counts
// only if every attack fails.
type Target struct {
	// Canary is a file that the owner can read and that the policy does not name.
	Canary string
	// Port is a port on the loopback of the host on which the owner listens; 0 is none.
	Port int
	// Owner is the process id of the owner.
	Owner int
}
