package remote

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"sync"

	"hermes"
)

// Config says how commands run in a place. Runner is required.
type Config struct {
	// Runner runs scripts in the place. The last view over it closes it.
	Runner Runner
	// Dir is the first folder: absolute, below ~, or relative to the folder in which the
	// place starts scripts; empty is that folder.
	Dir string
	// Env holds variables, as NAME=value, that are added to those of the place.
	Env []string
	// Shell is the program in the place that runs command lines; empty is bash, or sh
	// where there is no bash.
	Shell string
	// Notes is a folder of this machine in which the package notes which [Lasting] places
	// are in use; empty notes nothing, and what a killed program left there goes on.
	Notes string
	// Carry has files of this machine that commands in the place may read; nil has no file. They are
	// put there before the first command, and again when they have changed; Close removes them.
	Carry Carrier
}

// Environment is a place, or a view of it with a folder and variables of its own. Its
// methods may be called concurrently.
type Environment struct {
	place *place
	id    string          // begins the ids of its commands
	life  context.Context // ends with Close
	end   context.CancelCauseFunc

	mu     sync.Mutex
	first  string   // the folder in which the session begins, as given
	dir    string   // as given until the place is known, then absolute
	env    []string // of the next command; nil until the place is known
	extra  []string // Config.Env
	left   []string // groups that still run after their command ended
	ran    bool     // a command was started
	ids    []string // of what runs now
	closed bool
	active sync.WaitGroup // commands and background processes
}

var (
	_ hermes.Environment = (*Environment)(nil)
	_ hermes.Starter     = (*Environment)(nil)
)

var errClosed = errors.New("the environment of this session is closed")

// New returns the environment of a place. It starts nothing yet.
func New(c Config) *Environment {
	p := &place{runner: c.Runner, shell: c.Shell, word: word(), notes: c.Notes}
	p.carried.from = c.Carry
	p.life, p.end = context.WithCancelCause(context.Background())
	return p.view(c.Dir, c.Env)
}

// View returns an environment for a child session in the same place, with a folder and
// variables of its own; it begins with those of e. An empty dir is the folder of e. Each
// view is closed by itself, and the last one closes the Runner.
func (e *Environment) View(dir string) *Environment {
	e.mu.Lock()
	defer e.mu.Unlock()
	v := e.place.view(e.dir, e.extra)
	v.first = e.first
	v.env = slices.Clone(e.env)
	if dir != "" {
		v.dir = joined(e.dir, dir)
		v.first = joined(e.first, dir)
	}
	return v
}

// word is 64 random bits.
func word() string {
	b := make([]byte, 8)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// joined resolves dir below a folder that may not be known yet.
func joined(folder, dir string) string {
	if path.IsAbs(dir) || dir == "~" || strings.HasPrefix(dir, "~/") {
		return dir
	}
	return path.Join(folder, dir)
}

// bound returns a context that ends with ctx and with the environment.
func (e *Environment) bound(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(e.life, func() { cancel(context.Cause(e.life)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// register counts a command as active, unless the environment is closed.
func (e *Environment) register(id string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return errClosed
	}
	e.ran = true
	e.ids = append(e.ids, id)
	e.active.Add(1)
	return nil
}

func (e *Environment) unregister(id string) {
	e.mu.Lock()
	e.ids = slices.DeleteFunc(e.ids, func(other string) bool { return other == id })
	e.mu.Unlock()
	e.active.Done()
}

// EndLeft ends what commands left running, and says what could not be ended. What runs now it
// does not touch.
func (e *Environment) EndLeft() error {
	e.mu.Lock()
	ran, ids, left := e.ran, slices.Clone(e.ids), e.left
	e.left = nil
	e.mu.Unlock()
	if !ran {
		return nil
	}
	return e.place.endMany(e.id, ids, left)
}

// Close ends every command and every process that commands left running in the place. The
// last view also removes what the package keeps there, and closes the Runner.
func (e *Environment) Close() error {
	e.mu.Lock()
	again := e.closed
	e.closed = true
	e.mu.Unlock()
	e.end(errClosed)
	e.active.Wait()
	if again {
		return nil
	}
	err := e.EndLeft()
	return errors.Join(err, e.place.release())
}

// note tells about a command in what it printed.
func note(w io.Writer, text string) {
	if w != nil {
		_, _ = io.WriteString(w, "["+text+"]\n")
	}
}
