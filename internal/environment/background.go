package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/charmbracelet/x/xpty"

	"hermes"
	"hermes/internal/proc"
)

// The size of the terminal that a command gets, in cells.
const (
	ttyWidth  = 120
	ttyHeight = 40
)

// background is a command that was started without waiting for it.
type background struct{ *run }

// Start starts a command and returns at once; see [hermes.Starter].
func (l *Local) Start(ctx context.Context, c hermes.Command, tty bool) (hermes.Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	var terminal proc.Terminal
	if tty {
		t, err := newTerminal()
		if err != nil {
			return nil, err
		}
		terminal = t
		c.Env = append([]string{"TERM=xterm-256color"}, c.Env...)
	}
	r, err := l.start(l.life, c, terminal, c.Stdin == nil && !tty)
	if err != nil {
		if terminal != nil {
			terminal.Close()
		}
		return nil, err
	}
	go r.finish() // counted in l.active, which Close waits for
	return background{r}, nil
}

// Wait returns when the command has ended, its output was written and its folder
// and variables are stored.
func (b background) Wait(ctx context.Context) (hermes.Exit, error) {
	if _, err := b.run.Wait(ctx); err != nil {
		return hermes.Exit{}, err
	}
	exit, cut := b.finish()
	if cut && errors.Is(context.Cause(b.ctx), hermes.ErrTimeLimit) {
		return exit, hermes.ErrTimeLimit
	}
	return exit, nil
}

// terminal is a pseudo-terminal. It closes the child's side once the child has
// it, so that the output ends with the child.
type terminal struct{ xpty.Pty }

func newTerminal() (*terminal, error) {
	t, err := xpty.NewPty(ttyWidth, ttyHeight)
	if err != nil {
		return nil, fmt.Errorf("cannot create a pseudo-terminal (%w); run the command without one", err)
	}
	return &terminal{t}, nil
}

func (t *terminal) Start(cmd *exec.Cmd) error {
	if err := t.Pty.Start(cmd); err != nil {
		return err
	}
	if side := t.Slave(); side != nil {
		return side.Close()
	}
	return nil
}

// Slave returns the child's side, nil if the system has none that can be handed on.
func (t *terminal) Slave() *os.File {
	if u, ok := t.Pty.(interface{ Slave() *os.File }); ok {
		return u.Slave()
	}
	return nil
}

// Control gives access to the file descriptor of our side of the terminal.
func (t *terminal) Control(look func(fd uintptr)) error {
	if c, ok := t.Pty.(interface{ Control(func(uintptr)) error }); ok {
		return c.Control(look)
	}
	return errors.ErrUnsupported
}

func (t *terminal) Read(p []byte) (int, error) {
	n, err := t.Pty.Read(p)
	if err != nil { // Linux reports an input/output error when the other side is gone
		err = io.EOF
	}
	return n, err
}
