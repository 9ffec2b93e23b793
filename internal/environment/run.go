package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"hermes"
	"hermes/internal/isolation"
	"hermes/internal/proc"
)

// endAll ends process groups in parallel, since each may use its grace period.
func endAll(all []*proc.Process) {
	var w sync.WaitGroup
	for _, p := range all {
		w.Go(p.Close)
	}
	w.Wait()
}

// run is a started command.
type run struct {
	*proc.Process
	local  *Local
	ctx    context.Context // ends with the command's own time, too
	cancel func()
	inside isolation.Inside
	extra  []string  // variables that were set for this command only
	state  *handed   // for its folder and variables; nil if they are not kept
	line   *handed   // the command, if it is long
	stderr io.Writer // of the command; may be nil
	once   sync.Once
	exit   hermes.Exit // set by finish
	// outside says that it runs outside of walls that there are: nothing of it goes on when
	// what is inside does.
	outside bool
}

// start starts a command, on the given terminal if tty is not nil. openInput keeps
// its input open.
func (l *Local) start(ctx context.Context, c hermes.Command, tty proc.Terminal, openInput bool) (*run, error) {
	sh, err := l.shell()
	if err != nil {
		return nil, err
	}
	if err := l.register(); err != nil {
		return nil, err
	}
	r, err := l.launch(ctx, sh, c, tty, openInput)
	if err != nil {
		l.active.Done()
		return nil, err
	}
	return r, nil
}

// register counts a command as active, unless the environment is closed.
func (l *Local) register() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errClosed
	}
	l.active.Add(1)
	return nil
}

func (l *Local) launch(ctx context.Context, sh shell, c hermes.Command, tty proc.Terminal, openInput bool) (*run, error) {
	dir, err := l.enterDir(c)
	if err != nil {
		return nil, err
	}
	limits, err := l.limits(c)
	if err != nil {
		return nil, err
	}
	if c.Channel != nil && !l.GivesChannel() {
		return nil, errors.New("this system hands no open files to commands")
	}
	r := &run{local: l, stderr: c.Stderr, outside: c.Outside && l.config.Walls != nil}
	if c.Keep && !c.Outside { // what runs outside leaves nothing behind for the inside
		if r.state, err = l.hand(stateAt); err != nil {
			return nil, err
		}
	}
	if err := r.begin(ctx, sh, c, dir, limits, tty, openInput); err != nil {
		r.state.close()
		r.line.close()
		return nil, err
	}
	return r, nil
}

// begin starts the shell.
func (r *run) begin(ctx context.Context, sh shell, c hermes.Command, dir string, limits proc.Limits, tty proc.Terminal, openInput bool) (err error) {
	l, line := r.local, c.Line
	if len(line) > maxArgument {
		if line, r.line, err = l.tooLong(sh, line); err != nil {
			return err
		}
	}
	if r.inside, err = l.enter(ctx, c, dir); err != nil {
		return err
	}
	r.ctx, r.cancel = limited(ctx, c.Limits.Time)
	if c.Ready != nil {
		if err := c.Ready(); err != nil {
			return r.notStarted(err)
		}
	}
	env := l.variables(r, c, dir)
	stdout, stderr := copied(r.inside, c.Stdout, c.Stderr)
	r.Process, err = proc.Start(r.ctx, proc.Command{
		Path:      sh.path,
		Args:      args(sh, line, r.state.called()),
		Dir:       dir,
		Env:       env,
		Stdin:     c.Stdin,
		OpenInput: openInput,
		Stdout:    stdout,
		Stderr:    stderr,
		Terminal:  tty,
		Files:     handOver(l.config.Mark.Files(), c.Channel, r.line, r.state),
		Limits:    limits,
		Grace:     c.Grace,
		Guard:     l.config.Guard,
		Launcher:  r.inside.Launcher,
	})
	if err != nil {
		return r.notStarted(err)
	}
	started(r.inside)
	return nil
}

// notStarted gives back what was made ready for a command, and returns the error.
func (r *run) notStarted(err error) error {
	started(r.inside)
	r.cancel()
	done(r.inside, hermes.Exit{}, false)
	return err
}

// variables are the whole environment of a command.
func (l *Local) variables(r *run, c hermes.Command, dir string) []string {
	from := l.environ()
	if c.Outside {
		from = l.clean()
	}
	if c.Channel != nil {
		c.Env = append(slices.Clip(c.Env), hermes.ChannelVariable+"="+strconv.Itoa(channelAt))
	}
	env := slices.Concat(from, c.Env, l.config.Mark.Environ(), []string{"PWD=" + dir})
	r.extra = c.Env
	if r.inside.Env == nil {
		return env
	}
	changed := r.inside.Env(slices.Clone(env))
	r.extra = slices.Concat(c.Env, without(changed, env))
	return changed
}

// without returns the variables that another list does not have with the same value.
func without(vars, others []string) []string {
	known := make(map[string]bool, len(others))
	for _, v := range others {
		known[v] = true
	}
	return slices.DeleteFunc(slices.Clone(vars), func(v string) bool { return known[v] })
}

// finish waits for the command, stores its folder and variables and releases it.
// Later calls return the same exit. It also reports whether the command was ended.
func (r *run) finish() (exit hermes.Exit, cut bool) {
	<-r.Done()
	status, _ := r.Wait(context.Background())
	r.once.Do(func() {
		defer r.local.active.Done()
		r.cancel()
		r.local.keep(r)
		r.line.close()
		r.exit = hermes.Exit{Code: status.Code, Duration: status.Duration}
		if r.outside {
			r.Close()
			if err := proc.EndOrphans(); err != nil {
				r.exit.Refused = append(r.exit.Refused, hermes.Refusal{Kind: hermes.RefusedChange, Name: "processes", Note: err.Error()})
			}
		}
		r.exit.Refused = append(r.exit.Refused, done(r.inside, r.exit, !status.Cut)...)
		if !r.Left() {
			r.Close()
			return
		}
		r.local.track(r.Process)
	})
	return r.exit, status.Cut
}

// note tells about a command in what it printed.
func (r *run) note(text string) {
	if r.stderr != nil {
		fmt.Fprintf(r.stderr, "[%s]\n", text)
	}
}

// track keeps a process group that still runs after its command ended, until
// Close.
func (l *Local) track(p *proc.Process) {
	l.mu.Lock()
	l.left = slices.DeleteFunc(append(l.left, p), func(p *proc.Process) bool {
		if p.Left() {
			return false
		}
		p.Close()
		return true
	})
	var over []*proc.Process
	if n := len(l.left) - maxLeft; n > 0 {
		over = slices.Clone(l.left[:n])
		l.left = slices.Delete(l.left, 0, n)
	}
	l.mu.Unlock()
	endAll(over)
}
