// Package review runs the background review: a model reads a conversation and
// keeps what is worth it, facts in memory and procedures in skills.
//
// It owns when a review is due (after a number of turns or steps, after a hard
// turn, at the end of a session; never two at once), what the reviewer reads (a
// digest, so that the conversation's cached prefix is not sent again), and the
// notice for the user. The model, the tools with their approvals and the queue
// of pending reviews are passed in. A review is unattended: it cannot ask the
// user.
//
// Start at review.go, then due.go, pending.go and digest.go.
package review

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"sync"
	"time"

	"hermes"
	"hermes/internal/agent"
	"hermes/internal/lru"
	"hermes/internal/session/jobs"
	"hermes/internal/store"
)

//go:embed system.md
var system string

const (
	maxSteps = 8 // model calls of one review
	// maxTime limits a review, including the replays of its drafts.
	maxTime = 10 * time.Minute
)

// ErrBusy means that another review is running.
var ErrBusy = errors.New("a review is already running; its result appears when it ends")

// Config is what a [Runner] works with. Model and NewRuntime must be set.
type Config struct {
	// Model returns the model that reviews. main is the conversation's model.
	Model func(main string) hermes.Model
	// NewRuntime returns the tools for one review, behind the tool chain.
	NewRuntime func(ctx context.Context, t Conversation) (Runtime, error)
	// Known returns what memory has about the user of a session; nil means
	// nothing.
	Known func(ctx context.Context, of hermes.SessionRef) string
	// Cost returns what the reviews of a session have cost so far, and whether
	// that is known. If it is nil, notices show only tokens.
	Cost func(ctx context.Context, session string) (hermes.Money, bool)
	// Queue opens the queue of pending reviews; nil keeps none after the
	// process. Load reads a session of the queue; nil does no pending reviews.
	Queue func(ctx context.Context) (store.Reviews, error)
	Load  func(ctx context.Context, session string) (Conversation, error)
	Pace  Pace
	// Input returns how many tokens a model reads; nil means 12,000.
	Input func(model string) int
	// Notices says what the user is told about automatic reviews.
	Notices Notices
	Now     func() time.Time // nil is time.Now
}

// Runtime is what one review works with. The Runner closes it.
type Runtime struct {
	Tools hermes.Tools
	// Environment is where tools read files; nil if they read none.
	Environment hermes.Environment
	// Trials returns the replays of skill drafts; nil means none.
	Trials func() []hermes.SkillTrial
	// Close frees all resources; nil means there are none.
	Close func() error
}

// Runner runs the reviews of all sessions of a process, one at a time. Its
// methods may be called concurrently.
type Runner struct {
	cfg Config

	mu       sync.Mutex // locked while a review runs
	rate     sync.Mutex
	last     *lru.Map[string, int64]    // the turn of the last review, by session
	left     *lru.Map[string, []string] // what left its transcript since, by session
	caughtUp int                        // pending reviews that were done
}

// New returns a runner. It makes no calls.
func New(c Config) *Runner {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Runner{cfg: c, last: lru.New[string, int64](maxSessions), left: lru.New[string, []string](maxSessions / 10)}
}

// Conversation is the conversation to review.
type Conversation = jobs.Conversation

// Review is called after a turn that ended successfully, or because the user asked. After a
// turn it runs a review if one is due, else a pending review of another session, and does
// nothing if another review is running. If the user asked it reviews this conversation; if
// another review is running, the error is ErrBusy. It returns the notice for the user, "" for
// none.
func (r *Runner) Review(ctx context.Context, t Conversation, asked bool) (string, error) {
	if asked {
		return r.asked(ctx, t)
	}
	var done outcome
	var err error
	if r.due(ctx, t) {
		done, err = r.review(ctx, t)
	} else {
		done, err = r.catchUp(ctx, t)
	}
	if errors.Is(err, ErrBusy) {
		return "", nil
	}
	return done.notice(r.cfg.Notices), err
}

func (r *Runner) asked(ctx context.Context, t Conversation) (string, error) {
	done, err := r.review(ctx, t)
	if err != nil {
		return "", err
	}
	return done.notice(max(r.cfg.Notices, On)), nil // the user asked for it
}

// review does one review.
func (r *Runner) review(ctx context.Context, t Conversation) (outcome, error) {
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
	left := r.takeLeft(t.Session.ID)
	done := r.run(limit, t, left, tools)
	if tools.Close != nil {
		done.err = errors.Join(done.err, tools.Close())
	}
	if done.err != nil {
		r.putLeft(t.Session.ID, left)
		return outcome{}, fmt.Errorf("review the conversation: %w", done.err)
	}
	after, priced := r.cost(context.WithoutCancel(ctx), t.Session.ID)
	done.done, done.money, done.priced = true, after-before, priced
	return done, r.mark(context.WithoutCancel(ctx), t.Session)
}

func (r *Runner) cost(ctx context.Context, session string) (hermes.Money, bool) {
	if r.cfg.Cost == nil {
		return 0, false
	}
	return r.cfg.Cost(ctx, session)
}

// run runs the side task that reviews the digest.
func (r *Runner) run(ctx context.Context, t Conversation, left []string, tools Runtime) outcome {
	var known string
	if r.cfg.Known != nil {
		known = r.cfg.Known(ctx, t.Session)
	}
	m, input := r.cfg.Model(t.Model), 0
	if r.cfg.Input != nil {
		input = r.cfg.Input(m.ID())
	}
	var out outcome
	work := agent.SideTask{
		Model: m, Tools: tools.Tools, Environment: tools.Environment, Session: t.Session, System: system,
		Prompt: digest(t, left, known, input), Steps: maxSteps, Now: r.cfg.Now,
	}
	for e := range work.Run(ctx) { // the last event has the error too
		out.take(e)
	}
	if tools.Trials != nil {
		out.addTrials(tools.Trials())
	}
	return out
}
