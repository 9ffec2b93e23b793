package environment

import (
	"context"
	"errors"
	"io"
	"time"

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
	// Output gets a copy of what the command prints; nil: no one else reads it.
	Output io.Writer
	// Started is called when the command has started, or could not be; nil: never.
	Started func()
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

// copied returns writers that the walls read as well. Equal ones stay equal.
func (i Inside) copied(stdout, stderr io.Writer) (io.Writer, io.Writer) {
	if i.Output == nil {
		return stdout, stderr
	}
	tee := func(w io.Writer) io.Writer {
		if w == nil {
			return i.Output
		}
		return &both{w, i.Output}
	}
	out := tee(stdout)
	if stderr == stdout {
		return out, out
	}
	return out, tee(stderr)
}

// both writes to a command's writer, and shows the walls what it wrote.
type both struct{ to, copy io.Writer }

// Write returns what the command's writer returns.
func (b *both) Write(p []byte) (int, error) {
	_, _ = b.copy.Write(p)
	return b.to.Write(p)
}

// started calls Started.
func (i Inside) started() {
	if i.Started != nil {
		i.Started()
	}
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

// limits converts what a command may use. It refuses what only walls can enforce where
// there are none, so that no limit is silently ignored.
func (l *Local) limits(c hermes.Command) (proc.Limits, error) {
	want := c.Limits
	if l.config.Walls == nil || c.Outside {
		switch {
		case want.Network != "" && want.Network != hermes.NetworkHost:
			return proc.Limits{}, errors.New("the network of a command can only be limited in a sandbox, and there is none; run it without that limit")
		case want.Write != nil:
			return proc.Limits{}, errors.New("what a command may write can only be limited in a sandbox, and there is none; run it without that limit")
		case want.Processes > 0:
			return proc.Limits{}, errors.New("the number of processes can only be limited in a sandbox, and there is none; run it without that limit")
		}
	}
	if want.Memory < 0 || want.CPU < 0 || want.Processes < 0 || want.Time < 0 {
		return proc.Limits{}, errors.New("a limit of a command is negative; use 0 for no limit")
	}
	return proc.Limits{
		AddressBytes: uint64(want.Memory),
		CPUSeconds:   uint64((want.CPU + time.Second - 1) / time.Second),
	}, nil
}

// limited returns a context that also ends after a time, if it is not 0.
func limited(ctx context.Context, most time.Duration) (context.Context, func()) {
	if most == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, most, hermes.ErrTimeLimit)
}
