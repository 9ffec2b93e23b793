package environment

import (
	"context"
	"slices"
	"sync"

	"hermes"
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
	local *Local
	extra []string // the command's own variables
	state string   // the file for its folder and variables; empty if they are not kept
	once  sync.Once
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
	r := &run{local: l, extra: c.Env}
	if c.Keep {
		if r.state, err = l.stateFile(); err != nil {
			return nil, err
		}
	}
	args, err := l.args(sh, c.Line, r.state)
	if err != nil {
		return nil, err
	}
	r.Process, err = proc.Start(ctx, proc.Command{
		Path:      sh.path,
		Args:      args,
		Dir:       dir,
		Env:       slices.Concat(l.environ(), c.Env, l.config.Mark.Environ(), []string{"PWD=" + dir}),
		Stdin:     c.Stdin,
		OpenInput: openInput,
		Stdout:    c.Stdout,
		Stderr:    c.Stderr,
		Terminal:  tty,
		Files:     l.config.Mark.Files(),
		Guard:     l.config.Guard,
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// finish waits for the command, stores its folder and variables and releases it.
// Later calls return the same status.
func (r *run) finish() proc.Status {
	<-r.Done()
	r.once.Do(func() {
		defer r.local.active.Done()
		r.local.keep(r)
		if !r.Left() {
			r.Close()
			return
		}
		r.local.track(r.Process)
	})
	status, _ := r.Wait(context.Background())
	return status
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

func exit(s proc.Status) hermes.Exit { return hermes.Exit{Code: s.Code, Duration: s.Duration} }
