// Package rented is what all backends of rented sandboxes share: a sandbox that is found
// by its labels or made, waited for, woken when it was stopped, and stopped or deleted at
// the end. A service is a [Service]: a few requests to one vendor. [Runner] makes a
// [remote.Runner] of it.
//
// A script reaches a sandbox as one short line for sh. What is too long for a line, and
// input, is put there as files first. Where a service carries text only, the line sends
// its output in base64, so that any bytes arrive as they were (line.go).
//
// The package knows no particular service. Start reading at Runner.Exec.
package rented

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"hermes"
	"hermes/internal/environment/remote"
)

// Config is what the configurations of all services have in common.
type Config struct {
	// Home and Session name the owner of the sandbox. A sandbox is used by one session
	// only, and found again by both.
	Home, Session string
	// Persistent keeps the sandbox stopped at Close, with its files; otherwise it is deleted.
	Persistent bool
	// Image is the image, template or runtime, as the service names it; "" is the
	// service's own.
	Image string
	// CPU is in cores, Memory and Disk are in megabytes; 0 is the service's default. What a
	// service does not let choose is not sent.
	CPU          float64
	Memory, Disk int
	// Lifetime is after how long the service ends a sandbox, where that can be chosen; 0 is
	// what the package of the service says.
	Lifetime time.Duration
	// BaseURL is the address of the API; "" is the public one.
	BaseURL string
	// HTTP sends the requests; nil is Go's usual client. Keys follow no redirect to
	// another server.
	HTTP *http.Client
	// Temp is a folder in the sandbox for what a script is given as files; "" is /tmp, and ~
	// the home folder, of which the service then gets relative paths.
	Temp string
	// Sleep waits between two looks at a sandbox and before a request is repeated; nil is
	// real time.
	Sleep func(context.Context, time.Duration) error
	Now   func() time.Time // nil is time.Now
}

// Labels are what a sandbox is found by. They name neither the home folder nor the session
// in words.
func (c Config) Labels() map[string]string {
	return map[string]string{"hermes-home": short(c.Home), "hermes-session": short(c.Session)}
}

// Name is a name for the sandbox where a service wants one. It is the same for the same
// home and session.
func (c Config) Name() string { return "hermes-" + short(c.Home+"\x00"+c.Session) }

func (c Config) clock() func() time.Time {
	if c.Now == nil {
		return time.Now
	}
	return c.Now
}

func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:10])
}

// Sandbox is a sandbox that runs.
type Sandbox struct {
	// ID is what the service calls it.
	ID string
	// Address is where commands go, and Token what they are sent with, if the service has
	// an address for each sandbox.
	Address string
	Token   hermes.Secret
}

// Service is the API of one vendor. Its methods may be called concurrently, except that
// Find, Create, Wake and End are called one after the other. An error that the service
// answered is a *[Failure].
type Service interface {
	// Ping makes one cheap request that needs a valid key.
	Ping(ctx context.Context) error
	// Find returns the id of the sandbox with the labels of the configuration, in any state
	// that Wake can end; "" if there is none.
	Find(ctx context.Context) (id string, err error)
	// Create makes a sandbox with the labels and returns its id. It need not run yet.
	Create(ctx context.Context) (id string, err error)
	// Wake returns when the sandbox runs, and starts it if it was stopped. woken says that
	// it did not run before.
	Wake(ctx context.Context, id string) (box Sandbox, woken bool, err error)
	// Put writes files into the folder for temporary ones.
	Put(ctx context.Context, box Sandbox, files []File) error
	// Run runs sh -c with a line, without input, and returns when it has ended and its
	// output is written. If ctx ends, it asks the service to end the command, where the
	// service can, and returns. After a *[Failure] with a status below 500 the command did
	// not run; an error after it may have begun wraps [ErrCut].
	Run(ctx context.Context, box Sandbox, line Line) (code int, err error)
	// End stops the sandbox and keeps its files, or deletes it. That it is gone is no error.
	End(ctx context.Context, id string, keep bool) error
}

// File is a file to write in a sandbox.
type File struct {
	Path string // absolute, or relative to the home folder if Config.Temp is ~
	Data []byte
}

// About describes a service to users and to Runner.
type About struct {
	// Name is the service's name in texts.
	Name string
	// Text says that the service carries output as text: other bytes would be changed.
	Text bool
	// Idle is how long after the last command a sandbox may have been stopped by the
	// service; then it is looked at before the next one. 0 is four minutes.
	Idle time.Duration
	// Renew is after how long the service has to be told that a sandbox is still used, by
	// looking at it; 0 is never.
	Renew time.Duration
	// Missing says what has to be set before the service can be used; "" if nothing.
	Missing string
}

var (
	_ remote.Runner    = (*Runner)(nil)
	_ remote.Describer = (*Runner)(nil)
	_ remote.Instances = (*Runner)(nil)
)

// Runner runs scripts in one sandbox of a service. The sandbox is found or made at the
// first script.
type Runner struct {
	service Service
	about   About
	config  Config

	lock   chan struct{} // holds one token; taken while a sandbox is found, made or ended
	box    Sandbox
	id     string // of the sandbox that was found or made, also before it runs
	sought bool   // Create was called; the service may have made one although it failed
	looked time.Time
	closed bool

	now        atomic.Value // a text for the sandbox that is known to run
	generation int          // counts how often a sandbox was made or woken

	used atomic.Bool  // a script has run in the sandbox
	last atomic.Int64 // when a script ended, in nanoseconds
}

// New makes a Runner. It sends no request yet.
func New(s Service, about About, c Config) *Runner {
	c.Temp = strings.TrimRight(cmp.Or(c.Temp, "/tmp"), "/")
	about.Idle = cmp.Or(about.Idle, 4*time.Minute)
	c.Now = c.clock()
	return &Runner{service: s, about: about, config: c, lock: make(chan struct{}, 1)}
}

// Check says what is missing before scripts can run: a key, or an answer of the service.
// It makes no sandbox.
func (r *Runner) Check(ctx context.Context) error {
	if err := r.Lacks(); err != nil {
		return fmt.Errorf("%s: %w", r.about.Name, err)
	}
	return r.service.Ping(ctx)
}

// Lacks says which settings are missing, without asking the service.
func (r *Runner) Lacks() error {
	if r.about.Missing != "" {
		return errors.New(r.about.Missing)
	}
	return nil
}

// Describe says what is known without asking the sandbox.
func (r *Runner) Describe() hermes.Description {
	return hermes.Description{
		Isolation: hermes.Isolation{
			Layer: "container", Holds: true,
			Text: fmt.Sprintf("Commands run in a rented sandbox of %s, which reaches nothing on this machine.", r.about.Name),
		},
		Network: hermes.NetworkHost,
	}
}

// Instance names the sandbox that is known to run, since it was made or woken; "" if none is.
func (r *Runner) Instance() string {
	now, _ := r.now.Load().(string)
	return now
}

// ready returns the running sandbox and its generation, which changes when it is made or
// woken. It finds, makes or wakes the sandbox if needed. refused is the generation of one
// that refused a command, so that its state has to be asked for; 0 is none.
func (r *Runner) ready(ctx context.Context, refused int) (Sandbox, int, error) {
	if err := r.take(ctx); err != nil {
		return Sandbox{}, 0, err
	}
	defer r.give()
	if r.closed {
		return Sandbox{}, 0, fmt.Errorf("the sandbox of %s is closed", r.about.Name)
	}
	if r.about.Missing != "" {
		return Sandbox{}, 0, fmt.Errorf("%s: %s", r.about.Name, r.about.Missing)
	}
	idle := r.idle()
	old := r.about.Renew > 0 && r.config.Now().Sub(r.looked) > r.about.Renew
	if r.box.ID == "" || refused == r.generation || idle || old {
		if err := r.wake(ctx); err != nil {
			return Sandbox{}, 0, err
		}
	}
	return r.box, r.generation, nil
}

// idle reports whether the service may have stopped the sandbox meanwhile. The caller holds the lock.
func (r *Runner) idle() bool {
	return r.config.Now().Sub(time.Unix(0, max(r.last.Load(), r.looked.UnixNano()))) > r.about.Idle
}

func (r *Runner) wake(ctx context.Context) error {
	for {
		made := false
		if r.id == "" {
			var err error
			if made, err = r.findOrMake(ctx); err != nil {
				return err
			}
		}
		box, woken, err := r.service.Wake(ctx, r.id)
		if err == nil {
			if woken || r.box.ID != box.ID {
				r.generation++
			}
			r.box, r.looked = box, r.config.Now()
			r.now.Store(fmt.Sprint(box.ID, " ", r.generation))
			return nil
		}
		if !Gone(err) {
			return err
		}
		r.box, r.id = Sandbox{}, ""
		r.now.Store("")
		if r.used.Swap(false) {
			return fmt.Errorf("the sandbox of %s has ended, with its files; the next command gets a new one: %w", r.about.Name, err)
		}
		if made { // the next one may end as well, and each costs money
			return fmt.Errorf("a new sandbox of %s ended before it could be used; look at %s for the reason, and at the settings of its image and size, before you try again: %w", r.about.Name, r.about.Name, err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// findOrMake sets the id of the sandbox, and reports whether it made one.
func (r *Runner) findOrMake(ctx context.Context) (made bool, err error) {
	if r.id, err = r.service.Find(ctx); err != nil || r.id != "" {
		return false, err
	}
	r.sought = true
	r.id, err = r.service.Create(ctx)
	return true, err
}

// take waits for the right to change which sandbox is used.
func (r *Runner) take(ctx context.Context) error {
	select {
	case r.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *Runner) give() { <-r.lock }

// Close stops or deletes the sandbox, as the configuration says. One that was never used
// here is not looked for.
func (r *Runner) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := r.take(ctx); err != nil {
		return err
	}
	defer r.give()
	if r.closed {
		return nil
	}
	r.closed = true
	if r.id == "" && r.sought { // the answer to Create may have been lost
		id, err := r.service.Find(ctx)
		if err != nil {
			return fmt.Errorf("look for a sandbox of %s that may be left: %w", r.about.Name, err)
		}
		r.id = id
	}
	if r.id == "" {
		return nil
	}
	if err := r.service.End(ctx, r.id, r.config.Persistent); err != nil && !Gone(err) {
		return fmt.Errorf("end the sandbox %s of %s: %w", r.id, r.about.Name, err)
	}
	return nil
}
