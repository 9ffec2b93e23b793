// Package proc starts child processes and makes sure that they end. It is the
// only place of the house that does so.
//
// A child gets a session and a process group of its own (a job object on
// Windows), so that it can be ended with everything that it started: first
// gently, then by force. Waiting never hangs on a grandchild that keeps the
// output open: when the child has exited, its output is read for a short time
// more, and what comes later is read and thrown away until [Process.Close].
//
// The package does not know shells, tools or conversations. Start reading at
// [Start]; what differs between systems is in group_*.go.
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

// Times that hold where a Command says nothing.
const (
	DefaultGrace = time.Second
	DefaultDrain = 100 * time.Millisecond
)

// inputWait is how long Input waits for a child that does not read.
const inputWait = 5 * time.Second

// forceWait is how long Kill waits for a group after its forced end.
const forceWait = 10 * time.Second

// ErrInputClosed means that the child has no open standard input to write to.
var ErrInputClosed = errors.New("the standard input of the process is closed")

// Command says what to start.
type Command struct {
	// Path is the program; a bare name is looked up in this process's PATH.
	Path string
	// Args are its arguments, without the program itself.
	Args []string
	// Dir is the folder to start in; empty means this process's own.
	Dir string
	// Env is the whole environment as NAME=value. Nil is an empty one.
	Env []string
	// Stdin is read until its end or the child's. Nil is an empty input. A
	// Read that never returns holds back Close, not Wait.
	Stdin io.Reader
	// OpenInput keeps the standard input open for Process.Input. It excludes
	// Stdin.
	OpenInput bool
	// Stdout and Stderr receive the output as it comes and never after Wait
	// has returned. Nil discards. If both are one writer, the child gets one
	// stream for both, in the order of writing.
	Stdout, Stderr io.Writer
	// Terminal, if set, takes the place of all three streams: its output goes
	// to Stdout, and Process.Input types on it. The process closes it.
	Terminal Terminal
	// Grace is the time between the gentle signal and the forced end.
	Grace time.Duration
	// Drain is how long an output that grandchildren hold open must be quiet,
	// after the child has exited, to count as ended. Ten times that is the
	// most that is waited.
	Drain time.Duration
	// Limits bound what the child may use, where the system can do that.
	Limits Limits
	// Guard ends the command should this process be killed. Nil is no guard.
	Guard *Guard
}

// Terminal is a pseudo-terminal that a child can be started on.
type Terminal interface {
	io.ReadWriteCloser
	// Start starts cmd with its three streams on the terminal, and lets go of
	// the child's side of it.
	Start(cmd *exec.Cmd) error
}

// Limits of a child and of what it starts. Zero is no limit.
type Limits struct {
	OpenFiles    uint64 // file descriptors
	FileBytes    uint64 // largest file that may be written
	AddressBytes uint64 // address space; many runtimes reserve far more than they use
	CPUSeconds   uint64
}

// Status is how a child ended.
type Status struct {
	// Code is the exit status, or 128+n when signal n ended the child.
	Code int
	// Duration is the time from start to exit.
	Duration time.Duration
	// Cut is set when the context ended before the child did.
	Cut bool
}

// Process is a started child. Its methods may be called concurrently. Whoever
// started it calls Close in the end.
type Process struct {
	cmd     *exec.Cmd
	group   *group
	guard   *Guard
	closing sync.Once
	closed  chan struct{} // closed with the first Close
	grace   time.Duration
	drain   time.Duration
	pumps   []*pump
	begin   time.Time
	exited  chan struct{} // closed when the child was reaped; status is set
	done    chan struct{} // closed when its output was delivered as well
	status  Status
	ending  sync.Once
	ended   chan struct{} // closed when Kill has done its work
	inputMu sync.Mutex
	input   io.WriteCloser
}

// Run starts the command and waits for its end. When ctx ends, the child and
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
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = c.Env
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	configure(cmd, c.Terminal != nil)
	p := &Process{
		cmd:    cmd,
		guard:  c.Guard,
		closed: make(chan struct{}),
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

// launch wires the streams and starts the child. It returns a function that
// feeds Stdin, or nil.
func (p *Process) launch(c Command) (feed func(), err error) {
	p.begin = time.Now()
	if c.Terminal != nil {
		return nil, p.launchOnTerminal(c)
	}
	var w wiring
	defer w.release()
	if feed, err = p.wireInput(&w, c); err != nil {
		return nil, err
	}
	if p.cmd.Stdout, err = w.output(c.Stdout); err != nil {
		return nil, err
	}
	p.cmd.Stderr = p.cmd.Stdout
	if c.Stderr != c.Stdout {
		if p.cmd.Stderr, err = w.output(c.Stderr); err != nil {
			return nil, err
		}
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	w.started = true
	p.pumps = w.pumps
	return feed, p.adopt(c.Limits)
}

func (p *Process) launchOnTerminal(c Command) error {
	if err := c.Terminal.Start(p.cmd); err != nil {
		c.Terminal.Close()
		return fmt.Errorf("start %s on a terminal: %w", c.Path, err)
	}
	p.input = c.Terminal
	p.pumps = []*pump{newPump(c.Terminal, c.Stdout)}
	return p.adopt(c.Limits)
}

// adopt takes the fresh child into its group and under its limits.
func (p *Process) adopt(l Limits) error {
	p.group = newGroup(p.cmd.Process)
	p.guard.add(p.PID())
	err := confine(p.cmd.Process.Pid, l)
	if err == nil {
		return nil
	}
	p.group.signal(true)
	_, _ = p.cmd.Process.Wait()
	p.guard.drop(p.PID())
	for _, pm := range p.pumps {
		pm.from.Close()
	}
	_ = p.CloseInput()
	p.group.close()
	return fmt.Errorf("limit the child process: %w", err)
}

// reap waits for the child itself, whoever else is left.
func (p *Process) reap() {
	if exited(p.PID()) {
		p.guard.drop(p.PID()) // before its number can be another's
	}
	state, _ := p.cmd.Process.Wait()
	p.guard.drop(p.PID())
	if p.group.outlives() {
		p.guard.add(p.PID())
		go p.watch() // ends with the group or Close
	}
	p.status = Status{Code: exitCode(state), Duration: time.Since(p.begin)}
	close(p.exited)
}

// watch takes the group out of the guard's care when its last member is gone.
func (p *Process) watch() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for p.group.outlives() {
		select {
		case <-tick.C:
		case <-p.closed:
			return
		}
	}
	p.guard.drop(p.PID())
}

// supervise ends the child with ctx, and delivers its output.
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
func (p *Process) PID() int { return p.cmd.Process.Pid }

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

// Left reports whether the child has exited and something that it started
// still runs in its group or holds its output open.
func (p *Process) Left() bool {
	select {
	case <-p.done:
	default:
		return false
	}
	for _, pm := range p.pumps {
		if !pm.finished() {
			return true
		}
	}
	return p.group.leftover()
}

// Kill ends the child and everything that it started: gently, then after the
// grace by force. It returns when they are gone; a second call waits for the
// first.
func (p *Process) Kill() error {
	p.ending.Do(func() {
		defer close(p.ended)
		if p.reaped() && !p.group.leftover() {
			return
		}
		p.group.signal(false)
		deadline := time.Now().Add(p.grace)
		for !p.reaped() || p.group.leftover() {
			if time.Now().After(deadline) {
				p.force()
				break
			}
			p.pause()
		}
		<-p.exited
	})
	<-p.ended
	return nil
}

// force ends the group by force and waits until it is gone. What the kernel
// itself holds back, such as a read from a dead disk, is left behind.
func (p *Process) force() {
	p.group.signal(true)
	<-p.exited
	for deadline := time.Now().Add(forceWait); p.group.leftover() && time.Now().Before(deadline); {
		p.pause()
	}
}

func (p *Process) reaped() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// pause waits a moment for a child or, when it is gone, for the grandchildren.
func (p *Process) pause() {
	const moment = 10 * time.Millisecond
	if p.reaped() {
		time.Sleep(moment)
		return
	}
	select {
	case <-p.exited:
	case <-time.After(moment):
	}
}

// Close ends what is left of the child and what it started, and waits until
// all of it, output included, is gone. It may be called more than once.
func (p *Process) Close() {
	if !p.reaped() || p.Left() {
		_ = p.Kill()
	}
	p.closing.Do(func() { close(p.closed) })
	p.guard.drop(p.PID())
	<-p.done
	_ = p.CloseInput()
	for _, pm := range p.pumps {
		pm.from.Close()
		<-pm.done
	}
	p.group.close()
}

// Input writes to the child's standard input or types on its terminal. A
// child that does not read is an error after five seconds.
func (p *Process) Input(data []byte) error {
	p.inputMu.Lock()
	defer p.inputMu.Unlock()
	if p.input == nil {
		return ErrInputClosed
	}
	if d, ok := p.input.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = d.SetWriteDeadline(time.Now().Add(inputWait))
	}
	_, err := p.input.Write(data)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errors.New("the process does not read its input")
	}
	if errors.Is(err, os.ErrClosed) || isBrokenPipe(err) {
		return ErrInputClosed
	}
	return err
}

// CloseInput ends the child's standard input. On a terminal it types the end
// of input instead, since closing that would hang up.
func (p *Process) CloseInput() error {
	p.inputMu.Lock()
	defer p.inputMu.Unlock()
	if p.input == nil {
		return nil
	}
	if t, ok := p.input.(Terminal); ok {
		if p.reaped() {
			p.input = nil
			return nil
		}
		_, err := t.Write([]byte{endOfInput})
		return err
	}
	err := p.input.Close()
	p.input = nil
	return err
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}
