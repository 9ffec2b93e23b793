package proc

import "os"

// Launcher starts programs in another place than below this process, such as inside of a
// sandbox. It may be used concurrently.
type Launcher interface{ Launch(Spec) (Child, error) }

// Spec is a program as a Launcher starts it.
type Spec struct {
	Path     string // of the program
	Args     []string
	Env      []string
	Dir      string
	Files    []*os.File // descriptors 0, 1, 2, …; nil is one that it does not get
	Terminal bool       // descriptor 0 is its controlling terminal
	Limits   Limits
}

// Child is a program that a Launcher started.
type Child interface {
	PID() int
	// Wait returns when the child has ended.
	Wait() (code int, err error)
	// Signal asks the child and all that it started to end, or ends them by force.
	Signal(force bool)
	// Left reports whether something that it started still runs after its end.
	Left() bool
	Close()
}
