// Package auxiliary asks models for side tasks: summaries, titles, verdicts,
// descriptions of pictures.
//
// It owns which model a task goes to: the one that is set for it, else the
// session's own, else, where that cannot be reached, others in a fixed order.
// Every call is made by the models that it is given, so that it passes the
// same layers and the same meter as the conversation's, with
// [hermes.Request.Purpose] set to the task. It does not know how a model is
// reached, nor sessions; what it needs is in [Config].
//
// Start at [Client.Model], then chain.go (the order) and model.go (one call).
// title.go and approval.go are two tasks that are only a question and the
// reading of its answer.
package auxiliary

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"hermes"
)

// The names of tasks, as the configuration has them under auxiliary. They are
// the purposes of the requests.
const (
	Vision      = "vision"
	Compression = "compression"
	TitleTask   = "title_generation"
	Approval    = "approval"
)

// Choice is a model and how it is reached. Without a base URL the provider is
// one of the catalogue; without a provider the model is any reference, and
// the zero Choice is the configured model.
type Choice struct {
	Provider, Model string
	BaseURL         string
	Key             hermes.Secret
	KeyEnv, APIMode string
	// Extra are fields of the body, sent as they are.
	Extra map[string]any
}

// Task is what is set for a side task. Its zero value is the main model.
type Task struct {
	Choice
	Timeout time.Duration // of one attempt; 0 is a minute
	Effort  hermes.Effort
	// Fallback are asked when the task's model cannot be.
	Fallback []Choice
	// Concurrency is how many calls of the task may run at once; 0 is no limit.
	Concurrency int
}

// Config is what a Client works with.
type Config struct {
	// Task returns the settings of a side task.
	Task func(name string) Task
	// Reach makes the model of a choice, in its chain.
	Reach func(ctx context.Context, c Choice) (hermes.Model, error)
	// Fallback are the models that answer for the conversation's own.
	Fallback []Choice
	// Text and Vision are the last resort, in order: what can be asked on this
	// machine beside what was configured. Nil is none.
	Text, Vision func() []Choice
	// Sees tells whether a model takes pictures; nil believes it of each.
	Sees func(ref string) bool
	Log  *slog.Logger // nil discards
}

// Client asks for side tasks. It may be used concurrently.
type Client struct {
	cfg Config

	mu    sync.Mutex
	slots map[string]chan struct{} // by task, where their number is limited
}

// New returns a room. It asks nobody yet.
func New(cfg Config) *Client {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Client{cfg: cfg, slots: map[string]chan struct{}{}}
}

// Call is a question of a side task.
type Call struct {
	Task    string
	Main    string // reference of the session's own model; empty is the configured one
	Session string
	Scope   hermes.Scope
	// Prompt is what is asked; System may be empty.
	System, Prompt string
	MaxTokens      int
}

var errEmpty = errors.New("the model answered nothing")

// Ask puts a question and returns the words of the answer, without any
// thinking that the model wrote into them. An empty answer is an error.
func (r *Client) Ask(ctx context.Context, c Call) (string, error) {
	answer, err := hermes.Collect(r.Model(c.Task, c.Main).Stream(ctx, &hermes.Request{
		System: c.System, Messages: []hermes.Message{hermes.UserText(c.Prompt)},
		MaxTokens: c.MaxTokens, Session: c.Session, Scope: c.Scope,
	}))
	if err != nil {
		return "", fmt.Errorf("%s: %w", c.Task, err)
	}
	text := withoutThinking(answer.Text())
	if text == "" {
		return "", fmt.Errorf("%s: %w", c.Task, errEmpty)
	}
	return text, nil
}

// slot waits until a call of the task may run.
func (r *Client) slot(ctx context.Context, task string, most int) (release func(), err error) {
	if most <= 0 {
		return func() {}, nil
	}
	r.mu.Lock()
	slots := r.slots[task]
	if slots == nil {
		slots = make(chan struct{}, most)
		r.slots[task] = slots
	}
	r.mu.Unlock()
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
