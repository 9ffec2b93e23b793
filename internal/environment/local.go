// Package environment holds the places where commands run and files live: one
// file for each kind of place. [Local] runs commands on this machine.
//
// A place remembers, for one session, the folder and the exported variables
// that its commands leave behind, so that cd and export hold from one call to
// the next. Every command gets a shell of its own, without login and without
// start files; the shell writes down what it exports when it ends (state.go).
//
// A new backend needs Exec and Close alone: [ShellFiles] makes its files out
// of commands. The package does not know tools, approvals or models. Start
// reading at local.go.
package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"hermes"
	"hermes/internal/proc"
)

// maxLeft is how many groups of processes that outlived their command are
// kept alive; of more, the oldest are ended.
const maxLeft = 64

var errClosed = errors.New("the environment of this session is closed")

// LocalConfig says how commands run on this machine. Dir is required.
type LocalConfig struct {
	// Dir is the folder to begin in.
	Dir string
	// Home is what ~ means; empty leaves ~ alone.
	Home string
	// Env is the environment to begin with, as NAME=value. Names that
	// announce a secret are taken out of it.
	Env []string
	// Passthrough names variables that stay though they announce a secret.
	Passthrough []string
	// Shell is the program that runs commands; empty finds one.
	Shell string
	// Temp is the folder for short-lived files; empty is the system's.
	Temp string
	// Guard ends the commands should this process be killed; nil is none.
	Guard *proc.Guard
}

// Local is this machine as an environment. Its methods may be called
// concurrently.
type Local struct {
	config LocalConfig
	shell  func() (shell, error)
	life   context.Context // ends with Close
	end    context.CancelCauseFunc

	mu     sync.Mutex
	dir    string
	env    []string
	state  string          // folder for what shells write down; made when first needed
	files  int             // names given out in it
	left   []*proc.Process // what outlived its command
	closed bool
	active sync.WaitGroup // commands and background processes
}

// NewLocal returns the environment. It starts nothing yet.
func NewLocal(c LocalConfig) (*Local, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("working folder: %w", err)
	}
	l := &Local{
		config: c,
		dir:    dir,
		env:    childEnv(c.Env, c.Passthrough),
		shell:  sync.OnceValues(func() (shell, error) { return findShell(c.Shell) }),
	}
	l.life, l.end = context.WithCancelCause(context.Background())
	return l, nil
}

// Exec runs a command to its end; see [hermes.Environment]. What the command
// leaves running goes on, unheard, until Close.
func (l *Local) Exec(ctx context.Context, c hermes.Command) (hermes.Exit, error) {
	ctx, cancel := l.bound(ctx)
	defer cancel()
	r, err := l.start(ctx, c, nil, false)
	if err != nil {
		return hermes.Exit{}, err
	}
	status := r.finish()
	if status.Cut {
		return exit(status), context.Cause(ctx)
	}
	return exit(status), nil
}

// Files gives access to the files of this machine.
func (l *Local) Files() hermes.Files { return hostFiles{l} }

// Close ends every command, and whatever commands have left running.
func (l *Local) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.end(errClosed)
	l.active.Wait()

	l.mu.Lock()
	defer l.mu.Unlock()
	endAll(l.left)
	l.left = nil
	if l.state == "" {
		return nil
	}
	return os.RemoveAll(l.state)
}

// bound returns a context that ends with ctx and with the environment.
func (l *Local) bound(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(l.life, func() { cancel(context.Cause(l.life)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

func (l *Local) environ() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.env // replaced as a whole, never changed
}
