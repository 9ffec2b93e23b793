package auxiliary

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"time"

	"hermes"
)

// defaultTimeout is the time limit of an attempt if the task sets none.
const defaultTimeout = time.Minute

// Model returns the model of a side task, which tries the models of the task's
// chain until one answers. main is the session's own.
func (r *Client) Model(task, main string) hermes.Model {
	return &model{client: r, task: task, main: main}
}

type model struct {
	client     *Client
	task, main string
	within     time.Duration // see [Call]
	exact      bool          // the same
}

var _ hermes.Model = (*model)(nil)

var errNoModel = errors.New("no model is available; set one under auxiliary in config.yaml")

// ID returns the reference of the model that is tried first.
func (m *model) ID() string {
	for _, c := range m.client.chain(m.task, m.main, m.client.cfg.Task(m.task)) {
		return c.Ref()
	}
	return m.main
}

// Stream tries one model after another. It withdraws the partial answer of a
// model that fails.
func (m *model) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		if m.client.cfg.Halted != nil {
			if err := m.client.cfg.Halted(); err != nil {
				yield(hermes.Delta{}, err)
				return
			}
		}
		t := m.client.cfg.Task(m.task)
		release, err := m.client.slot(ctx, m.task, t.Concurrency)
		if err != nil {
			yield(hermes.Delta{}, err)
			return
		}
		defer release()
		request := *r
		request.Purpose = m.task
		request.Effort = cmp.Or(t.Effort, r.Effort)
		request.MaxTokens = cmp.Or(max(t.MaxTokens, 0), r.MaxTokens)
		a := attempt{client: m.client, task: m.task, request: &request, yield: yield, limit: cmp.Or(t.Timeout, m.within/2, defaultTimeout), silence: t.Silence, patient: t.Patient}
		choices := m.client.chain(m.task, m.main, t)
		if m.exact {
			choices = append([]Choice{{Model: m.main}}, t.Fallback...)
		}
		if err := a.each(ctx, choices); err != nil && !a.left {
			yield(hermes.Delta{}, err)
		}
	}
}

// attempt is the search for one answer.
type attempt struct {
	client  *Client
	task    string
	request *hermes.Request
	yield   func(hermes.Delta, error) bool
	limit   time.Duration
	silence bool // the limit is of silence
	patient bool // an own server may begin later
	said    bool // something was yielded that must be withdrawn
	left    bool // the caller has stopped reading
}

// each tries the choices in order until one answers. It returns the error of the
// first one, which is the requested model.
func (a *attempt) each(ctx context.Context, choices []Choice) error {
	// One slow model must not use up the time of all, and all together must not
	// take forever.
	if !a.silence {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 2*a.limit)
		defer cancel()
	}
	var first error
	asked := map[string]bool{}
	for _, c := range choices {
		m, err := a.client.cfg.Reach(ctx, c)
		if err == nil && asked[m.ID()] && c.BaseURL == "" {
			continue
		}
		if err == nil {
			asked[m.ID()] = true
			err = a.ask(ctx, m, first != nil)
			if err == nil || a.left {
				return nil
			}
		}
		if first == nil {
			first = err
		}
		if !passes(ctx, err) {
			return first
		}
		a.client.cfg.Log.Warn("a model failed at a side task", "task", a.task, "model", c.Ref(), "err", err)
	}
	if first == nil {
		return errNoModel
	}
	return first
}

// ask streams the answer of one model. If it is not the first, it reports the
// model's name.
func (a *attempt) ask(ctx context.Context, m hermes.Model, another bool) error {
	ctx, alive, cancel := a.clock(ctx, m)
	defer cancel()
	if a.said && !a.emit(hermes.Delta{Reset: "trying another model"}) {
		return nil
	}
	a.said = false
	if another && !a.emit(hermes.Delta{Model: m.ID()}) {
		return nil
	}
	answered := false
	for d, err := range m.Stream(ctx, a.request) {
		if err != nil && a.silence && context.Cause(ctx) != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		alive()
		answered = answered || d.Text != "" || d.Call != nil
		a.said = a.said || d.Text != "" || d.Reasoning != "" || d.Call != nil || d.Block != nil
		if !a.emit(d) {
			return nil
		}
	}
	if !answered {
		return errEmpty
	}
	return nil
}

// clock limits one attempt. alive reports a piece of the answer.
func (a *attempt) clock(ctx context.Context, m hermes.Model) (_ context.Context, alive func(), cancel context.CancelFunc) {
	if !a.silence {
		ctx, cancel = context.WithTimeout(ctx, a.limit)
		return ctx, func() {}, cancel
	}
	ctx, end := context.WithCancelCause(ctx)
	quiet := time.AfterFunc(a.limit, func() { end(context.DeadlineExceeded) })
	if local := a.client.cfg.Local; a.patient && local != nil && local(m.ID()) {
		quiet.Stop()
	}
	return ctx, func() { quiet.Reset(a.limit) }, func() { quiet.Stop(); end(nil) }
}

func (a *attempt) emit(d hermes.Delta) bool {
	a.left = a.left || !a.yield(d, nil)
	return !a.left
}
