// Package review looks back at hard turns for what is worth keeping: facts for
// memory, procedures for skills.
//
// It owns when that is due (hard work that went well, seldom, never two at
// once), what a reviewer reads (a digest, so that nothing of the
// conversation's cached prefix is sent again or disturbed), and what is told
// of it. Which model is asked, and the tools with their approvals, are handed
// in; the reviewer has no other tools, and nobody answers its questions.
//
// Start at review.go, then due.go and digest.go.
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
	maxTime  = 3 * time.Minute
)

// ErrBusy means that another review is running.
var ErrBusy = errors.New("a review is running already; its outcome is told when it is done")

// Config is what a room works with.
type Config struct {
	// Model is the model that reviews; main is the conversation's own.
	Model func(main string) hermes.Model
	// Tools makes the tools for one review, behind the tool onion.
	Tools func(ctx context.Context, s hermes.SessionRef) (session.Toolbox, error)
	// Known is what is remembered already; nil for nothing.
	Known func(ctx context.Context) string
	// Cost tells what the reviews of a session have cost so far, and whether
	// that is known; nil tells tokens alone.
	Cost func(ctx context.Context, session string) (hermes.Money, bool)
	// MaxInput bounds what is read, in tokens; 0 is 12,000.
	MaxInput int
	Now      func() time.Time // nil is time.Now
}

// Room reviews for all sessions of a process, one at a time. Its methods may
// be called concurrently.
type Room struct {
	cfg Config

	mu   sync.Mutex // held while a review runs
	rate sync.Mutex
	last map[string]int64 // the turn of the last review, by session
}

// New makes a room. It asks nobody yet.
func New(c Config) *Room {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Room{cfg: c, last: map[string]int64{}}
}

// Talk is the conversation to look at.
type Talk struct {
	Session    hermes.SessionRef
	Model      string // the conversation's own
	Transcript []hermes.Message
	Focus      string // what to look for above all; empty for anything
}

// Turn looks at a turn that ended well, if that is due. It returns what the
// person is told, "" if nothing was done.
func (r *Room) Turn(ctx context.Context, t Talk) (string, error) {
	if !hard(t.Transcript, t.Session.Turn) || !r.mayAgain(t.Session) {
		return "", nil
	}
	said, err := r.Now(ctx, t)
	if errors.Is(err, ErrBusy) {
		return "", nil
	}
	return said, err
}

// Now looks at a conversation at once and returns what the person is told.
func (r *Room) Now(ctx context.Context, t Talk) (string, error) {
	if !r.mu.TryLock() {
		return "", ErrBusy
	}
	defer r.mu.Unlock()
	r.note(t.Session)
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	tools, err := r.cfg.Tools(ctx, t.Session)
	if err != nil {
		return "", err
	}
	before, _ := r.cost(ctx, t.Session.ID)
	done := r.run(ctx, t, tools)
	after, priced := r.cost(context.WithoutCancel(ctx), t.Session.ID)
	if done.err != nil {
		return "", fmt.Errorf("look back at the work: %w", done.err)
	}
	done.money, done.priced = after-before, priced
	return done.tell(), nil
}

func (r *Room) cost(ctx context.Context, session string) (hermes.Money, bool) {
	if r.cfg.Cost == nil {
		return 0, false
	}
	return r.cfg.Cost(ctx, session)
}

// run is the review: a loop of its own on a digest.
func (r *Room) run(ctx context.Context, t Talk, tools session.Toolbox) outcome {
	var known string
	if r.cfg.Known != nil {
		known = r.cfg.Known(ctx)
	}
	var out outcome
	work := session.Aside{
		Model: r.cfg.Model(t.Model), Tools: tools, Session: t.Session, System: system,
		Prompt: digest(t, known, r.cfg.MaxInput), Steps: maxSteps, Now: r.cfg.Now,
	}
	for e := range work.Run(ctx) { // a failure stands in its last event, too
		out.take(e)
	}
	return out
}
