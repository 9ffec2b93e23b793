package delegation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"hermes"
)

// args is what a model sends: one task, or several.
type args struct {
	task
	Tasks      []task `json:"tasks"`
	Background bool   `json:"background"`
}

// task is one task.
type task struct {
	Goal     string          `json:"goal"`
	Context  string          `json:"context"`
	Toolsets []string        `json:"toolsets"`
	Role     string          `json:"role"`
	Schema   json.RawMessage `json:"output_schema"`
	Worktree bool            `json:"worktree"`
	Steps    int             `json:"max_iterations"`
	Cost     float64         `json:"max_cost"`
}

// tasks returns the tasks of a call. What is said for all of them holds where one says nothing itself.
func (t Toolset) tasks(call string, in args) ([]hermes.Task, error) {
	list := in.Tasks
	switch {
	case len(list) == 0:
		list = []task{in.task}
	case strings.TrimSpace(in.Goal) != "":
		return nil, errors.New("give either goal or tasks, not both")
	case len(list) > t.limits.AtOnce:
		return nil, fmt.Errorf("%d tasks are too many at once; delegation.max_concurrent_children allows %d: give the most important first, and the others when these have ended", len(list), t.limits.AtOnce)
	}
	out := make([]hermes.Task, len(list))
	for i, one := range list {
		if strings.TrimSpace(one.Goal) == "" {
			return nil, fmt.Errorf("task %d has no goal; say what is to be done", i+1)
		}
		if len(in.Tasks) > 0 {
			one = one.or(in.task)
		}
		if one.Steps < 0 || one.Cost < 0 {
			return nil, fmt.Errorf("task %d: max_iterations and max_cost must be more than 0; leave them out for no limit", i+1)
		}
		role := hermes.ChildRole(one.Role)
		if one.Role == "leaf" {
			role = hermes.RoleLeaf
		}
		out[i] = hermes.Task{
			Goal: strings.TrimSpace(one.Goal), Context: strings.TrimSpace(one.Context), Toolsets: one.Toolsets, Role: role, MaxSteps: one.Steps, MaxCost: money(one.Cost),
			Schema: one.given(), Worktree: one.Worktree, Key: fmt.Sprintf("%s/%d", call, i+1), Background: in.Background,
		}
	}
	return out, nil
}

// money is a limit in dollars; the smallest is a millionth, since 0 is no limit.
func money(usd float64) hermes.Money {
	if usd <= 0 {
		return 0
	}
	return max(1, hermes.USD(usd))
}

// given is the schema, nil if there is none.
func (t task) given() json.RawMessage {
	if text := strings.TrimSpace(string(t.Schema)); text == "" || text == "null" {
		return nil
	}
	return t.Schema
}

// or takes from another task what this one does not say.
func (t task) or(all task) task {
	if t.Context == "" {
		t.Context = all.Context
	}
	if len(t.Toolsets) == 0 {
		t.Toolsets = all.Toolsets
	}
	if t.Role == "" {
		t.Role = all.Role
	}
	if t.given() == nil {
		t.Schema = all.Schema
	}
	if t.Steps == 0 {
		t.Steps = all.Steps
	}
	if t.Cost == 0 {
		t.Cost = all.Cost
	}
	t.Worktree = t.Worktree || all.Worktree
	return t
}

// entry is the result of one task, in the order of the tasks.
type entry struct {
	Status    string          `json:"status"`
	Session   string          `json:"session,omitempty"`
	Summary   string          `json:"summary,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Fits      *bool           `json:"schema_valid,omitempty"`
	Error     string          `json:"error,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
	Steps     int             `json:"api_calls,omitempty"`
	Tokens    int64           `json:"tokens,omitempty"`
	Cost      string          `json:"cost,omitempty"`
	Files     []string        `json:"files_changed,omitempty"`
	More      string          `json:"files_note,omitempty"`
	Worktree  string          `json:"worktree,omitempty"`
}

// why says what a status means that is not plain, and what to do.
var why = map[hermes.ChildStatus]string{
	hermes.ChildInterrupted: "it was stopped before it was done",
	hermes.ChildStalled:     "it made no progress and was stopped; the summary is what it had",
	hermes.ChildTimedOut:    "it made no progress for as long as delegation.child_timeout_seconds allows, and was stopped; the summary is what it had",
	hermes.ChildOverBudget:  "it had no steps or no money left; the summary is what it had",
}

// run runs the tasks at once. One that fails does not stop the others.
func (t Toolset) run(ctx context.Context, c *hermes.Call, in args) (hermes.Result, error) {
	note := ""
	if at := c.Host.Session(); in.Background && finite(at) {
		in.Background, note = false, "background is not possible here; this is the result"
	}
	tasks, err := t.tasks(c.ID, in)
	if err != nil {
		return hermes.Result{}, err
	}
	entries, ended := make([]entry, len(tasks)), atomic.Int64{}
	var wg sync.WaitGroup
	c.Host.Progress(progress(0, len(tasks)))
	for i, one := range tasks {
		wg.Go(func() {
			r, err := c.Host.Spawn(ctx, one)
			entries[i] = entryOf(r, err, one)
			c.Host.Progress(progress(int(ended.Add(1)), len(tasks)))
		})
	}
	wg.Wait()
	c.Host.Progress("")
	if ctx.Err() != nil {
		return hermes.Result{}, context.Cause(ctx)
	}
	r, err := hermes.JSONResult(struct {
		Results []entry `json:"results"`
		Note    string  `json:"note,omitempty"`
	}{entries, note})
	r.Failed = failed(entries)
	return r, err
}

// finite reports whether a session may end with its turn: no user attends it, or it is a child. It waits
// for what it delegates.
func finite(s hermes.SessionRef) bool { return !s.Attended || s.Depth > 0 || s.Platform == "oneshot" }

func progress(ended, all int) string {
	if all == 1 {
		return "a sub-agent works"
	}
	return fmt.Sprintf("%d of %d sub-agents have ended", ended, all)
}

// failed reports whether no task was done.
func failed(entries []entry) bool {
	for _, e := range entries {
		if e.Status == string(hermes.ChildCompleted) || e.Status == string(hermes.ChildRunning) || e.Status == string(hermes.ChildOverBudget) {
			return false
		}
	}
	return true
}

// entryOf is the result of a task.
func entryOf(r hermes.Report, err error, t hermes.Task) entry {
	if err != nil {
		return entry{Status: string(hermes.ChildFailed), Session: r.Session, Error: err.Error()}
	}
	e := entry{
		Status: string(r.Status), Session: r.Session, Result: r.Result, Error: why[r.Status], Steps: r.Steps, Tokens: r.Usage.Prompt() + r.Usage.Output,
		Files: r.Files, Worktree: r.Worktree.Note,
	}
	if r.Cost > 0 {
		e.Cost = r.Cost.String()
	}
	if len(t.Schema) > 0 && r.Status != hermes.ChildRunning {
		e.Fits = new(r.Misfit == "")
		if r.Misfit != "" && e.Error == "" {
			e.Error = r.Misfit
		}
	}
	if r.Result == nil {
		e.Summary, e.Truncated = r.Summary, r.Truncated
	}
	if r.MoreFiles > 0 {
		e.More = fmt.Sprintf("%d more; ", r.MoreFiles)
	}
	if r.MayBeMore {
		e.More += "commands may have changed others"
	}
	e.More = strings.TrimSuffix(e.More, "; ")
	if r.Status == hermes.ChildFailed {
		e.Error = cmp.Or(r.Failure, hermes.UnknownFailure)
		if e.Summary != "" {
			e.Error += "; the summary is what it wrote last, and no answer"
		}
	}
	return e
}
