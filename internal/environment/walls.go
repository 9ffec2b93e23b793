package environment

import (
	"context"
	"errors"

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

// Bounds is implemented by Walls that know what commands may reach and change.
type Bounds interface {
	Bounds() (reach hermes.Network, write []string)
}

// Inside is how to start one command inside of walls. The zero value changes nothing.
type Inside struct {
	// Launcher starts the command; nil: as usual.
	Launcher proc.Launcher
	// Env changes the variables; nil: they stay as they are.
	Env func(env []string) []string
	// Done is called once when the command is over, also if it could not be started, and
	// returns what the walls refused. ended says that the command ended by itself. Nil
	// refuses nothing.
	Done func(ctx context.Context, exit hermes.Exit, ended bool) []hermes.Refusal
}

// done calls Done. It is not cut off by the end of the command's context.
func (i Inside) done(exit hermes.Exit, ended bool) []hermes.Refusal {
	if i.Done == nil {
		return nil
	}
	return i.Done(context.Background(), exit, ended)
}

// enter asks the walls for a command. What runs outside is never started inside.
func (l *Local) enter(ctx context.Context, c hermes.Command, dir string) (Inside, error) {
	if l.config.Walls == nil {
		return Inside{}, nil
	}
	inside, err := l.config.Walls.Enter(ctx, c, dir)
	if err == nil && c.Outside {
		inside.Launcher = nil
	}
	return inside, err
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
