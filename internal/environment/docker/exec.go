package docker

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"hermes/internal/environment/remote"
	"hermes/internal/proc"
)

//go:embed run.sh
var runScript string

// longestArgument is how long a script may be to be an argument of the client: Linux allows
// 128 KB for one, Windows 32 KB for a whole command line.
func longestArgument() int {
	if runtime.GOOS == "windows" {
		return 24 << 10
	}
	return 100 << 10
}

// afterwards is how long the client may run on when all output of a script has arrived.
const afterwards = 100 * time.Millisecond

// Exec runs a script; see [remote.Runner]. A container that was stopped is started again. For
// one that was removed, the error says so, and the next call makes another.
func (r *Runner) Exec(ctx context.Context, s remote.Script) (int, error) {
	if s.Running {
		id := r.Instance()
		if id == "" {
			return 0, remote.ErrNotRun
		}
		code, err := r.exec(ctx, id, s)
		if errors.Is(err, errStopped) || errors.Is(err, errGone) {
			err = fmt.Errorf("%w: %w", remote.ErrNotRun, err)
		}
		return code, err
	}
	return r.inContainer(ctx, func(id string) (int, error) { return r.exec(ctx, id, s) })
}

// inContainer calls run with the id of the running container, and once more if the
// container turns out to be stopped.
func (r *Runner) inContainer(ctx context.Context, run func(id string) (int, error)) (int, error) {
	for again := false; ; again = true {
		id, err := r.ready(ctx)
		if err != nil {
			return 0, err
		}
		r.used.Store(time.Now().UnixNano())
		code, err := run(id)
		stopped := errors.Is(err, errStopped)
		if stopped || errors.Is(err, errGone) {
			r.forget(id)
		}
		if errors.Is(err, errGone) {
			err = fmt.Errorf("the container %s was removed, with all that was changed in it; the next command gets a new one: %w", r.plan.name, err)
		}
		if !stopped || again {
			return code, err
		}
	}
}

// exec runs a script in a container. Its text is an argument, or a file there if it is long
// or has bytes that the JSON of the engine cannot carry: the standard input belongs to the script.
func (r *Runner) exec(ctx context.Context, id string, s remote.Script) (int, error) {
	how, err := r.how(ctx, id, s.Text)
	if err != nil {
		return 0, err
	}
	return r.marked(ctx, id, how, s)
}

// how returns the arguments with which a shell runs a text.
func (r *Runner) how(ctx context.Context, id, text string) ([]string, error) {
	if len(text) <= longestArgument() && utf8.ValidString(text) {
		return []string{"-c", text}, nil
	}
	file, err := r.copyText(ctx, id, text)
	return []string{file}, err
}

// copyText writes a script to a file in the container, which the script deletes when it
// starts, and returns its path.
func (r *Runner) copyText(ctx context.Context, id, text string) (string, error) {
	file := "/tmp/.hermes-" + rand.Text()
	text = "rm -f " + file + "; " + text
	var said bytes.Buffer
	code, err := r.marked(ctx, id, []string{
		"-c", `cat >"$1" && [ "$(wc -c <"$1")" -eq "$2" ] || { rm -f "$1"; exit 1; }`, "copy", file, strconv.Itoa(len(text)),
	}, remote.Script{Stdin: strings.NewReader(text), Stdout: &said, Stderr: &said})
	if err == nil && code != 0 {
		err = fmt.Errorf("%w: its text cannot be copied into the container: %s", remote.ErrNotRun, strings.TrimSpace(said.String()))
	}
	return file, err
}

// marked runs /bin/sh in a container with arguments, and tells with the marks of run.sh what
// happened.
func (r *Runner) marked(ctx context.Context, id string, how []string, s remote.Script) (int, error) {
	nonce := rand.Text()
	merged := ""
	errTo := s.Stderr
	if s.Stdout != nil && s.Stdout == s.Stderr {
		merged, errTo = "1", nil // one stream in the container, so that the order is kept
	}
	began, gate := make(chan struct{}), make(chan struct{})
	out := &stream{to: s.Stdout, nonce: nonce, began: make(chan struct{}), ended: make(chan struct{})}
	errs := &stream{to: errTo, nonce: nonce, began: began, ended: make(chan struct{})}
	args := []string{"exec"}
	var in io.Reader
	if s.Stdin != nil {
		args = append(args, "--interactive")
		in = gated{from: s.Stdin, open: began, shut: gate}
	}
	args = append(args, r.forwardArgs()...)
	args = append(args, id, "/bin/sh", "-c", runScript, "hermes", nonce, merged)
	p, err := proc.Start(ctx, proc.Command{
		Path: r.program, Args: append(args, how...), Files: nil, Env: slices.Concat(r.config.Environ, r.config.Forward),
		Stdin: in, Stdout: out, Stderr: errs, Grace: clientGrace,
	})
	if err != nil {
		return 0, r.startError(err)
	}
	status := r.await(p, out, errs)
	close(gate)
	p.Close()
	if code, ok := errs.code(); ok {
		return code, nil
	}
	if status.Cut {
		return 0, context.Cause(ctx)
	}
	return r.unmarked(ctx, id, errs, status.Code)
}

// await waits for the end of the client. When all output has arrived it does not wait long:
// a process in the background that holds the streams would keep the client.
func (r *Runner) await(p *proc.Process, out, errs *stream) proc.Status {
	for _, ended := range []chan struct{}{out.ended, errs.ended} {
		select {
		case <-ended:
			continue
		case <-p.Done():
		}
		break
	}
	select {
	case <-p.Done():
	case <-whenBoth(out, errs, afterwards):
		_ = p.Kill()
	}
	<-p.Done()
	status, _ := p.Wait(context.Background())
	return status
}

// whenBoth returns a channel that fires a time after both streams have ended, and never if
// one has not.
func whenBoth(out, errs *stream, after time.Duration) <-chan time.Time {
	for _, ended := range []chan struct{}{out.ended, errs.ended} {
		select {
		case <-ended:
		default:
			return nil
		}
	}
	return time.After(after)
}

// unmarked explains an end without the last mark.
func (r *Runner) unmarked(ctx context.Context, id string, errs *stream, code int) (int, error) {
	select {
	case <-errs.began:
	default:
		return 0, r.failure(errs.said(), code)
	}
	// What runs after the end ran in a container that lived on. The engine's word for its state
	// is no proof: for a moment after a kill it is still "running".
	_, probe := r.call(ctx, "exec", id, "/bin/sh", "-c", ":")
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case probe == nil && code > 128 && code < 255:
		return code, nil // the shell that writes the marks was killed, with the script
	case probe == nil:
		return 0, fmt.Errorf("%s lost the command, and its outcome is unknown (status %d)", filepath.Base(r.program), code)
	}
	out, err := r.call(ctx, "inspect", "--type", "container", "--format", "{{.State.Status}}", id)
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case errors.Is(err, errGone):
		r.forget(id)
		return 0, fmt.Errorf("the container %s was removed while the command ran; its outcome is unknown", r.plan.name)
	case err != nil:
		return 0, fmt.Errorf("the connection to the command was lost, and its outcome is unknown: %s", err.Error()) // not ErrNotRun: it began
	}
	r.forget(id) // it may be on its way out
	if out == "running" {
		return 0, fmt.Errorf("the command was lost, its outcome is unknown, and the container %s runs nothing more: %s", r.plan.name, probe.Error())
	}
	return 0, fmt.Errorf("the container %s was stopped while the command ran; its outcome is unknown", r.plan.name)
}

// forwardArgs names the variables that scripts get. Their values are in the environment of
// the client, because all users of a machine see command lines.
func (r *Runner) forwardArgs() (args []string) {
	for _, v := range r.config.Forward {
		name, _, _ := strings.Cut(v, "=")
		args = append(args, "--env", name)
	}
	return args
}
