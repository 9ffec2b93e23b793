// Package isolation is what an environment and the walls around its commands know of each
// other: [Walls] are asked about each command, and say how to start it. It also has the
// values of the setting terminal.sandbox.
//
// It knows neither how commands are run nor how walls are built. Start at Walls.
package isolation

import (
	"context"
	"errors"
	"io"

	"hermes"
	"hermes/internal/proc"
)

// Walls confine the commands of one session. They may be used concurrently.
type Walls interface {
	// Enter readies the walls for one command in a folder and says how to start it.
	// It allows what Command.Need lists and enforces Command.Limits, or returns an error
	// that says what to do; the command does not run then. It is called for commands with
	// Outside as well, which get no Launcher.
	Enter(ctx context.Context, c hermes.Command, dir string) (Inside, error)
	// Describe says what the walls keep.
	Describe() hermes.Isolation
	// Close frees what the walls hold. It is called once, when no command runs.
	Close() error
}

// Builder is implemented by Walls that are built when they are first needed.
type Builder interface {
	// Build builds them if there are none yet, and describes what holds.
	Build(ctx context.Context) hermes.Isolation
}

// Ender is implemented by Walls that can end all that runs inside of them.
type Ender interface {
	// EndInside ends it, and says what still runs. Later commands run as before.
	EndInside() error
}

// Bounds is implemented by Walls that know what commands may reach and change.
type Bounds interface {
	Bounds() (reach hermes.Network, write []string)
}

// Marker is implemented by Walls that depend on what the user allows meanwhile; see
// [hermes.Walled].
type Marker interface {
	WallsMark() string
}

// Places is implemented by Walls inside of which paths can lead to other files.
type Places interface {
	// OnHost returns where what is at an absolute path inside is outside.
	OnHost(path string) string
}

// Opener is implemented by Walls that know what a need would open; see [hermes.Opener].
type Opener = hermes.Opener

// Bare keeps commands together that have no walls: it starts them below a process that ends
// everything that they started, however it was detached. It may be used concurrently.
type Bare interface {
	// Launcher returns what starts commands. ctx bounds only that.
	Launcher(ctx context.Context) (proc.Launcher, error)
	Ender
	// Close ends all that was started, also what commands left running. It is called once.
	Close() error
}

// Inside is how to start one command inside of walls. The zero value changes nothing.
type Inside struct {
	// Launcher starts the command; nil: as usual.
	Launcher proc.Launcher
	// Env changes the variables; nil: they stay as they are.
	Env func(env []string) []string
	// Output gets a copy of what the command prints; nil: no one else reads it.
	Output io.Writer
	// Started is called once the command has started, or could not be; nil: never.
	Started func()
	// Done is called once when the command is over, also if it could not be started, and
	// returns what the walls refused. ended says that the command ended by itself. Nil
	// refuses nothing.
	Done func(ctx context.Context, exit hermes.Exit, ended bool) []hermes.Refusal
}

// NoCommands returns walls that let no command run, for a session that must have walls
// which this host cannot build. diagnosis says why, and what to do.
func NoCommands(diagnosis string) Walls { return noCommands{errors.New(diagnosis)} }

type noCommands struct{ err error }

func (n noCommands) Enter(context.Context, hermes.Command, string) (Inside, error) {
	return Inside{}, n.err
}

func (n noCommands) Describe() hermes.Isolation {
	return hermes.Isolation{Layer: "none", Text: "Commands do not run: " + n.err.Error()}
}

func (noCommands) Close() error { return nil }
