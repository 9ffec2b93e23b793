package rented

import (
	"context"
	"errors"
	"fmt"
	"io"

	"hermes/internal/environment/remote"
)

// ErrCut means that the connection to a service ended while a command may have run.
var ErrCut = errors.New("the connection ended while the command ran; its outcome is unknown")

// Cut marks an error of Run as one after which the command may have run.
func Cut(err error) error { return fmt.Errorf("%w: %w", ErrCut, err) }

// Exec runs a script in the sandbox. A sandbox that the service stopped meanwhile is woken,
// and the script sent again. One that was deleted is replaced, but if scripts have run in
// it, Exec says so first: their files are lost.
func (r *Runner) Exec(ctx context.Context, s remote.Script) (int, error) {
	input, err := readAll(ctx, s.Stdin)
	if err != nil {
		return 0, notRun(ctx, err)
	}
	if s.Running {
		return r.inRunning(ctx, s, input)
	}
	box, generation, err := r.ready(ctx, 0)
	if err != nil {
		return 0, notRun(ctx, err)
	}
	code, err := r.run(ctx, box, s, input)
	if asleep(err) {
		next, now, lookErr := r.ready(ctx, generation)
		if lookErr != nil {
			return 0, notRun(ctx, lookErr)
		}
		if now != generation {
			code, err = r.run(ctx, next, s, input)
		}
	}
	switch {
	case err == nil:
		r.used.Store(true)
		r.last.Store(r.config.Now().UnixNano())
		return code, nil
	case unsent(err):
		return 0, notRun(ctx, err)
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case errors.Is(err, ErrCut):
		return 0, fmt.Errorf("%s: %w", r.about.Name, err)
	}
	return 0, fmt.Errorf("%s: %w", r.about.Name, Cut(err))
}

// inRunning runs a script if the sandbox ran a short time ago. It asks the service nothing else.
func (r *Runner) inRunning(ctx context.Context, s remote.Script, input []byte) (int, error) {
	if err := r.take(ctx); err != nil {
		return 0, notRun(ctx, err)
	}
	box := r.box
	idle := r.idle()
	r.give()
	if box.ID == "" || idle {
		return 0, remote.ErrNotRun
	}
	return r.run(ctx, box, s, input)
}

// run sends one script to a running sandbox.
func (r *Runner) run(ctx context.Context, box Sandbox, s remote.Script, input []byte) (int, error) {
	text, files := body(s, input, r.config.Temp)
	if len(files) > 0 {
		if err := r.service.Put(ctx, box, files); err != nil {
			return 0, NotBegun(err)
		}
	}
	line := Line{Text: text, Stdout: orDiscard(s.Stdout), Stderr: orDiscard(s.Stderr)}
	if r.about.Text {
		return r.service.Run(ctx, box, encoded(line))
	}
	return r.service.Run(ctx, box, plain(line))
}

// NotBegun marks an error of Run as one before the command was sent.
func NotBegun(err error) error { return &notBegun{err} }

type notBegun struct{ error }

func (e *notBegun) Unwrap() error { return e.error }

// unsent reports whether a command certainly did not run.
func unsent(err error) bool {
	if _, ok := errors.AsType[*notBegun](err); ok {
		return true
	}
	f, ok := errors.AsType[*Failure](err)
	return ok && !errors.Is(err, ErrCut) && (f.Unsent || f.Status >= 400 && f.Status < 500)
}

// asleep reports whether a service refused a command because of the state of the sandbox,
// as far as the status can tell.
func asleep(err error) bool {
	f, ok := errors.AsType[*Failure](err)
	if !ok || !unsent(err) {
		return false
	}
	switch f.Status {
	case 400, 404, 409, 410, 412, 422, 425:
		return true
	}
	return false
}

// notRun marks an error as one of a command that did not run. If ctx has ended, that is
// the error.
func notRun(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return fmt.Errorf("%w: %w", remote.ErrNotRun, err)
}

// readAll reads the whole input, because no service is given it bit by bit.
func readAll(ctx context.Context, input io.Reader) ([]byte, error) {
	if input == nil {
		return nil, nil
	}
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	go func() { // it ends with the input, whose writer may be slower than ctx
		data, err := io.ReadAll(input)
		done <- read{data, err}
	}()
	select {
	case all := <-done:
		return all.data, all.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Both copies two streams side by side, each with a func, and returns when both have ended.
// An error of one ends the other.
func Both(ctx context.Context, stdout, stderr func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	errs := make(chan error, 1)
	go func() {
		err := stderr(ctx)
		if err != nil {
			cancel(err)
		}
		errs <- err
	}()
	err := stdout(ctx)
	if err != nil {
		cancel(err)
	}
	return errors.Join(err, <-errs)
}

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}
