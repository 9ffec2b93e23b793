package sandbox

import "errors"

// Config says what to start.
type Config struct {
	Policy Policy
	// Name is what the keeper's process is called; empty keeps the program's.
	Name string
	// Target is what the keeper attacks first; Owner is filled in.
	Target Target
	// Refused is called, from several goroutines, with the address of a connection
	// that the walls of layer B refused. Nil ignores it. In layer A there is no way
	// out but the proxy.
	Refused func(address string)
	// ABI makes the walls those of an older Landlock, for tests of such hosts. Zero, and
	// what is above the kernel's own, means the kernel's.
	ABI int
}

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

// ErrGone means that the keeper has ended, and with it everything it had started; without walls
// Close says whether what was detached may still run.
var ErrGone = errors.New("the sandbox of this session has ended; the next command starts a new one")

// ErrUnavailable is the kind of error that Start returns where the keeper says that the
// walls cannot be built, or do not hold. Of an empty policy that is true of the host; other
// errors, such as a time-out or a lack of memory, processes or files, say nothing about it.
var ErrUnavailable = errors.New("this host does not allow the walls")

// unavailable is such an error with its own text.
type unavailable struct{ error }

func (u *unavailable) Unwrap() error      { return u.error }
func (*unavailable) Is(target error) bool { return target == ErrUnavailable }
