// Package review looks back at work for what is worth keeping: facts for
// memory, procedures for skills.
//
// It owns when that is due (after so many turns or steps, after hard work that
// went well, at the end of a talk; seldom, and never two at once), what a
// reviewer reads (a digest, so that nothing of the conversation's cached
// prefix is sent again or disturbed), and what is told of it. Which model is
// asked, the tools with their approvals, and the book of what was looked at
// are handed in; nobody answers a reviewer's questions.
//
// Start at review.go, then due.go, owed.go and digest.go.
package review

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"sync"
	"time"

	"hermes"
	"hermes/internal/session"
)

//go:embed system.md
var system string

const (
	maxSteps = 8 // model calls of one review
	// maxTime bounds a review with the replays of what it drafts.
	maxTime = 10 * time.Minute
)

// ErrBusy means that another review is running.
var ErrBusy = errors.New("a review is running already; its outcome is told when it is done")

// Config is what a room works with.
type Config struct {
	// Model is the model that reviews; main is the conversation's own.
	Model func(main string) hermes.Model
	// NewRuntime makes the tools for one review, behind the tool chain.
	NewRuntime func(ctx context.Context, t Conversation) (Runtime, error)
	// Known is what is remembered already for who speaks in a session; nil for
	// nothing.
	Known func(ctx context.Context, of hermes.SessionRef) string
	// Cost tells what the reviews of a session have cost so far, and whether
	// that is known; nil tells tokens alone.
	Cost func(ctx context.Context, session string) (hermes.Money, bool)
	// Queue keeps what was looked at; nil forgets it with the process. Load
	// reads a session that is named in it.
	Queue func(ctx context.Context) (Queue, error)
	Load  func(ctx context.Context, session string) (Conversation, error)
	Pace  Pace
	// Input bounds what is read, in tokens, for a model; nil is 12,000.
	Input func(model string) int
	// Notices says what is told of reviews that nobody asked for.
	Notices Notices
	Now     func() time.Time // nil is time.Now
}

// Runtime is what one review works with.
type Runtime struct {
	Tools session.Toolbox
	// Environment is where tools read files; nil where none does.
	Environment hermes.Environment
	// Trials are the drafts of skills that were tried; nil for none.
	Trials func() []hermes.SkillTrial
	// Close frees it all; nil has nothing to free.
	Close func() error
}

// Runner reviews for all sessions of a process, one at a time. Its methods may
// be called concurrently.
type Runner struct {
	cfg Config

	mu       sync.Mutex // held while a review runs
	rate     sync.Mutex
	last     map[string]int64 // the turn of the last review, by session
	caughtUp int              // reviews of other sessions that were made up for
}

// New makes a room. It asks nobody yet.
func New(c Config) *Runner {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Runner{cfg: c, last: map[string]int64{}}
}

// Conversation is the conversation to look at.
type Conversation struct {
	Session    hermes.SessionRef
	Model      string // the conversation's own
	Transcript []hermes.Message
	Focus      string // what to look for above all; empty for anything
}

// Turn looks at a turn that ended well, if that is due; else it makes up for a
// review of another session that is owed. It returns what the person is told,
// "" for nothing.
func (r *Runner) Turn(ctx context.Context, t Conversation) (string, error) {
	var done outcome
	var err error
	if r.due(ctx, t) {
		done, err = r.look(ctx, t)
	} else {
		done, err = r.catchUp(ctx, t)
	}
	if errors.Is(err, ErrBusy) {
		return "", nil
	}
	return done.tell(r.cfg.Notices), err
}

// Now looks at a conversation at once and returns what the person is told.
func (r *Runner) Now(ctx context.Context, t Conversation) (string, error) {
	done, err := r.look(ctx, t)
	if err != nil {
		return "", err
	}
	return done.tell(max(r.cfg.Notices, On)), nil // it was asked for
}

// look is one review.
func (r *Runner) look(ctx context.Context, t Conversation) (outcome, error) {
	if !r.mu.TryLock() {
		return outcome{}, ErrBusy
	}
	defer r.mu.Unlock()
	r.note(t.Session)
	limit, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	tools, err := r.cfg.NewRuntime(limit, t)
	if err != nil {
		return outcome{}, err
	}
	before, _ := r.cost(limit, t.Session.ID)
	done := r.run(limit, t, tools)
	if tools.Close != nil {
		done.err = errors.Join(done.err, tools.Close())
	}
	if done.err != nil {
		return outcome{}, fmt.Errorf("look back at the work: %w", done.err)
	}
	after, priced := r.cost(context.WithoutCancel(ctx), t.Session.ID)
	done.looked, done.money, done.priced = true, after-before, priced
	return done, r.mark(context.WithoutCancel(ctx), t.Session)
}

func (r *Runner) cost(ctx context.Context, session string) (hermes.Money, bool) {
	if r.cfg.Cost == nil {
		return 0, false
	}
	return r.cfg.Cost(ctx, session)
}

// run is the review: a loop of its own on a digest.
func (r *Runner) run(ctx context.Context, t Conversation, b Runtime) outcome {
	var known string
	if r.cfg.Known != nil {
		known = r.cfg.Known(ctx, t.Session)
	}
	m, input := r.cfg.Model(t.Model), 0
	if r.cfg.Input != nil {
		input = r.cfg.Input(m.ID())
	}
	var out outcome
	work := session.SideTask{
		Model: m, Tools: b.Tools, Environment: b.Environment, Session: t.Session, System: system,
		Prompt: digest(t, known, input), Steps: maxSteps, Now: r.cfg.Now,
	}
	for e := range work.Run(ctx) { // a failure stands in its last event, too
		out.take(e)
	}
	if b.Trials != nil {
		out.tried(b.Trials())
	}
	return out
}
