package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"sync/atomic"
	"time"

	"hermes"
)

// How long Exec waits for a Runner.
const (
	afterAnswer = 100 * time.Millisecond // when the command has ended: something else holds the stream
	afterStdout = 2 * time.Second        // when only one of two streams has ended
	afterEnd    = 2 * time.Second        // when the command was ended in the place
)

// run is a command that runs in the foreground.
type run struct {
	env    *Environment
	c      hermes.Command
	facts  *facts
	plain  bool // a script of this package: sh, and the variables of the place
	target target
	mark   string
	out    *answer
	errs   *answer // nil if there is no stream of its own
	begin  time.Time
}

// Exec runs a command until it ends; see [hermes.Environment]. Processes that it leaves
// running continue until Close, without their output being read. If the connection is
// lost, the command is ended in the place, as soon as that can be reached.
func (e *Environment) Exec(ctx context.Context, c hermes.Command) (hermes.Exit, error) {
	return e.run(ctx, c, false)
}

// Script runs a script of the program itself, as any text that the place's POSIX shell reads,
// in the folder /, with the variables of the place and without those of the session. It returns
// the exit code of the script.
func (e *Environment) Script(ctx context.Context, text string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	exit, err := e.run(ctx, hermes.Command{Line: text, Dir: "/", Stdin: stdin, Stdout: stdout, Stderr: stderr}, true)
	return exit.Code, err
}

// PlaceName names the place if it goes on without this program; "" if it ends with the session.
func (e *Environment) PlaceName() string {
	if l, ok := e.place.runner.(Lasting); ok {
		return l.Place()
	}
	return ""
}

// run is Exec; plain runs a script of this package.
func (e *Environment) run(ctx context.Context, c hermes.Command, plain bool) (hermes.Exit, error) {
	ctx, cancel := e.bound(ctx)
	defer cancel()
	r, err := e.begin(ctx, c, plain)
	if err != nil {
		return hermes.Exit{}, err
	}
	defer e.unregister(r.target.id)
	ctx, stop := limited(ctx, c.Limits.Time)
	defer stop()
	return r.exec(ctx)
}

// begin makes everything ready for a command, and counts it as active.
func (e *Environment) begin(ctx context.Context, c hermes.Command, plain bool) (*run, error) {
	r := &run{env: e, c: c, plain: plain, mark: "hermes:" + word(), begin: time.Now()}
	r.target.id, r.target.grace = e.id+word(), c.Grace
	if err := e.register(r.target.id); err != nil {
		return nil, err
	}
	if err := r.ready(ctx); err != nil {
		e.unregister(r.target.id)
		return nil, err
	}
	return r, nil
}

func (r *run) ready(ctx context.Context) (err error) {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := r.env.allows(r.c); err != nil {
		return err
	}
	if r.facts, err = r.env.place.know(ctx); err != nil {
		return err
	}
	if err := r.env.place.endPending(); err != nil {
		return err
	}
	r.env.place.carry(ctx, r.facts)
	if r.c.Ready != nil {
		return r.c.Ready()
	}
	return nil
}

// exec runs the script of the command and reads how it ended.
func (r *run) exec(ctx context.Context) (hermes.Exit, error) {
	p := r.env.place
	r.target.slot = p.take(r.target.id)
	s := r.script()
	wire, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	var code int
	var err error
	done := make(chan struct{})
	go func() { // ends with the script or its connection; exec waits
		defer close(done)
		code, err = p.execOnce(wire, s)
	}()
	ended := r.wait(ctx, done, cut)
	r.out.flush()
	if r.errs != nil && r.errs != r.out {
		r.errs.flush()
	}
	words, state := r.out.said()
	switch {
	case ended != nil: // endOne has freed the slot, or keeps it
		return r.exit(number(words, 1)), errors.Join(context.Cause(ctx), ended.err)
	case len(words) > 0:
		p.free(r.target.slot)
		return r.answered(words, state)
	case errors.Is(err, ErrNotRun):
		p.free(r.target.slot)
		return hermes.Exit{}, err
	case err == nil && code != 0: // even the script around the command was ended
		err := p.endOne(r.target)
		return r.exit(code), err
	}
	lost := cmpError(err, errors.New("its end was not reported"))
	return r.exit(0), errors.Join(fmt.Errorf("the connection to the command was lost, so its outcome is unknown: %w", lost), p.endOne(r.target))
}

func cmpError(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// ended says that the context ended a command, and what went wrong then.
type ended struct{ err error }

// wait returns when the Runner has returned. It cuts the connection of a command that has
// answered, and ends the command in the place when ctx ends.
func (r *run) wait(ctx context.Context, done <-chan struct{}, cut context.CancelCauseFunc) *ended {
	select {
	case <-done:
		return nil
	case <-r.out.done:
		r.settle(done)
		cut(nil)
		<-done
		return nil
	case <-ctx.Done():
	}
	err := r.env.place.endOne(r.target)
	select {
	case <-done:
	case <-r.out.done:
		r.settle(done)
	case <-time.After(afterEnd):
	}
	cut(context.Cause(ctx))
	<-done
	return &ended{err}
}

// settle waits for the rest of the output of a command that has answered.
func (r *run) settle(done <-chan struct{}) {
	if r.errs != nil && r.errs != r.out {
		select {
		case <-done:
			return
		case <-r.errs.done:
		case <-time.After(afterStdout):
		}
	}
	select {
	case <-done:
	case <-time.After(afterAnswer):
	}
}

// answered turns what the script said into the result of the command.
func (r *run) answered(words []string, state string) (hermes.Exit, error) {
	switch words[0] {
	case saidMissing:
		return hermes.Exit{}, missingDir(r.dir())
	case saidLimits:
		return hermes.Exit{}, errors.New("the place cannot limit memory or processor time; run the command without that limit")
	case saidExit:
	default:
		return hermes.Exit{}, errors.New("the place gave an answer that makes no sense; the outcome of the command is unknown")
	}
	if group := number(words, 2); group > 1 {
		r.env.mu.Lock()
		r.env.left = append(r.env.left, strconv.Itoa(group))
		r.env.mu.Unlock()
	}
	if r.c.Keep && !r.plain {
		r.env.keep(r.c.Stderr, r.c.Env, state)
	}
	return r.exit(number(words, 1)), nil
}

func (r *run) exit(code int) hermes.Exit {
	return hermes.Exit{Code: code, Duration: time.Since(r.begin)}
}

// missingDir is the error for a working folder that does not exist. It matches
// fs.ErrNotExist.
type missingDir string

func (d missingDir) Error() string {
	return "the folder " + string(d) + " does not exist; create it first or choose another"
}

func (missingDir) Is(target error) bool { return target == fs.ErrNotExist }

// execOnce runs a script again if it certainly did not run and its input was not read. The place may be
// another one by then, which gets the files of this machine first.
func (p *place) execOnce(ctx context.Context, s Script) (int, error) {
	return p.execAgain(ctx, s, func() {
		if f := p.known(); f != nil {
			p.carry(ctx, f)
		}
	})
}

// execAgain is execOnce, which does something before it runs a script again.
func (p *place) execAgain(ctx context.Context, s Script, before func()) (int, error) {
	var in *touched
	if s.Stdin != nil {
		in = &touched{from: s.Stdin}
		s.Stdin = in
	}
	code, err := p.runner.Exec(ctx, s)
	if errors.Is(err, ErrNotRun) && ctx.Err() == nil && (in == nil || !in.read.Load()) {
		before()
		code, err = p.runner.Exec(ctx, s)
	}
	return code, err
}

// execUntil runs a script and cuts its connection when it has answered: a place may hold
// that for as long as something runs that the script has started.
func (p *place) execUntil(ctx context.Context, said *answer, s Script) (int, error) {
	wire, cut := context.WithCancel(ctx)
	defer cut()
	go func() { // ends with the script
		select {
		case <-said.done:
		case <-wire.Done():
			return
		}
		select {
		case <-time.After(afterStdout): // for what the other stream still brings
			cut()
		case <-wire.Done():
		}
	}()
	return p.exec(wire, s)
}

// touched knows whether a reader was read.
type touched struct {
	from io.Reader
	read atomic.Bool
}

func (t *touched) Read(p []byte) (int, error) {
	t.read.Store(true)
	return t.from.Read(p)
}
