package remote

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"hermes"
	"hermes/internal/shellstate"
)

// How a background process is followed after its connection was lost.
const (
	firstRetry = 200 * time.Millisecond
	lastRetry  = 10 * time.Second
	lastWords  = 5 * time.Second // for its output, after it was ended
)

//go:embed start.sh
var startScript string

//go:embed hold.sh
var holdScript string

//go:embed follow.sh
var followScript string

var (
	errEnded = errors.New("the process has ended")
	errGone  = errors.New("the process is gone: its place was started again, so its outcome is unknown")
)

// background is a command that runs by itself in the place: a process there holds it,
// writes its output to files and its exit code to another. It is followed by a script, and
// found again by its id if the connection is lost.
type background struct {
	*run
	ctx    context.Context // ends with Close and with the command's own time
	cancel func()
	folder string // of its files in the place
	holder string // the process that holds it
	pid    int
	read   [2]int64 // bytes of its streams that were passed on

	done  chan struct{} // closed when exit and err are set, and the output was passed on
	exit  hermes.Exit
	err   error
	input sync.Mutex
	shut  bool // its input
}

// Start starts a command and returns at once; see [hermes.Starter]. The process goes on
// when the connection to the place is lost, and is followed again when it is back.
func (e *Environment) Start(ctx context.Context, c hermes.Command, tty bool) (hermes.Process, error) {
	ctx, cancel := e.bound(ctx)
	defer cancel()
	if tty {
		return e.startTerminal(ctx, c)
	}
	r, err := e.begin(ctx, c, false)
	if err != nil {
		return nil, err
	}
	b := &background{run: r, done: make(chan struct{})}
	b.folder = r.facts.state + "/b" + r.target.id
	b.ctx, b.cancel = limited(e.life, c.Limits.Time)
	if err := b.start(ctx); err != nil {
		b.cancel()
		e.unregister(r.target.id)
		return nil, err
	}
	go b.follow() // counted in e.active, which Close waits for
	if c.Stdin != nil {
		go b.feed() // ends with the reader or the process
	}
	return b, nil
}

// limited returns a context that also ends after a time, if it is not 0.
func limited(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	if most == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, most, hermes.ErrTimeLimit)
}

// start runs the script that starts the command.
func (b *background) start(ctx context.Context) error {
	p := b.env.place
	b.target.slot = p.take(b.target.id)
	said, problem := newAnswer(nil, b.mark), &bounded{}
	code, err := p.execUntil(ctx, said, Script{Text: b.startText(), Stdout: said, Stderr: problem})
	words, _ := said.said()
	switch {
	case len(words) > 0 && words[0] == saidBegun:
		b.holder, b.pid = strconv.Itoa(number(words, 1)), number(words, 2)
		if b.c.Stderr != nil && problem.Len() > 0 { // where it runs instead of a folder that is gone
			_, _ = b.c.Stderr.Write(problem.Bytes())
		}
		return nil
	case len(words) > 0:
		p.free(b.target.slot)
		_, err = b.answered(words, "")
		return err
	case errors.Is(err, ErrNotRun):
		p.free(b.target.slot)
		return err
	case err == nil:
		err = fmt.Errorf("exit status %d: %s", code, firstLine(problem.String()))
	}
	return errors.Join(fmt.Errorf("start the command in the background: %w", err), p.endOne(b.target))
}

func (b *background) startText() string {
	out, errs := b.folder+"/out", b.folder+"/err"
	if b.c.Stdout == nil {
		out = "/dev/null"
	}
	switch {
	case b.c.Stderr == nil:
		errs = "/dev/null"
	case b.c.Stderr == b.c.Stdout:
		errs = out
	}
	return b.head("hold", holdScript, "out", out, "err", errs) + "set -- \"$@\" " + shellstate.Quote(b.facts.plain) + "\n" + enterScript + startScript
}

// follow passes on the output of the process until it has ended.
func (b *background) follow() {
	defer b.env.unregister(b.target.id)
	wire, cut := context.WithCancel(context.Background())
	killed := make(chan struct{})
	stop := context.AfterFunc(b.ctx, func() {
		defer close(killed)
		_ = b.env.place.kill(b.target) // look tries again if the place cannot be reached
		select {
		case <-b.done:
		case <-time.After(lastWords):
			cut()
		}
	})
	for wait := firstRetry; !b.look(wire); wait = min(2*wait, lastRetry) {
		select {
		case <-wire.Done(): // look says so
		case <-time.After(wait):
		}
	}
	close(b.done)
	b.cancel()
	if !stop() {
		<-killed
	}
	cut()
	_ = b.env.place.script(`rm -rf -- "$1"`, b.folder) // else it goes with the state folder
}

// look follows the process over one connection. It reports whether it has learned how the
// process ended.
func (b *background) look(wire context.Context) bool {
	p, f := b.env.place, b.facts
	kept := "1"
	if b.c.Keep {
		kept = ""
	}
	out, errs := newAnswer(b.c.Stdout, b.mark), newAnswer(b.c.Stderr, b.mark)
	s := Script{Stdout: out, Text: arguments(f.state, strconv.Itoa(b.target.slot), b.target.id, b.mark,
		strconv.FormatInt(b.read[0], 10), strconv.FormatInt(b.read[1], 10), kept, b.holder) + followScript}
	if b.c.Stderr != nil && b.c.Stderr != b.c.Stdout {
		s.Stderr = errs
	}
	_, _ = p.execUntil(wire, out, s) // what was said counts
	b.read[0] += out.passed()
	b.read[1] += errs.passed()
	words, state := out.said()
	switch {
	case len(words) == 0:
		if wire.Err() == nil {
			return false
		}
		b.err = errors.Join(fmt.Errorf("the process could not be followed to its end, so its outcome is unknown: %w", context.Cause(b.ctx)), p.endOne(b.target))
		return true
	case words[0] == saidGone:
		b.err = errGone
		p.free(b.target.slot)
		return true
	}
	if lost := number(words, 2) == 1; lost { // what held it was killed; it may still run
		b.err = p.endOne(b.target)
		b.exit = b.run.exit(number(words, 1))
		return true
	}
	b.exit, b.err = b.run.answered(words, state)
	if cause := context.Cause(b.ctx); b.err == nil && errors.Is(cause, hermes.ErrTimeLimit) {
		b.err = cause
	}
	p.free(b.target.slot)
	return true
}

// PID is the process id in the place.
func (b *background) PID() int { return b.pid }

// Wait returns when the process has ended and its output was passed on.
func (b *background) Wait(ctx context.Context) (hermes.Exit, error) {
	select {
	case <-b.done:
		return b.exit, b.err
	case <-ctx.Done():
		return hermes.Exit{}, context.Cause(ctx)
	}
}

// Kill ends the process and its children in the place. It returns when they have ended.
func (b *background) Kill() error {
	select {
	case <-b.done:
		return nil
	default:
		return b.env.place.kill(b.target)
	}
}

// Input writes to the standard input. It returns when the process has room for the data.
func (b *background) Input(data []byte) error {
	b.input.Lock()
	defer b.input.Unlock()
	if b.shut {
		return errors.New("the standard input of the process is closed")
	}
	return b.write(`[ -p "$p" ] || exit 44; cat >"$p"`, "in", data)
}

// CloseInput closes the standard input, after what was written.
func (b *background) CloseInput() error {
	b.input.Lock()
	defer b.input.Unlock()
	if b.shut {
		return nil
	}
	b.shut = true
	select {
	case <-b.done:
		return nil
	default:
		return b.write(`[ ! -p "$p" ] || : >"$p"`, "close", nil)
	}
}

// write runs a script on one of the pipes of the process.
func (b *background) write(script, pipe string, data []byte) error {
	ctx, cancel := context.WithCancelCause(b.env.life)
	defer cancel(nil)
	go func() { // ends with the script
		select {
		case <-ctx.Done():
			return
		case <-b.done: // perhaps by what was just written
		}
		select {
		case <-ctx.Done():
		case <-time.After(afterEnd):
			cancel(errEnded)
		}
	}()
	var problem bounded
	exit, err := b.env.run(ctx, hermes.Command{
		Line: "p=" + shellstate.Quote(b.folder+"/"+pipe) + "\n" + script, Dir: "/", Stdin: bytes.NewReader(data), Stderr: &problem,
	}, true)
	switch {
	case err != nil:
		return fmt.Errorf("write to the process: %w", err)
	case exit.Code != 0:
		return errEnded
	}
	return nil
}

// feed gives the process the input that it was started with.
func (b *background) feed() {
	buf := make([]byte, 64<<10)
	for {
		n, err := b.c.Stdin.Read(buf)
		if n > 0 && b.Input(buf[:n]) != nil {
			return
		}
		if err != nil {
			_ = b.CloseInput()
			return
		}
	}
}
