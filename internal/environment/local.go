// Package environment implements the environments in which commands run and
// files are stored. [Local] runs commands on this machine.
//
// An environment belongs to one session. It remembers the folder and the
// exported variables that a command leaves behind, so that cd and export affect
// later calls. Every command runs in its own non-login shell without start
// files; when the shell ends, it writes its exported variables to a file
// (state.go).
//
// Other places to run commands are backends of package remote, below this folder. The
// package does not know tools, approvals or models. Start reading at local.go.
package environment

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"

	"hermes"
	"hermes/internal/isolation"
	"hermes/internal/lineage"
	"hermes/internal/proc"
	"hermes/internal/system"
)

// maxLeft is how many process groups may keep running after their command has
// ended. Beyond that, the oldest are ended.
const maxLeft = 64

var errClosed = errors.New("the environment of this session is closed")

// LocalConfig says how commands run on this machine. Dir is required.
type LocalConfig struct {
	// Dir is the first working folder.
	Dir string
	// Home replaces ~; if empty, ~ stays as it is.
	Home string
	// Env holds the first variables, as NAME=value. Variables whose names
	// suggest a secret are removed.
	Env []string
	// Passthrough names variables to keep although they suggest a secret. The
	// keys of Hermes itself are never kept: those that KeyOf of this package
	// knows, those that the func here knows (nil knows none), and variables that
	// contain one of Keys or of their values.
	Passthrough []string
	KeyOf       func(name string) string
	Keys        []string
	// Shell is the program that runs commands; if empty, one is searched for.
	Shell string
	// ShellArgs are the arguments of Shell before the -c and the line.
	ShellArgs []string
	// Temp is the folder for temporary files; empty means that of the system.
	Temp string
	// Guard ends the commands if this process is killed; nil means none.
	Guard *proc.Guard
	// Mark tells programs that a command of an agent started them; nil tells
	// them nothing. The caller closes it after the environment.
	Mark *lineage.Mark
	// Processes is how many processes a command may have at once, where that can be bounded; with more it is
	// ended. 0 is no limit.
	Processes int
	// Walls confine the commands; nil means none. Close closes them.
	Walls isolation.Walls
	// Bare starts the commands that have no walls; nil means that they are started below this
	// process, and that what they detach outlives them. Close closes it.
	Bare isolation.Bare
}

// Local is this machine as an environment. Its methods may be called
// concurrently.
type Local struct {
	config LocalConfig
	shell  func() (shell, error)
	system func() string   // with its version
	life   context.Context // ends with Close
	end    context.CancelCauseFunc

	mu     sync.Mutex
	dir    string
	env    []string
	named  namedFiles      // the files of shells, where they have names
	left   []*proc.Process // processes that still run after their command ended
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
		env:    Variables(c),
		shell:  sync.OnceValues(func() (shell, error) { return findShell(c.Shell, c.ShellArgs...) }),
		system: sync.OnceValue(system.Name),
	}
	l.life, l.end = context.WithCancelCause(context.Background())
	return l, nil
}

// Exec runs a command until it ends; see [hermes.Environment]. Processes that it
// leaves running continue until Close, without their output being read.
func (l *Local) Exec(ctx context.Context, c hermes.Command) (hermes.Exit, error) {
	ctx, cancel := l.bound(ctx)
	defer cancel()
	r, err := l.start(ctx, c, nil, false)
	if err != nil {
		return hermes.Exit{}, err
	}
	exit, cut := r.finish()
	if cut {
		return exit, context.Cause(r.ctx)
	}
	return exit, nil
}

// GivesChannel reports whether a command may inherit an open file; see [hermes.ChannelGiver].
func (l *Local) GivesChannel() bool { return runtime.GOOS != "windows" }

// Files gives access to the files of this machine.
func (l *Local) Files() hermes.Files { return hostFiles{local: l} }

// Confine builds the walls; see [hermes.Confined].
func (l *Local) Confine(ctx context.Context) hermes.Isolation {
	if r, ok := l.config.Walls.(isolation.Builder); ok {
		return r.Build(ctx)
	}
	return l.Describe(ctx).Isolation
}

// WallsMark tells the walls of commands apart; see [hermes.Walled].
func (l *Local) WallsMark() string {
	if m, ok := l.config.Walls.(isolation.Marker); ok {
		return m.WallsMark()
	}
	return ""
}

// Opens says what a need for a path would open; see [hermes.Opener].
func (l *Local) Opens(ctx context.Context, n hermes.Need) hermes.Opening {
	if o, ok := l.config.Walls.(isolation.Opener); ok {
		return o.Opens(ctx, n)
	}
	return hermes.Opening{}
}

// Describe says where the commands run; see [hermes.Environment]. What this machine is
// does not change, and is looked up once.
func (l *Local) Describe(context.Context) hermes.Description {
	d := hermes.Description{
		System: l.system(), Arch: runtime.GOARCH, Home: l.config.Home,
		Isolation: hermes.Isolation{Layer: "none", Text: "No sandbox: commands may do what the user may."},
		Network:   hermes.NetworkHost,
	}
	if sh, err := l.shell(); err == nil { // else the first command reports it
		d.Shell = sh.path
	}
	if w := l.config.Walls; w != nil {
		d.Isolation = w.Describe()
		if b, ok := w.(isolation.Bounds); ok {
			d.Network, d.Writable = b.Bounds()
		}
	}
	return d
}

// Close ends every command and every process that commands left running. It also removes
// the temporary folders of earlier processes that were killed.
func (l *Local) Close() error {
	l.mu.Lock()
	again := l.closed
	l.closed = true
	l.mu.Unlock()
	l.end(errClosed)
	l.active.Wait()

	l.mu.Lock()
	defer l.mu.Unlock()
	endAll(l.left)
	l.left = nil
	var err error
	if l.config.Walls != nil && !again {
		err = l.config.Walls.Close()
	}
	if l.config.Bare != nil && !again {
		err = errors.Join(err, l.config.Bare.Close())
	}
	return errors.Join(err, l.named.close(l))
}

// EndLeft ends what commands left running, and says what still runs. What runs now it leaves to
// those who started it, except inside of walls.
func (l *Local) EndLeft() error {
	l.mu.Lock()
	left := l.left
	l.left = nil
	l.mu.Unlock()
	endAll(left)
	return errors.Join(l.EndInside(), proc.EndOrphans())
}

// EndInside ends all that runs inside of walls, or was started by Bare.
func (l *Local) EndInside() error {
	var errs []error
	if w, ok := l.config.Walls.(isolation.Ender); ok {
		errs = append(errs, w.EndInside())
	}
	if l.config.Bare != nil {
		errs = append(errs, l.config.Bare.EndInside())
	}
	return errors.Join(errs...)
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
