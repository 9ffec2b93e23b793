package hermes

import (
	"context"
	"io"
	"io/fs"
	"time"
)

// Environment is a place where commands run and files live. One value serves
// one session: it remembers the current folder and the exported variables
// that its commands leave behind.
type Environment interface {
	// Exec runs a command to its end. A non-zero exit status is no error; an
	// error means that the command could not be run or its outcome is not
	// known. When ctx ends, the command and all its children are ended, and
	// Exec returns what is known with the context's cause as error. Exec may
	// be called concurrently; of concurrent commands with Keep set, the last
	// to end decides what is remembered.
	Exec(ctx context.Context, c Command) (Exit, error)
	// Files gives access to the files that commands see.
	Files() Files
	// Close ends every command that still runs and frees the place.
	Close() error
}

// Command is a shell command.
type Command struct {
	// Line is the text for the shell.
	Line string
	// Dir is the folder to run in; empty means the remembered one.
	Dir string
	// Env is added to the environment, as NAME=value.
	Env   []string
	Stdin io.Reader
	// Stdout and Stderr receive output as it comes; they may be the same
	// writer, which then sees the order of a terminal. Nil discards.
	Stdout, Stderr io.Writer
	// Keep remembers the folder and the exported variables the command ends
	// with for the commands after it.
	Keep bool
}

// Exit is how a command ended. Code follows the shell: 128+n for signal n.
type Exit struct {
	Code     int
	Duration time.Duration
}

// Starter is implemented by environments that can run commands in the
// background.
type Starter interface {
	// Start runs the command and returns at once. The process lives until it
	// ends, is killed, or the environment is closed; ctx bounds the start
	// alone. Output goes to the command's writers.
	Start(ctx context.Context, c Command, tty bool) (Process, error)
}

// Process is a command that runs in the background. Its methods may be
// called concurrently.
type Process interface {
	// PID is the process id where the environment has one, else 0.
	PID() int
	// Wait returns when the process has ended and its output was written.
	Wait(ctx context.Context) (Exit, error)
	// Kill ends the process and all its children, first gently.
	Kill() error
	// Input writes to its standard input; CloseInput ends that.
	Input(data []byte) error
	CloseInput() error
}

// Files is the file system of an environment. Paths may be relative to its
// current folder and may begin with ~ for the home folder. Errors wrap
// fs.ErrNotExist and fs.ErrPermission where they apply.
type Files interface {
	// Resolve returns the absolute path, without looking at the disk; "." is
	// the current folder.
	Resolve(path string) (string, error)
	// Stat follows links. RealPath returns the path with all links followed,
	// also of a file that does not exist yet in a folder that does.
	Stat(ctx context.Context, path string) (fs.FileInfo, error)
	RealPath(ctx context.Context, path string) (string, error)
	Open(ctx context.Context, path string) (io.ReadCloser, error)
	// Write replaces the file in one step or leaves the old one whole; it
	// makes missing parent folders and keeps the mode of an existing file.
	Write(ctx context.Context, path string, data []byte, mode fs.FileMode) error
	List(ctx context.Context, dir string) ([]fs.DirEntry, error)
	// Remove deletes a file or an empty folder. Rename moves and replaces.
	Remove(ctx context.Context, path string) error
	Rename(ctx context.Context, from, to string) error
}

// HostFiles is implemented by Files whose paths are paths of this machine, so
// that a tool may walk them directly.
type HostFiles interface {
	OnHost() bool
}
