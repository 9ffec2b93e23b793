package proc

import "os"

// Launcher starts children in another way than directly below this process, such
// as from inside walls. Its methods may be called concurrently.
type Launcher interface {
	// Launch starts a program and returns once it runs. It does not keep the files.
	Launch(Spec) (Child, error)
}

// Spec is what a Launcher starts.
type Spec struct {
	// Path is the program; a bare name is looked up in the PATH of Env.
	Path string
	// Args are its arguments, without the program itself.
	Args []string
	// Dir is the folder to start in.
	Dir string
	// Env is the whole environment as NAME=value.
	Env []string
	// Files become the descriptors from 0 on. A nil entry is /dev/null among the
	// first three, and not open behind them.
	Files []*os.File
	// Terminal makes descriptor 0 the controlling terminal.
	Terminal bool
	// Limits bound what the child may use.
	Limits Limits
}

// Child is a started program, with the group of processes that it leads. Its
// methods may be called concurrently, Wait only once.
type Child interface {
	// PID is the process id, as other children of the same launcher see it.
	PID() int
	// Wait returns when the child itself has ended: its exit status, or 128+n when
	// signal n ended it.
	Wait() (code int)
	// Signal asks the child and all it started to end, or kills them.
	Signal(force bool)
	// Left reports whether processes that the child started still run after it
	// ended. Zombies do not count.
	Left() bool
	// Close frees what is held for the child, after Wait has returned.
	Close()
}

// Slave is implemented by terminals whose child's side can be handed to a
// Launcher.
type Slave interface {
	// Slave returns the child's side. The caller must not close it.
	Slave() *os.File
}
