// Package auxiliary calls models for side tasks: summaries, titles, approval
// verdicts, descriptions of pictures.
//
// It owns the choice of the model for a task: the one configured for it, else the
// session's own, else, if those fail, others in a fixed order. Calls go through
// the models that it is given, and thus through the same model chain and the same
// meter as the conversation's, with [hermes.Request.Purpose] set to the task. It
// must not know how a model is reached, nor sessions; what it needs is in
// [Config].
//
// Start at [Client.Model], then chain.go (the order) and model.go (one call).
// title.go, summary.go and approval.go are tasks with one prompt and one answer.
package auxiliary

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"hermes"
	"hermes/internal/thinktag"
)

// The names of tasks, as in the section auxiliary of the configuration. Requests
// have them as their purpose.
const (
	Vision      = "vision"
	Compression = "compression"
	TitleTask   = "title_generation"
	Approval    = "approval"
	Review      = "background_review" // of finished work
	Replay      = "skill_replay"      // of a recorded task
	Evidence    = "evidence"          // what an answer claims
	MCP         = "mcp"               // what an MCP server asks
	Plugin      = "plugin"            // what a plugin asks
	Hook        = "hook"              // what a hook asks about an event
	Reference   = "moa_reference"     // one model of a mixture
	Aggregator  = "moa_aggregator"    // the model that makes one answer of theirs
	Page        = "web_extract"       // what a web page says
)

// Choice is a model and how to reach it. Without a base URL the provider is one
// of the catalogue; without a provider the model is any reference. The zero
// Choice is the configured model.
type Choice struct {
	Provider, Model string
	BaseURL         string
	Key             hermes.Secret
	KeyEnv, APIMode string
	// Extra are fields of the body, sent as they are.
	Extra map[string]any
	// Fault is why the choice must not be used, nil for nothing.
	Fault error
}

// Task holds the settings of a side task. Its zero value is the main model.
type Task struct {
	Choice
	Timeout time.Duration // of one attempt; 0 is a minute
	// Silence makes Timeout the time without any piece of an answer. All attempts
	// together are then limited by the caller only.
	Silence bool
	// Patient, with Silence, leaves the beginning of an answer of an own server to the
	// limits of its connection.
	Patient bool
	Effort  hermes.Effort
	// MaxTokens bounds an answer, thinking included; 0 is what the request asks.
	MaxTokens int
	// Fallback are the models to try if the task's model fails.
	Fallback []Choice
	// Concurrency is how many calls of the task may run at once; 0 is no limit.
	Concurrency int
}

// Config configures a Client.
type Config struct {
	// Task returns the settings of a side task.
	Task func(name string) Task
	// Reach returns the model of a choice, wrapped in its chain.
	Reach func(ctx context.Context, c Choice) (hermes.Model, error)
	// Fallback are the fallback models of the conversation.
	Fallback []Choice
	// Text and Vision return the last models to try, in order: those that can be
	// reached from here without being configured. Nil means none.
	Text, Vision func() []Choice
	// Sees reports whether a model accepts pictures; nil means that all do.
	Sees func(ref string) bool
	// Local reports whether the server of a model is on this machine or in its network,
	// where it may read a long prompt for minutes; nil means that none is.
	Local func(ref string) bool
	// Halted returns why no call may begin, nil if it may; see package brake. Nil refuses none.
	Halted func() error
	Log    *slog.Logger // nil discards
}

// Client runs side tasks. It may be used concurrently.
type Client struct {
	cfg Config

	mu    sync.Mutex
	slots map[string]chan struct{} // by task, if their number is limited
}

// New returns a client. It makes no call yet.
func New(cfg Config) *Client {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Client{cfg: cfg, slots: map[string]chan struct{}{}}
}

// Call is one prompt of a side task.
type Call struct {
	Task    string
	Main    string // reference of the session's own model; empty is the configured one
	Session string
	Scope   hermes.Scope
	// Prompt is the user message; System may be empty.
	System, Prompt string
	MaxTokens      int
	Effort         hermes.Effort // unless the settings of the task name one
	// Within is the time that the caller has. Unless the settings of the task limit an attempt, one has half of it,
	// so that a slow model leaves time for another; 0 is unknown.
	Within time.Duration
	// Exact asks Main, and if that fails only the fallback models of the task.
	Exact bool
}

var errEmpty = errors.New("the model returned an empty answer")

// Ask makes a call and returns the text of the answer, without any thinking that
// the model wrote into it. An empty answer is an error.
func (r *Client) Ask(ctx context.Context, c Call) (string, error) {
	text, _, err := r.AskNamed(ctx, c)
	return text, err
}

// AskNamed is Ask, and names the model that answered if it was not the first one.
func (r *Client) AskNamed(ctx context.Context, c Call) (answer, by string, err error) {
	stream := (&model{client: r, task: c.Task, main: c.Main, within: c.Within, exact: c.Exact}).Stream(ctx, &hermes.Request{
		System: c.System, Messages: []hermes.Message{hermes.UserText(c.Prompt)},
		MaxTokens: c.MaxTokens, Effort: c.Effort, Session: c.Session, Scope: c.Scope,
	})
	m, err := hermes.Collect(func(yield func(hermes.Delta, error) bool) {
		for d, err := range stream {
			by = cmp.Or(d.Model, by)
			if !yield(d, err) {
				return
			}
		}
	})
	if err != nil {
		return "", by, fmt.Errorf("%s: %w", c.Task, err)
	}
	if answer = thinktag.Answer(m.Text()); answer == "" {
		return "", by, fmt.Errorf("%s: %w", c.Task, errEmpty)
	}
	return answer, by, nil
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
