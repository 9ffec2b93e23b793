package environment

import (
	"context"
	"errors"
	"time"

	"hermes"
	"hermes/internal/proc"
)

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
