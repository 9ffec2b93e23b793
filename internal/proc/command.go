package proc

import (
	"io"
	"os/exec"
	"time"
)

// Command says what to start.
type Command struct {
	// Path is the program; a bare name is looked up in this process's PATH.
	Path string
	// Args are its arguments, without the program itself.
	Args []string
	// Dir is the folder to start in; empty means this process's own.
	Dir string
	// Env is the whole environment as NAME=value. Nil is an empty one.
	Env []string
	// Stdin is read until its end or the child's. Nil is an empty input. A
	// Read that never returns holds back Close, not Wait.
	Stdin io.Reader
	// OpenInput keeps the standard input open for Process.Input. It excludes
	// Stdin.
	OpenInput bool
	// Stdout and Stderr receive the output as it comes and never after Wait
	// has returned. Nil discards. If both are one writer, the child gets one
	// stream for both, in the order of writing.
	Stdout, Stderr io.Writer
	// Terminal, if set, takes the place of all three streams: its output goes
	// to Stdout, and Process.Input types on it. The process closes it.
	Terminal Terminal
	// Grace is the time between the gentle signal and the forced end.
	Grace time.Duration
	// Drain is how long an output that grandchildren hold open must be quiet,
	// after the child has exited, to count as ended. Ten times that is the
	// most that is waited.
	Drain time.Duration
	// Limits bound what the child may use, where the system can do that.
	Limits Limits
	// Guard ends the command should this process be killed. Nil is no guard.
	Guard *Guard
}

// Terminal is a pseudo-terminal that a child can be started on.
type Terminal interface {
	io.ReadWriteCloser
	// Start starts cmd with its three streams on the terminal, and lets go of
	// the child's side of it.
	Start(cmd *exec.Cmd) error
}

// Limits of a child and of what it starts. Zero is no limit.
type Limits struct {
	OpenFiles    uint64 // file descriptors
	FileBytes    uint64 // largest file that may be written
	AddressBytes uint64 // address space; many runtimes reserve far more than they use
	CPUSeconds   uint64
}

// Status is how a child ended.
type Status struct {
	// Code is the exit status, or 128+n when signal n ended the child.
	Code int
	// Duration is the time from start to exit.
	Duration time.Duration
	// Cut is set when the context ended before the child did.
	Cut bool
}

// Times that hold where a Command says nothing.
const (
	DefaultGrace = time.Second
	DefaultDrain = 100 * time.Millisecond
)

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}
