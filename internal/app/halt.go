package app

import (
	"context"
	"fmt"
	"time"

	"hermes"
	"hermes/internal/brake"
	"hermes/internal/owner"
	"hermes/internal/protocol"
)

// Brake is the file that stops all work of the home.
func (a *App) Brake() (brake.File, error) {
	h, err := a.home()
	return brake.File(h.Brake()), err
}

// CheckHalt returns why nothing may begin: a hermes.ErrHalted if the brake is set or cannot be
// read. It reads the brake each time and may be called concurrently.
func (a *App) CheckHalt() error {
	b, err := a.Brake()
	if err != nil {
		return nil // reported where the home is needed
	}
	s, set := b.State()
	if !set {
		return nil
	}
	why := ""
	switch {
	case s.Fault != nil:
		why = fmt.Sprintf(", or its file cannot be read (%v)", s.Fault)
	case s.Reason != "":
		why = fmt.Sprintf(" at %s (%s)", s.Since.Local().Format(time.DateTime), s.Reason)
	default:
		why = " at " + s.Since.Local().Format(time.DateTime)
	}
	return fmt.Errorf("%w%s. Nothing begins until you run `hermes panic --off`", hermes.ErrHalted, why)
}

// HaltProcess asks another process of the home to stop all its work.
func (a *App) HaltProcess(ctx context.Context, to hermes.Owner) (protocol.Halted, error) {
	h, err := a.home()
	if err != nil {
		return protocol.Halted{}, err
	}
	c, err := owner.Dialer{Folder: h.Join("run"), Above: a.opts.AboveOf}.Dial(ctx, to, hermes.From{Platform: "cli", Name: "hermes panic"})
	if err != nil {
		return protocol.Halted{}, err
	}
	defer c.Close()
	return c.Halt(ctx)
}
