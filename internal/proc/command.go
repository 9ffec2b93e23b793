package proc

import (
	"io"
	"os"
	"os/exec"
	"time"
)

// Command describes the child to start.
type Command struct {
	// Path is the program; a bare name is looked up in this process's PATH.
	Path string
	// Args are its arguments, without the program itself.
	Args []string
	// Dir is the folder to start in; empty means this process's own.
	Dir string
	// Env is the whole environment as NAME=value. Nil is an empty one.
	Env []string
	// Stdin is read until it or the child ends. Nil means empty input. A Read
	// that never returns blocks Close, but not Wait.
	Stdin io.Reader
	// OpenInput keeps the standard input open for Process.Input. It cannot be
	// combined with Stdin.
	OpenInput bool
	// Stdout and Stderr receive the output as it is written, never after Wait
	// has returned. Nil discards it. If both are the same writer, the child
	// gets one stream for both, in the order of writing.
	Stdout, Stderr io.Writer
	// Terminal, if set, replaces all three streams: its output goes to Stdout,
	// and Process.Input types on it. The Process closes it.
	Terminal Terminal
	// Grace is the time between the signal to end and the forced end.
	Grace time.Duration
	// Drain applies after the child has exited while grandchildren hold its
	// output open. The output counts as ended when it was quiet for this time,
	// and at the latest after ten times this.
	Drain time.Duration
	// Files are open files that the child gets as descriptors, from 3 on. A nil
	// entry is one that it does not get. They are not supported on Windows.
	Files []*os.File
	// Limits bound what the child may use, if the system supports that.
	Limits Limits
	// Guard ends the command if this process is killed. Nil means no guard. A
	// Launcher has its own.
	Guard *Guard
	// Launcher starts the program; nil starts it below this process.
	Launcher Launcher
}

// Terminal is a pseudo-terminal that a child can be started on.
type Terminal interface {
	io.ReadWriteCloser
	// Start starts cmd with its three streams on the terminal, and closes the
	// child's side of it in this process.
	Start(cmd *exec.Cmd) error
}

// Limits of a child and of what it starts. Zero means no limit.
type Limits struct {
	OpenFiles    uint64 // file descriptors
	FileBytes    uint64 // largest file that may be written
	AddressBytes uint64 // address space; many runtimes reserve far more than they use
	CPUSeconds   uint64
	Processes    uint64 // below the child at once; with more it is ended, and all of them (on Linux)
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

// Defaults for a Command.
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
