// Package proc starts child processes and makes sure that they end. It is the
// only package of the program that does so.
//
// A child gets its own session and process group (a job object on Windows), so
// that it can be ended with everything that it started: first by a signal, then
// by force. Waiting never hangs on a grandchild that keeps the output open:
// after the child has exited, its output is read for a short time more. Later
// output is discarded until [Process.Close].
//
// The package does not know shells, tools or sessions. Start reading at [Start];
// what differs between systems is in group_*.go. [AdoptOrphans] keeps processes
// whose parents have ended below this one.
package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Process is a started child. Its methods may be called concurrently. The caller
// of Start must call Close.
type Process struct {
	child   Child
	grace   time.Duration
	drain   time.Duration
	pumps   []*pump
	begin   time.Time
	exited  chan struct{} // closed when the child was reaped and status is set
	done    chan struct{} // closed when its output was delivered, too
	status  Status
	ending  sync.Once
	ended   chan struct{} // closed when Kill has done its work
	inputMu sync.Mutex
	input   io.WriteCloser
}

// Run starts the command and waits until it ends. If ctx ends first, the child and
// everything it started are ended, and the error is the context's cause.
func Run(ctx context.Context, c Command) (Status, error) {
	p, err := Start(ctx, c)
	if err != nil {
		return Status{}, err
	}
	<-p.done
	p.Close()
	if p.status.Cut {
		return p.status, context.Cause(ctx)
	}
	return p.status, nil
}

// Start starts the command. When ctx ends, the child is ended as by Kill.
func Start(ctx context.Context, c Command) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	p := &Process{
		grace:  orDefault(c.Grace, DefaultGrace),
		drain:  orDefault(c.Drain, DefaultDrain),
		exited: make(chan struct{}),
		done:   make(chan struct{}),
		ended:  make(chan struct{}),
	}
	feed, err := p.launch(c)
	if err != nil {
		return nil, err
	}
	for _, pm := range p.pumps {
		go pm.run() // ends with its stream; Close waits
	}
	if feed != nil {
		go feed() // ends with the reader or the child's input, which Close closes
	}
	go p.reap()         // ends with the child
	go p.supervise(ctx) // ends with the child or ctx; closes done
	return p, nil
}

// launch connects the streams and starts the child. It returns a function that
// feeds Stdin, or nil.
func (p *Process) launch(c Command) (feed func(), err error) {
	p.begin = time.Now()
	if c.Terminal != nil {
		return nil, p.launchOnTerminal(c)
	}
	var w wiring
	defer w.release()
	in, feed, err := p.wireInput(&w, c)
	if err != nil {
		return nil, err
	}
	out, err := w.output(c.Stdout)
	if err != nil {
		return nil, err
	}
	errs := out
	if c.Stderr != c.Stdout {
		if errs, err = w.output(c.Stderr); err != nil {
			return nil, err
		}
	}
	if p.child, err = c.start(in, out, errs); err != nil {
		return nil, err
	}
	w.started = true
	p.pumps = w.pumps
	return feed, nil
}

// start starts the program with its three streams; nil is an empty one.
func (c Command) start(in, out, errs *os.File) (Child, error) {
	if c.Launcher != nil {
		return c.Launcher.Launch(c.spec([]*os.File{in, out, errs}))
	}
	cmd := hostCommand(c)
	if in != nil {
		cmd.Stdin = in
	}
	if out != nil {
		cmd.Stdout = out
	}
	if errs != nil {
		cmd.Stderr = errs
	}
	if err := own.start(cmd, cmd.Start); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	return started(cmd, c)
}

func (c Command) spec(streams []*os.File) Spec {
	return Spec{Path: c.Path, Args: c.Args, Dir: c.Dir, Env: c.Env, Files: append(streams, c.Files...),
		Terminal: c.Terminal != nil, Limits: c.Limits}
}

func (p *Process) launchOnTerminal(c Command) error {
	child, err := c.startOnTerminal()
	if err != nil {
		c.Terminal.Close()
		return fmt.Errorf("start %s on a terminal: %w", c.Path, err)
	}
	p.child = child
	p.input = c.Terminal
	p.pumps = []*pump{newPump(c.Terminal, c.Stdout)}
	return nil
}

func (c Command) startOnTerminal() (Child, error) {
	if c.Launcher == nil {
		cmd := hostCommand(c)
		if err := own.start(cmd, func() error { return c.Terminal.Start(cmd) }); err != nil {
			return nil, err
		}
		return started(cmd, c)
	}
	var side *os.File
	if t, ok := c.Terminal.(Slave); ok {
		side = t.Slave()
	}
	if side == nil {
		return nil, errors.ErrUnsupported
	}
	child, err := c.Launcher.Launch(c.spec([]*os.File{side, side, side}))
	side.Close() // so that the output ends with the child
	return child, err
}

// reap waits for the child itself, not for other processes of its group.
func (p *Process) reap() {
	p.status = Status{Code: p.child.Wait(), Duration: time.Since(p.begin)}
	close(p.exited)
}

// supervise ends the child when ctx ends, and delivers its output.
func (p *Process) supervise(ctx context.Context) {
	defer close(p.done)
	select {
	case <-p.exited:
	case <-ctx.Done():
		_ = p.Kill()
		<-p.exited
		p.status.Cut = true
	}
	for _, pm := range p.pumps {
		pm.finish(p.drain)
	}
}

// PID is the process id of the child.
func (p *Process) PID() int { return p.child.PID() }

// Done is closed when the child has exited and its output was delivered.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait returns when Done is closed, or with ctx's cause.
func (p *Process) Wait(ctx context.Context) (Status, error) {
	select {
	case <-p.done:
		return p.status, nil
	case <-ctx.Done():
		return Status{}, context.Cause(ctx)
	}
}

// Foreground runs a program that takes over the user's terminal, such as an
// editor, and returns when it has ended. The program stays in this process's
// group, as a terminal requires, and inherits the environment.
func Foreground(ctx context.Context, argv []string, in io.Reader, out, errs io.Writer) error {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Stdin, c.Stdout, c.Stderr = in, out, errs
	return c.Run()
}
