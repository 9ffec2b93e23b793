package remote

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"hermes"
)

// The size of the terminal that a command gets, in cells.
const (
	ttyWidth  = 120
	ttyHeight = 40
)

//go:embed terminal.sh
var terminalScript string

// terminal is a background command on a terminal of the place. It ends with its
// connection.
type terminal struct {
	*run
	ctx   context.Context
	done  chan struct{} // closed when exit and err are set
	exit  hermes.Exit
	err   error
	input sync.Mutex
	typed *io.PipeWriter
}

// startTerminal starts a command on a terminal. Its folder and variables are not kept.
func (e *Environment) startTerminal(ctx context.Context, c hermes.Command) (hermes.Process, error) {
	on, ok := e.place.runner.(Terminals)
	if !ok {
		return nil, errors.New("this place has no terminals for commands; start the command without one")
	}
	c.Keep = false
	c.Env = slices.Concat([]string{"TERM=xterm-256color"}, c.Env)
	r, err := e.begin(ctx, c, false)
	if err != nil {
		return nil, err
	}
	keys, typed := io.Pipe()
	t := &terminal{run: r, done: make(chan struct{}), typed: typed}
	var stdin io.Reader = keys
	if c.Stdin != nil {
		stdin = c.Stdin
	}
	r.target.slot = e.place.take(r.target.id)
	r.out = newAnswer(c.Stdout, r.mark)
	s := Script{Text: r.head() + enterScript + terminalScript, Stdin: stdin, Stdout: r.out, Stderr: r.out}
	life, cancel := limited(e.life, c.Limits.Time)
	t.ctx = life
	go func() { // counted in e.active, which Close waits for
		defer e.unregister(r.target.id)
		defer cancel()
		defer close(t.done)
		defer keys.CloseWithError(errEnded)
		t.follow(on, s)
	}()
	return t, nil
}

// follow runs the script to its end.
func (t *terminal) follow(on Terminals, s Script) {
	wire, cut := context.WithCancelCause(context.Background())
	defer cut(nil)
	var code int
	var err error
	done := make(chan struct{})
	go func() { // ends with the script or its connection; follow waits
		defer close(done)
		code, err = on.Terminal(wire, s, ttyWidth, ttyHeight)
	}()
	ended := t.wait(t.ctx, done, cut)
	t.out.flush()
	words, _ := t.out.said()
	switch {
	case ended != nil:
		t.exit, t.err = t.run.exit(max(number(words, 1), 128+9)), ended.err
		if cause := context.Cause(t.ctx); errors.Is(cause, hermes.ErrTimeLimit) {
			t.err = errors.Join(cause, t.err)
		}
	case len(words) > 0:
		t.env.place.free(t.target.slot)
		t.exit, t.err = t.answered(words, "")
	default: // the terminal was hung up, or the script was ended with the command
		t.exit, t.err = t.run.exit(code), t.env.place.endOne(t.target)
		if err != nil {
			t.err = errors.Join(fmt.Errorf("the connection to the process was lost, so its outcome is unknown: %w", err), t.err)
		}
	}
}

// PID is unknown.
func (t *terminal) PID() int { return 0 }

// Wait returns when the process has ended and its output was passed on.
func (t *terminal) Wait(ctx context.Context) (hermes.Exit, error) {
	select {
	case <-t.done:
		return t.exit, t.err
	case <-ctx.Done():
		return hermes.Exit{}, context.Cause(ctx)
	}
}

// Kill ends the process and its children in the place.
func (t *terminal) Kill() error {
	select {
	case <-t.done:
		return nil
	default:
		return t.env.place.kill(t.target)
	}
}

// Input types on the terminal.
func (t *terminal) Input(data []byte) error {
	t.input.Lock()
	defer t.input.Unlock()
	_, err := t.typed.Write(data)
	return err
}

// CloseInput types the end of the input.
func (t *terminal) CloseInput() error {
	select {
	case <-t.done:
		return nil
	default:
		return t.Input([]byte{4})
	}
}
