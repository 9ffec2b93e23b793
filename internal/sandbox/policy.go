package sandbox

// Layer says how strong the walls around a program are.
type Layer int

// The layers, in rising order.
const (
	// None is no wall at all.
	None Layer = iota
	// B is Landlock and seccomp.
	B
	// A is namespaces, with all of B inside.
	A
)

// String returns "none", "B" or "A".
func (l Layer) String() string {
	switch l {
	case A:
		return "A"
	case B:
		return "B"
	}
	return "none"
}

// Network says what programs may reach.
type Network int

const (
	// Offline is loopback among the programs of one keeper, and nothing else.
	Offline Network = iota
	// Proxied is loopback and the proxy that the keeper's owner serves.
	Proxied
)

// Policy says what the programs of one keeper may do. Paths are absolute and
// cleaned, with their links followed; one that does not exist is skipped.
type Policy struct {
	// Layer is the layer to build. Building a stronger one than the host allows
	// fails.
	Layer Layer
	// Read are the files and folders, with all that is below, that may be read and
	// executed. Write may be changed as well.
	Read, Write []string
	// Protected are files and folders below Write that may not be changed. Layer A
	// mounts them read-only, and makes every folder above them, up to the one in
	// Write, a mount point, so that none can be moved away. Layer B cannot keep
	// this: the caller compares and restores.
	Protected []string
	// Hidden are files and folders below Read or Write that may not be read. Layer A
	// covers them with empty ones. For layer B the caller leaves them out of Read and
	// Write.
	Hidden []string
	// Links are symbolic links on the way to what may be read, each at a path without
	// another link. Layer A makes them where it does not mount the folder that they are in.
	Links []string
	// Temp is the folder that programs use for temporary files. In layer A it is
	// mounted at /tmp and /var/tmp.
	Temp string
	// PrivateHome is, in layer A, mounted at Home, unless that is empty.
	Home, PrivateHome string
	// Network says what may be reached.
	Network Network
	// Nested allows new user namespaces inside, as browsers with a sandbox of
	// their own need.
	Nested bool
	// Devices are device files to be allowed beside the usual harmless ones.
	Devices []string
}
