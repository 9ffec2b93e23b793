package auxiliary

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"time"

	"hermes"
)

// defaultTimeout bounds an attempt of a task that sets no bound.
const defaultTimeout = time.Minute

// Model returns the model of a side task: one that asks the models of the
// task's chain until one answers. main is the session's own.
func (r *Client) Model(task, main string) hermes.Model {
	return &model{client: r, task: task, main: main}
}

type model struct {
	client     *Client
	task, main string
}

var _ hermes.Model = (*model)(nil)

var errNoModel = errors.New("no model can be asked for it; name one under auxiliary in config.yaml")

// ID is the reference of the model that is asked first.
func (m *model) ID() string {
	for _, c := range m.client.chain(m.task, m.main, m.client.cfg.Task(m.task)) {
		return c.Ref()
	}
	return m.main
}

// Stream asks one model after another. What one that fails had said is taken
// back.
func (m *model) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
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
		a := attempt{client: m.client, task: m.task, request: &request, yield: yield, limit: cmp.Or(t.Timeout, defaultTimeout)}
		if err := a.each(ctx, m.client.chain(m.task, m.main, t)); err != nil && !a.left {
			yield(hermes.Delta{}, err)
		}
	}
}

// attempt is the asking for one answer.
type attempt struct {
	client  *Client
	task    string
	request *hermes.Request
	yield   func(hermes.Delta, error) bool
	limit   time.Duration
	said    bool // something was yielded that has to be taken back
	left    bool // nobody listens any more
}

// each asks the choices in order until one answers. The error is that of the
// first one, which is the one that was wanted.
func (a *attempt) each(ctx context.Context, choices []Choice) error {
	// One model that is slow must not use up the time of all, and all of them
	// together must not take for ever.
	ctx, cancel := context.WithTimeout(ctx, 2*a.limit)
	defer cancel()
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
		a.client.cfg.Log.Warn("a model could not do a side task", "task", a.task, "model", c.Ref(), "err", err)
	}
	if first == nil {
		return errNoModel
	}
	return first
}

// ask streams the answer of one model. The name of one that was not the first
// is told.
func (a *attempt) ask(ctx context.Context, m hermes.Model, another bool) error {
	ctx, cancel := context.WithTimeout(ctx, a.limit)
	defer cancel()
	if a.said && !a.tell(hermes.Delta{Reset: "another model is asked"}) {
		return nil
	}
	a.said = false
	if another && !a.tell(hermes.Delta{Model: m.ID()}) {
		return nil
	}
	answered := false
	for d, err := range m.Stream(ctx, a.request) {
		if err != nil {
			return err
		}
		answered = answered || d.Text != "" || d.Call != nil
		a.said = a.said || d.Text != "" || d.Reasoning != "" || d.Call != nil || d.Block != nil
		if !a.tell(d) {
			return nil
		}
	}
	if !answered {
		return errEmpty
	}
	return nil
}

func (a *attempt) tell(d hermes.Delta) bool {
	a.left = a.left || !a.yield(d, nil)
	return !a.left
}
