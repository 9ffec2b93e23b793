package hermes

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// Environment runs commands and gives access to files, on this machine or
// elsewhere. One value serves one session: it remembers the current folder and
// the exported variables from one command to the next.
type Environment interface {
	// Exec runs a command until it ends. A non-zero exit status is not an
	// error; an error means that the command could not be run or that its
	// outcome is unknown. When ctx ends, Exec ends the command and all its
	// children and returns what is known, with the context's cause as error.
	// Exec may be called concurrently; if several commands set Keep, the last
	// one to end decides what is remembered.
	Exec(ctx context.Context, c Command) (Exit, error)
	// Files returns the file system that the commands see.
	Files() Files
	// Describe says where the commands run and what they may do there. Whoever needs
	// that asks it, never the machine of this process. It is fast after the first call.
	Describe(ctx context.Context) Description
	// Close ends every running command and frees all resources.
	Close() error
}

// Command is a shell command.
type Command struct {
	// Line is the text for the shell.
	Line string
	// Dir is the folder to run in; empty means the current folder.
	Dir string
	// Env is added to the environment, as NAME=value.
	Env   []string
	Stdin io.Reader
	// Stdout and Stderr receive output as it arrives; nil discards it. They may
	// be the same writer, which then gets both in the order of a terminal.
	Stdout, Stderr io.Writer
	// Keep makes later commands start with the folder and the exported
	// variables that this command ends with.
	Keep bool
	// Limits bound what the command may use and reach.
	Limits Limits
	// Outside runs the command without walls, in the environment that the user began
	// the program with. The caller has asked the user.
	Outside bool
	// Background says that no one waits for the end of the command.
	Background bool
	// Ready, if set, is called when the command is about to start and what runs inside of
	// the walls is stopped, if Outside is set. If it fails, the command does not start.
	Ready func() error
	// Need lists what the user has allowed this command beyond what the walls allow.
	Need []Need
	// Channel, if set, is an open file that the command gets beside its three streams, as the
	// descriptor that [ChannelVariable] names. The caller closes its own. Environments that are
	// no ChannelGiver refuse the command.
	Channel *os.File
	// Grace is the time between the signal to end and the forced end, if the command is ended;
	// 0 is that of the environment.
	Grace time.Duration
}

// ChannelVariable is the variable in which a command finds the number of its channel.
const ChannelVariable = "HERMES_CHANNEL"

// ChannelGiver is implemented by environments that may hand an open file to a command.
type ChannelGiver interface {
	// GivesChannel reports whether a command may have a Channel.
	GivesChannel() bool
}

// Limits bound what a command may use and reach. The zero value sets no limit beyond
// those of the environment. An environment refuses a limit that it cannot enforce; the
// command does not run then.
type Limits struct {
	// Network, if set, is the most that the command may reach.
	Network Network
	// Write, if not nil, lists the only paths that the command may change; an empty list
	// means none.
	Write []string
	// Memory is in bytes, for each process.
	Memory int64
	// CPU is the processor time of each process.
	CPU time.Duration
	// Processes is how many may run at once.
	Processes int
	// Time is how long the command may run; then it ends with ErrTimeLimit.
	Time time.Duration
}

// ErrTimeLimit means that a command was ended after Limits.Time.
var ErrTimeLimit = errors.New("the command ran out of time")

// Exit is how a command ended. Code follows the shell: 128+n for signal n.
type Exit struct {
	Code     int
	Duration time.Duration
	// Refused lists what the walls refused while the command ran.
	Refused []Refusal
}

// Confined is implemented by environments that build their walls when they are first
// needed.
type Confined interface {
	// Confine builds the walls if there are none yet, and describes what holds. Walls
	// that cannot be built do not hold; the next command says why.
	Confine(ctx context.Context) Isolation
}

// Walled is implemented by environments whose walls depend on what the user allows meanwhile.
type Walled interface {
	// WallsMark tells apart the walls of commands that begin at different times: equal marks
	// mean that both may read and change the same. It builds nothing.
	WallsMark() string
}

// Opener is implemented by environments whose walls know what a need would open.
type Opener interface {
	// Opens says what a need for a path would open. It looks at the files there, within
	// bounds, and changes nothing.
	Opens(ctx context.Context, n Need) Opening
}

// Opening is what a need opens that its name does not say.
type Opening struct {
	// Refuse says why the need is refused, and what to do; "" if the user can be asked.
	Refuse string
	// Holds names what is asked about each time; "" is nothing.
	Holds string
}

// Starter is implemented by environments that can run commands in the
// background.
type Starter interface {
	// Start starts the command and returns at once. The process runs until it
	// ends, is killed, or the environment is closed; ctx limits only the start.
	// Output goes to the command's writers.
	Start(ctx context.Context, c Command, tty bool) (Process, error)
}

// Process is a command that runs in the background. Its methods may be
// called concurrently.
type Process interface {
	// PID returns the process id, or 0 if the environment has none.
	PID() int
	// Wait returns when the process has ended and its output is written, or
	// when ctx ends.
	Wait(ctx context.Context) (Exit, error)
	// Kill ends the process and all its children, gracefully first.
	Kill() error
	// Input writes to the standard input of the process; CloseInput closes it.
	Input(data []byte) error
	CloseInput() error
}

// Files is the file system of an environment. Paths may be relative to its
// current folder and may begin with ~ for the home folder. Errors wrap
// fs.ErrNotExist and fs.ErrPermission where they apply.
type Files interface {
	// Resolve returns the absolute path without reading the disk; "." is the
	// current folder.
	Resolve(path string) (string, error)
	// Stat follows links. RealPath returns the path with all links resolved;
	// the file may be missing if its folder exists.
	Stat(ctx context.Context, path string) (fs.FileInfo, error)
	RealPath(ctx context.Context, path string) (string, error)
	Open(ctx context.Context, path string) (io.ReadCloser, error)
	// Write replaces the file atomically: after an error the old file is
	// intact. It creates missing parent folders and keeps the mode of an
	// existing file. A new one gets exactly mode; 0 is what the commands give a
	// new file, 0666 less the umask.
	Write(ctx context.Context, path string, data []byte, mode fs.FileMode) error
	List(ctx context.Context, dir string) ([]fs.DirEntry, error)
	// Remove deletes a file or an empty folder. Rename moves a file and
	// replaces an existing one.
	Remove(ctx context.Context, path string) error
	Rename(ctx context.Context, from, to string) error
}

// ErrLink means that a part of a path is a symbolic link although it must not be:
// it has become one after the path was checked. Nothing was read or changed.
var ErrLink = errors.New("a part of the path is a symbolic link by now")

// LinklessFiles is implemented by Files that can open and change exactly the file
// that a caller has judged.
type LinklessFiles interface {
	// NoLinks returns the same files, but its Stat, Open, List, Write, Remove and
	// Rename follow no link, also if one takes the place of a folder meanwhile. They
	// take paths that RealPath returned, and fail with an error that wraps ErrLink if
	// a part of one is a link by now. The last name of a path that Remove deletes, or
	// that Rename moves or replaces, may be a link: it is changed itself.
	NoLinks() Files
}

// Located is where a path leads.
type Located struct {
	// Real is the path with all links followed, and Dir its folder with all links
	// followed; their last folders may be missing.
	Real, Dir string
	// Info is what is at Real; nil if nothing is.
	Info fs.FileInfo
}

// LocatingFiles is implemented by Files for which each look takes time, such as those of
// a container: one look answers what RealPath of a path and its folder and Stat would.
type LocatingFiles interface {
	// Locate finds where absolute paths lead, each as if it were asked alone. The result
	// has one element for each.
	Locate(ctx context.Context, paths ...string) ([]Located, error)
}

// HostFiles is implemented by Files that may use the paths of this machine.
type HostFiles interface {
	// OnHost reports whether a tool may open and walk the paths directly.
	OnHost() bool
}
