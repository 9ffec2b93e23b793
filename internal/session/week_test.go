package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hermes"
	"hermes/internal/contextengine"
	"hermes/internal/session"
	"hermes/internal/store/sqlite"
	"hermes/internal/tokens"
	"hermes/internal/tool/todo"
)

// worker is a model that works for days on one session, and looks at each
// request for what it must not have lost. It is used by one turn at a time.
type worker struct {
	t      *testing.T
	window map[string]int // by reference

	mu       sync.Mutex
	left     int // steps of this turn
	n        int // of all
	task     string
	rules    []string
	open     map[string]string // contents of open items by id
	next     int               // the id that is done next
	plans    int
	files    []string
	hang     chan struct{} // if set: the next request is reported here and never answered
	refusals int
}

type workerModel struct {
	*worker
	ref string
}

func (w *worker) Model(_ context.Context, c hermes.ModelChoice) (hermes.Model, error) {
	if c.Ref == "" {
		c.Ref = "small"
	}
	return workerModel{w, c.Ref}, nil
}

func (m workerModel) ID() string { return m.ref }

func (m workerModel) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		m.mu.Lock()
		hang := m.hang
		m.mu.Unlock()
		if hang != nil {
			close(hang)
			<-ctx.Done()
			yield(hermes.Delta{}, context.Cause(ctx))
			return
		}
		used := requestCost(r)
		if used > m.window[m.ref] {
			m.refusals++
			yield(hermes.Delta{}, &hermes.ModelError{Class: hermes.ClassOverflow, Compress: true, Message: "too long"})
			return
		}
		m.looksAt(r)
		for _, d := range m.works() {
			if !yield(d, nil) {
				return
			}
		}
		yield(hermes.Delta{Finish: hermes.FinishStop, Usage: &hermes.Usage{Input: int64(used), Output: 50, Calls: 1}}, nil)
	}
}

// requestCost is what a request costs: the prompt, and the messages.
func requestCost(r *hermes.Request) int {
	n := 4000
	for _, msg := range r.Messages {
		n += tokens.Text(msg.Text())
		for _, c := range msg.Calls {
			n += tokens.Texts(c.Name, c.Arguments)
		}
	}
	return n
}

// looksAt checks what a request still contains.
func (w *worker) looksAt(r *hermes.Request) {
	var all, newest string
	for _, msg := range r.Messages {
		text := msg.Text()
		all += text + "\n"
		for _, c := range msg.Calls {
			all += c.Arguments + "\n"
		}
		if strings.Contains(text, "[SUMMARY OF EARLIER TURNS.") || msg.ToolName == "todo" && strings.Contains(text, `"todos"`) {
			newest = text
		}
	}
	lost := func(kind, what string) { w.t.Errorf("request %d lost the %s %q", w.n, kind, what) }
	if !strings.Contains(all, w.task) {
		lost("task", w.task)
	}
	for _, rule := range w.rules {
		if !strings.Contains(all, rule) {
			lost("constraint", rule)
		}
	}
	for _, item := range w.open {
		if !strings.Contains(newest, item) {
			lost("open item", item)
		}
	}
	for _, f := range w.files[max(0, len(w.files)-15):] {
		if !strings.Contains(all, f) {
			lost("file", f)
		}
	}
	if open := hermes.OpenCalls(r.Messages); len(open) > 0 {
		w.t.Errorf("request %d has open calls: %v", w.n, open)
	}
}

// works is the next step: a plan at the beginning of a turn, then reading and
// writing, then an answer.
func (w *worker) works() []hermes.Delta {
	w.n++
	w.left--
	call := func(name string, arguments any) []hermes.Delta {
		b, err := json.Marshal(arguments)
		if err != nil {
			panic(err)
		}
		return []hermes.Delta{{Text: "Next: " + strings.Repeat("word ", 250)}, {Call: &hermes.CallDelta{Index: 0, ID: fmt.Sprint("c", w.n), Name: name, Arguments: string(b)}}}
	}
	switch {
	case w.left <= 0:
		return []hermes.Delta{{Text: fmt.Sprintf("Done with %d. %s", w.n, strings.Repeat("word ", 50))}}
	case w.n%5 == 1:
		return call("todo", w.plan())
	case w.n%5 == 2:
		f := fmt.Sprintf("src/file%d.go", w.n)
		w.files = append(w.files, f)
		return call("write_file", map[string]string{"path": f, "content": strings.Repeat("line\n", 100)})
	}
	return call("read", map[string]string{"path": fmt.Sprintf("src/file%d.go", w.n)})
}

// plan makes a list, or reports that its next item is done.
func (w *worker) plan() any {
	if len(w.open) == 0 {
		w.plans++
		w.open, w.next = map[string]string{}, 1
		var list []map[string]string
		for i := 1; i <= 6; i++ {
			content := fmt.Sprintf("item %d of plan %d: move the part that has to do with invoices and their lines", i, w.plans)
			w.open[fmt.Sprint(i)] = content
			list = append(list, map[string]string{"id": fmt.Sprint(i), "content": content, "status": "pending"})
		}
		return map[string]any{"todos": list}
	}
	id := fmt.Sprint(w.next)
	delete(w.open, id)
	w.next++
	return map[string]any{"merge": true, "todos": []map[string]string{{"id": id, "status": "completed"}}}
}

// asked takes what the user says, and how many steps it takes.
func (w *worker) asked(turn, steps int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = steps
	rules := []string{"Never touch the vendor folder.", "Geldbeträge sind immer ganze Cent.", "必ずテストを書いてください。", "Don't add dependencies."}
	if i := turn/2 - 1; turn%2 == 0 && i >= 0 && i < len(rules) {
		w.rules = append(w.rules, rules[i])
		return rules[i]
	}
	if turn%7 == 1 {
		w.task = fmt.Sprintf("Port part %d of the billing module to Go.", turn)
		return w.task
	}
	return "ok, go on"
}

// mortal is the store of a process: after its death nothing asks for the lease
// any more, however long the test takes.
type mortal struct {
	hermes.Store
	crashed atomic.Bool
}

var errCrashed = errors.New("the process is dead")

func (m *mortal) Acquire(ctx context.Context, id string, owner hermes.Owner, ttl time.Duration) (hermes.Lease, error) {
	if m.crashed.Load() {
		return hermes.Lease{}, errCrashed
	}
	return m.Store.Acquire(ctx, id, owner, ttl)
}

func (m *mortal) Renew(ctx context.Context, l hermes.Lease, ttl time.Duration) (hermes.Lease, error) {
	if m.crashed.Load() {
		return hermes.Lease{}, errCrashed
	}
	return m.Store.Renew(ctx, l, ttl)
}

// lives opens the session in a process of its own on the same database, and
// returns how the process dies.
func lives(t *testing.T, path string, w *worker, sum contextengine.Summarize, life int) (m *session.Manager, die func()) {
	t.Helper()
	opened, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, OwnerGone: func(string) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	st := &mortal{Store: opened}
	lists := todo.New() // nothing is left of the list that the process before held
	offered, err := lists.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	read := echo("read")
	read.run = func(_ context.Context, c *hermes.Call) hermes.Result {
		return hermes.Result{Text: string(c.Arguments) + strings.Repeat("word ", 600)}
	}
	tools := newToolTable(read, echo("write_file"), tool{offered[0].Spec(), func(ctx context.Context, c *hermes.Call) hermes.Result {
		r, err := offered[0].Run(ctx, c)
		if err != nil {
			return hermes.Result{Text: err.Error(), Failed: true}
		}
		return r
	}})
	m = session.NewManager(session.Config{
		Store: st, Models: w, Owner: hermes.Owner{Name: fmt.Sprint("life ", life)},
		NewRuntime: func(_ context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			return &session.Runtime{
				Tools: tools,
				Prompt: prompter(func() (hermes.SystemPrompt, error) {
					return hermes.SystemPrompt{Text: "You are a test."}, nil
				}),
				Context:  contextengine.New(contextengine.Options{Summarize: sum}),
				Window:   func(model string) int { return w.window[model] },
				Follower: restorer(func(tr []hermes.Message) { lists.Restore(hermes.SessionRef{ID: run.Session}, tr) }),
			}, nil
		},
	})
	t.Cleanup(func() {
		_ = m.Close() // a process that was overtaken may say so
		_ = st.Close()
	})
	return m, func() { st.crashed.Store(true) }
}

// A session lives through ten compactions, crashes in the middle of turns,
// model switches and useless summaries, on the real store.
func TestTaskSurvivesCompactionsCrashesAndSwitches(t *testing.T) {
	t.Parallel()
	w := &worker{t: t, window: map[string]int{"small": 16_000, "large": 40_000}, open: map[string]string{}}
	scribes := []contextengine.Summarize{
		func(context.Context, int64, string, int) (string, error) { return "asdf [", nil },
		func(context.Context, int64, string, int) (string, error) { return "", errors.New("down") },
		nil,
	}
	path := filepath.Join(t.TempDir(), "state.db")
	id, turn, compactions := "", 0, 0
	for life := 0; compactions < 12; life++ {
		if life > 60 {
			t.Fatalf("only %d compactions", compactions)
		}
		m, die := lives(t, path, w, scribes[life%len(scribes)], life)
		s, err := m.Open(t.Context(), session.Open{Run: hermes.RunSpec{Session: id, Origin: hermes.Origin{Platform: "test"}}})
		if err != nil {
			t.Fatal(err)
		}
		id = s.ID()
		e := listen(t, s)
		if life%4 == 3 {
			ref := []string{"large", "small"}[life/4%2]
			submit(t, s, hermes.SetModel{Ref: ref})
		}
		for range 3 {
			turn++
			steps := []int{4, 4, 30}[turn%3]
			submit(t, s, say(w.asked(turn, steps)))
			if done := until[hermes.TurnDone](e); done.Outcome != hermes.OutcomeDone {
				t.Fatalf("turn %d: %+v", turn, done)
			}
			if t.Failed() {
				t.FailNow()
			}
		}
		for _, ev := range e.heard {
			if c, ok := ev.(hermes.Compacted); ok && strings.Contains(c.Note, "compacted") {
				compactions++
			}
		}
		if life%2 == 0 { // the process dies while it waits for an answer
			hang := make(chan struct{})
			turn++
			last := say(w.asked(turn, 3))
			w.mu.Lock()
			w.hang = hang
			w.mu.Unlock()
			submit(t, s, last)
			<-hang
			die()
			w.mu.Lock()
			w.hang = nil
			w.mu.Unlock()
		} else if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Contains(w.rules, "Don't add dependencies.") || w.plans < 2 || w.refusals == 0 {
		t.Errorf("the story is too short: %d plans, %d rules, %d refusals", w.plans, len(w.rules), w.refusals)
	}
}
