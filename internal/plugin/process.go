package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes"
	"hermes/internal/jsonrpc"
	"hermes/internal/shellstate"
	"hermes/internal/text"
)

const (
	// maxMessage bounds one message in either direction, in bytes.
	maxMessage = 16 << 20
	// chunk is how much is written at once, in bytes: a program that reads slowly is given up only
	// if it does not read that.
	chunk = 32 << 10
	// goodbye is how long a plugin may take to answer shutdown.
	goodbye = 2 * time.Second
	// maxRequests is how many requests of a plugin may run at once.
	maxRequests = 16
)

// conn is a plugin that runs.
type conn struct {
	rpc     *jsonrpc.Conn
	env     hermes.Environment
	process hermes.Process
	errs    *text.Tail
	ended   sync.Once
	endErr  error
	gone    chan struct{} // closed when a plugin that was used has ended, and may start again
}

// start starts the program of a plugin in an environment of its own, which conn closes.
// self is the path of this program.
func start(ctx context.Context, env hermes.Environment, self, dir string, m Manifest, handler jsonrpc.Handler) (*conn, error) {
	starter, ok := env.(hermes.Starter)
	if !ok {
		return nil, errors.Join(errors.New("programs of plugins cannot be started here"), env.Close())
	}
	words := []string{"exec"}
	for _, w := range m.Words(self, dir) {
		words = append(words, shellstate.Quote(w))
	}
	read, write := io.Pipe()
	c := &conn{env: env, gone: make(chan struct{})}
	c.errs = &text.Tail{Flooded: func(why error) { write.CloseWithError(why) }} // watch ends the program
	process, err := starter.Start(ctx, hermes.Command{
		Line: strings.Join(words, " "), Dir: dir, Stdout: write, Stderr: c.errs, Background: true,
		// Nothing may be written beside the files that are pinned, also where there are no walls.
		Env: []string{"HERMES_PLUGIN=" + m.Name, "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1"},
	}, false)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start its program: %w", err), env.Close())
	}
	c.process = process
	over := &ending{done: make(chan struct{})}
	go func() { // ends with the program, which end ends
		exit, err := process.Wait(context.Background())
		switch {
		case err != nil:
		case exit.Code == 126 || exit.Code == 127: // of the shell, which says why
			err = fmt.Errorf("its program %s was not found or cannot be started", text.Visible(m.Program[0]))
		default:
			err = fmt.Errorf("its program ended with exit status %d", exit.Code)
		}
		if last := c.errs.Last(); last != "" {
			err = fmt.Errorf("%w; it said: %s", err, last)
		}
		over.why = err
		close(over.done)
		write.CloseWithError(err)
	}()
	lines := jsonrpc.NewLines(streams{read, process, over}, maxMessage).Tolerant() // a print in a plugin is no reason to end it
	c.rpc = jsonrpc.New(context.WithoutCancel(ctx), lines, handler, jsonrpc.Options{Requests: maxRequests, WriteTime: 30 * time.Second, MaxWrite: maxMessage, Strays: flood})
	return c, nil
}

// hello begins the connection.
func (c *conn) hello(ctx context.Context, version string, m Manifest) error {
	var r initialized
	err := c.rpc.Call(ctx, methodInitialize, initialize{
		Protocol: Protocol, Hermes: program{version}, Host: m.Capabilities.methods(), Limits: wireLimits{maxMessage, maxRequests},
	}, &r)
	switch {
	case err != nil:
		return fmt.Errorf("initialize: %w", err)
	case r.Protocol < 1 || r.Protocol > Protocol:
		return fmt.Errorf("it answers in version %d of the protocol, and this Hermes speaks %d", r.Protocol, Protocol)
	case r.Name != m.Name:
		return fmt.Errorf("its program calls itself %q, and its manifest %q", text.VisibleName(text.OneLine(r.Name, 60)), m.Name)
	}
	return nil
}

// methods are those of the program that a plugin may call.
func (c Capabilities) methods() []string {
	list := []string{}
	if c.Approvals {
		list = append(list, methodAsk)
	}
	if c.Complete != nil {
		list = append(list, methodComplete)
	}
	if len(c.Tools) > 0 {
		list = append(list, methodInvoke)
	}
	return list
}

// end asks the program to end, if it still answers, then ends it and everything that it started.
// It returns when they are gone. Later calls return the same.
func (c *conn) end() error {
	c.ended.Do(func() {
		if c.rpc.Err() == nil {
			ctx, cancel := context.WithTimeout(context.Background(), goodbye)
			_ = c.rpc.Call(ctx, methodShutdown, struct{}{}, nil) // it is ended anyway
			cancel()
		}
		_ = c.process.CloseInput() // it is ended anyway
		c.endErr = c.process.Kill()
		_ = c.rpc.Close()
		_ = c.rpc.Wait() // the reason is of the connection, not of its end
		c.endErr = errors.Join(c.endErr, c.env.Close())
	})
	return c.endErr
}

// streams are the standard output and input of a program.
type streams struct {
	*io.PipeReader
	process hermes.Process
	over    *ending
}

// ending is how a program ended. why is set before done is closed.
type ending struct {
	done chan struct{}
	why  error
}

// Write passes messages on to the program, which must read each chunk in a few seconds.
func (s streams) Write(p []byte) (int, error) {
	for part := range slices.Chunk(p, chunk) {
		if err := s.process.Input(part); err != nil {
			select {
			case <-s.over.done: // how it ended says more
				return 0, s.over.why
			case <-time.After(time.Second):
			}
			return 0, fmt.Errorf("its program takes no more input: %w", err)
		}
	}
	return len(p), nil
}
