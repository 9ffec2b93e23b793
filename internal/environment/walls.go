package environment

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"hermes"
	"hermes/internal/isolation"
	"hermes/internal/proc"
)

// done tells the walls that a command is over. It is not cut off by the end of the
// command's context.
func done(i isolation.Inside, exit hermes.Exit, ended bool) []hermes.Refusal {
	if i.Done == nil {
		return nil
	}
	return i.Done(context.Background(), exit, ended)
}

// copied returns writers that the walls read as well. Equal ones stay equal.
func copied(i isolation.Inside, stdout, stderr io.Writer) (io.Writer, io.Writer) {
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

// started tells the walls that a command was started, or could not be.
func started(i isolation.Inside) {
	if i.Started != nil {
		i.Started()
	}
}

// enter asks the walls for a command. What runs outside is never started inside.
func (l *Local) enter(ctx context.Context, c hermes.Command, dir string) (isolation.Inside, error) {
	var inside isolation.Inside
	var err error
	if l.config.Walls != nil {
		inside, err = l.config.Walls.Enter(ctx, c, dir)
		if err != nil {
			return inside, err
		}
	}
	if c.Outside {
		inside.Launcher = nil
		return inside, nil
	}
	if inside.Launcher == nil && l.config.Bare != nil { // also where no walls can be built
		if inside.Launcher, err = l.config.Bare.Launcher(ctx); err != nil {
			started(inside)
			done(inside, hermes.Exit{}, false)
			return isolation.Inside{}, err
		}
	}
	return inside, nil
}

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
		Processes:    uint64(max(cmp.Or(want.Processes, l.config.Processes), 0)),
	}, nil
}

// limited returns a context that also ends after a time, if it is not 0.
func limited(ctx context.Context, most time.Duration) (context.Context, func()) {
	if most == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, most, hermes.ErrTimeLimit)
}
