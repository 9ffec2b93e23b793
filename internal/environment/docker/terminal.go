package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"

	"github.com/charmbracelet/x/xpty"

	"hermes/internal/environment/remote"
	"hermes/internal/proc"
)

// Terminal runs a script on a terminal in the container; see [remote.Terminals]. The client
// joins it to one of this machine. A terminal has no room for marks: if the client fails, its
// words are in the output, and the exit code is the client's.
func (r *Runner) Terminal(ctx context.Context, s remote.Script, columns, rows int) (int, error) {
	return r.inContainer(ctx, func(id string) (int, error) {
		if _, err := r.marked(ctx, id, []string{"-c", ":"}, remote.Script{}); err != nil {
			return 0, err // so that a lost container is an error here, too
		}
		// The engine sets the size of the terminal only after the script has begun.
		how, err := r.how(ctx, id, fmt.Sprintf("stty rows %d cols %d 2>/dev/null\n%s", rows, columns, s.Text))
		if err != nil {
			return 0, err
		}
		return r.onTerminal(ctx, id, how, s, columns, rows)
	})
}

func (r *Runner) onTerminal(ctx context.Context, id string, how []string, s remote.Script, columns, rows int) (int, error) {
	pty, err := xpty.NewPty(columns, rows)
	if err != nil {
		return 0, fmt.Errorf("%w: a terminal cannot be made here: %w", remote.ErrNotRun, err)
	}
	args := append([]string{"exec", "--interactive", "--tty", "--env", "TERM=xterm-256color"}, r.forwardArgs()...)
	p, err := proc.Start(ctx, proc.Command{
		Path: r.program, Args: append(append(args, id, "/bin/sh"), how...), Files: nil, Env: slices.Concat(r.config.Environ, r.config.Forward),
		Terminal: &terminal{pty}, Stdout: s.Stdout, Grace: clientGrace,
	})
	if err != nil {
		return 0, r.startError(err)
	}
	defer p.Close()
	if s.Stdin != nil {
		typed := make(chan struct{})
		go func() { // ends with the input, or with the process
			defer close(typed)
			_, _ = io.Copy(typing{p}, s.Stdin)
		}()
		defer func() {
			p.Close()
			if c, ok := s.Stdin.(io.Closer); ok {
				_ = c.Close()
				<-typed
			}
		}()
	}
	<-p.Done()
	status, err := p.Wait(context.Background())
	if status.Cut {
		return 0, context.Cause(ctx)
	}
	return status.Code, err
}

// typing types on the terminal of a process.
type typing struct{ p *proc.Process }

func (t typing) Write(b []byte) (int, error) {
	if err := t.p.Input(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// terminal is a pseudo-terminal of this machine. It closes the client's side once the client
// has it, so that the output ends with it.
type terminal struct{ xpty.Pty }

func (t *terminal) Start(cmd *exec.Cmd) error {
	if err := t.Pty.Start(cmd); err != nil {
		return err
	}
	if u, ok := t.Pty.(interface{ Slave() *os.File }); ok && u.Slave() != nil {
		return u.Slave().Close()
	}
	return nil
}

func (t *terminal) Read(p []byte) (int, error) {
	n, err := t.Pty.Read(p)
	if err != nil && !errors.Is(err, io.EOF) { // Linux reports an input/output error when the other side is gone
		err = io.EOF
	}
	return n, err
}
