package contextengine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/contextengine"
	"hermes/internal/tokens"
)

// week is a long piece of work on one session, with what must not be lost of it.
type week struct {
	t      *testing.T
	engine *contextengine.Engine
	window int
	now    time.Time
	tr     []hermes.Message

	task  string
	rules []string
	open  []string // contents of the open items of the plan
	done  []string // of those that are finished
	files []string

	prose                         int // tokens that the model says with each batch
	size                          int // of the transcript, in tokens
	calls, compactions, overflows int
}

// fixed is what prompt and tools cost with every request.
const fixed = 4500

// newWeek begins a piece of work under a summariser.
func newWeek(t *testing.T, window int, s contextengine.Summarize) *week {
	w := &week{t: t, window: window, now: time.Unix(1000, 0), prose: window / 200}
	w.engine = contextengine.New(contextengine.Options{Summarize: s, Now: func() time.Time { return w.now }})
	return w
}

// say is a message of the user; one without an answer gets one.
func (w *week) say(text string) {
	if n := len(w.tr); n > 0 && w.tr[n-1].Role == hermes.RoleUser || n > 0 && w.tr[n-1].Role == hermes.RoleTool {
		w.add(assistant("Noted."))
	}
	w.add(user(text))
}

func (w *week) asks(task string) { w.task = task; w.say(task) }

func (w *week) lays(rule string) { w.rules = append(w.rules, rule); w.say(rule) }

func (w *week) answers(size int) { w.add(assistant("Understood. " + long(size))) }

// acts makes sure that it is the model's turn.
func (w *week) acts() {
	if n := len(w.tr); w.tr[n-1].Role == hermes.RoleAssistant {
		w.say("ok, do it")
	}
}

// does is a batch of calls with their results.
func (w *week) does(calls ...hermes.Message) {
	w.acts()
	ask := assistant("Next: " + long(w.prose))
	var results []hermes.Message
	for i := 0; i < len(calls); i += 2 {
		ask.Calls = append(ask.Calls, calls[i].Calls...)
		results = append(results, calls[i+1])
	}
	w.add(append([]hermes.Message{ask}, results...)...)
}

func (w *week) reads(size int) {
	w.calls++
	w.does(act("read_file", fmt.Sprintf(`{"path":"src/f%d.go"}`, w.calls), fmt.Sprintf("%d|%s", w.calls, long(size)))...)
}

func (w *week) storms(n, size int) {
	var calls []hermes.Message
	for range n {
		w.calls++
		calls = append(calls, act("terminal", fmt.Sprintf(`{"command":"ssh host%d find %s"}`, w.calls, long(110)), fmt.Sprintf("%d up %s", w.calls, long(size)))...)
	}
	w.does(calls...)
}

func (w *week) writes(path string, size int) {
	w.acts()
	w.touches(path)
	w.does(act("write_file", encode(map[string]string{"path": path, "content": long(size)}), `{"bytes_written":9}`)...)
}

// patches changes several files in one long patch.
func (w *week) patches(size int, paths ...string) {
	w.acts()
	var b strings.Builder
	b.WriteString("*** Begin Patch\n")
	for _, p := range paths {
		w.touches(p)
		fmt.Fprintf(&b, "*** Update File: %s\n@@\n-%s\n+new\n", p, long(size))
	}
	w.does(act("patch", encode(map[string]string{"mode": "patch", "patch": b.String() + "*** End Patch"}), `{"success":true}`)...)
}

func (w *week) touches(path string) {
	w.files = append(slices.DeleteFunc(w.files, func(f string) bool { return f == path }), path)
}

// plans writes a whole list whose first items are done.
func (w *week) plans(note string, done int, items ...string) {
	w.acts()
	var list []map[string]string
	w.open, w.done = nil, nil
	for i, content := range items {
		status := "pending"
		switch {
		case i < done:
			status = "completed"
			w.done = append(w.done, content)
		case i == done:
			status = "in_progress"
			fallthrough
		default:
			w.open = append(w.open, content)
		}
		list = append(list, map[string]string{"id": fmt.Sprint(i + 1), "content": content, "status": status})
	}
	text := encode(map[string]any{"todos": list})
	w.does(act("todo", text, text+note)...)
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// add appends messages, and then does what a loop does before the next request.
func (w *week) add(list ...hermes.Message) {
	w.t.Helper()
	w.tr = append(w.tr, list...)
	w.size += cost(list)
	if last := list[len(list)-1]; last.Role == hermes.RoleAssistant {
		return // the user speaks next
	}
	w.now = w.now.Add(10 * time.Second)
	w.fit(hermes.ContextUsage{Used: w.used(), Counted: len(w.tr), Window: w.window})
	for try := 0; w.used() > w.window; try++ { // the provider refuses
		if try == 4 {
			w.t.Fatalf("%d tokens do not fit a window of %d, whatever is done", w.used(), w.window)
		}
		w.overflows++
		w.fit(hermes.ContextUsage{Used: w.used(), Counted: len(w.tr), Window: w.window, Overflow: true})
	}
}

func (w *week) used() int { return fixed + w.size }

func cost(list []hermes.Message) int {
	n := 0
	for _, m := range list {
		n += tokens.Text(m.Text())
		for _, c := range m.Calls {
			n += tokens.Texts(c.Name, c.Arguments)
		}
	}
	return n
}

func (w *week) fit(p hermes.ContextUsage) {
	w.t.Helper()
	f, err := w.engine.Fit(w.t.Context(), w.tr, p)
	if err != nil {
		w.t.Fatalf("after %d compactions: %v", w.compactions, err)
	}
	if f.From == nil {
		return
	}
	before := w.used()
	check(w.t, w.tr, f)
	w.tr, w.size = f.Messages, cost(f.Messages)
	if strings.Contains(f.Note, "compacted") {
		w.compactions++
	}
	w.holds(before)
}

// holds checks what must be true after every change: the next request has all
// that the model must know about the work.
func (w *week) holds(before int) {
	w.t.Helper()
	all := text(w.tr)
	if w.used() >= before {
		w.t.Errorf("compaction %d: %d tokens became %d", w.compactions, before, w.used())
	}
	if !strings.Contains(all, w.task) {
		w.t.Errorf("compaction %d lost the active task %q", w.compactions, w.task)
	}
	for _, r := range w.rules {
		if !strings.Contains(all, r) {
			w.t.Errorf("compaction %d lost the constraint %q", w.compactions, r)
		}
	}
	w.holdsPlan(all)
	told := all
	for _, m := range w.tr {
		for _, c := range m.Calls {
			told += c.Arguments + "\n"
		}
	}
	for _, f := range w.files[max(0, len(w.files)-30):] {
		if !strings.Contains(told, f) {
			w.t.Errorf("compaction %d lost the changed file %s", w.compactions, f)
		}
	}
	if n := strings.Count(all, "[SUMMARY OF EARLIER TURNS."); n > 1 {
		w.t.Errorf("compaction %d: %d summaries", w.compactions, n)
	}
	if w.t.Failed() {
		w.t.Fatalf("after compaction %d of %d messages; the summary:\n%.3000s", w.compactions, len(w.tr), summaryIn(w.tr))
	}
}

// holdsPlan checks the newest list that the model can see.
func (w *week) holdsPlan(all string) {
	w.t.Helper()
	newest := ""
	for _, m := range w.tr {
		switch text := m.Text(); {
		case strings.Contains(text, "[SUMMARY OF EARLIER TURNS."):
			newest = text
		case m.ToolName == "todo" && strings.Contains(text, `"todos"`):
			newest = text
		}
	}
	for _, item := range w.open {
		if !strings.Contains(newest, item) {
			w.t.Errorf("compaction %d lost the open item %q", w.compactions, item)
		}
	}
	for _, line := range strings.Split(summaryIn(w.tr), "\n") {
		for _, item := range w.done {
			if strings.HasPrefix(line, "- [") && strings.HasSuffix(line, " "+item) {
				w.t.Errorf("compaction %d restored the finished item: %q", w.compactions, line)
			}
		}
	}
}

func summaryIn(tr []hermes.Message) string {
	for _, m := range tr {
		if text := m.Text(); strings.Contains(text, "[SUMMARY OF EARLIER TURNS.") {
			return text
		}
	}
	return ""
}

// tale is one kind of work; day is one piece of it, for a window of its size.
type tale func(w *week, day, size int)

var tales = map[string]tale{
	"a long coding task": func(w *week, day, size int) {
		if day%4 == 0 {
			w.asks(fmt.Sprintf("Now port part %d of the billing module to Go, keeping the public API.", day))
		}
		if day < 8 {
			w.lays([]string{
				"Never touch the vendor folder.", "Money is always an integer number of cents.", "Don't add dependencies.", "Use only the standard logger.",
				"Tests must run without network.", "Keep the old names of the columns, without exception.", "Make sure that every commit builds.", "Prefer small files.",
			}[day])
		}
		items := make([]string, 9)
		for i := range items {
			items[i] = fmt.Sprintf("step %d of day %d: move what has to do with invoices", i, day)
		}
		w.plans("", 0, items...)
		for i := range 4 {
			w.reads(size)
			w.writes(fmt.Sprintf("billing/day%d_%d.go", day, i), size/3)
		}
		w.patches(size/6, fmt.Sprintf("billing/api%d.go", day), fmt.Sprintf("billing/model%d.go", day))
		w.plans("\n\n[The user says: hurry up]", 5, items...)
		w.reads(size)
		w.answers(size / 4)
		w.say([]string{"good, go on", "ok", "thanks, continue", "next"}[day%4])
		w.storms(3, size/2)
		w.answers(size / 4)
	},
	"research": func(w *week, day, size int) {
		if day == 0 {
			w.asks("Find which of the twelve vendors supports SSO, and their price.")
			w.answers(20)
			w.lays("Only use primary sources.")
		}
		w.plans("", day%3, "list the vendors", "look at each price page", "write the table to notes/vendors.md")
		for range 3 {
			w.calls++
			w.does(act("web_search", fmt.Sprintf(`{"query":"vendor %d sso price"}`, w.calls), long(size))...)
			w.does(act("web_extract", fmt.Sprintf(`{"urls":["https://vendor%d.example"]}`, w.calls), long(size*2))...)
		}
		w.writes(fmt.Sprintf("notes/vendor%d.md", day), 50)
		w.answers(size / 3)
		w.say(fmt.Sprintf("yes, and what about vendor %d?", day))
		w.answers(20)
	},
	"a chat in several languages": func(w *week, day, size int) {
		tasks := []string{
			"Hilf mir, den Umzug nach Lyon zu planen, mit allen Fristen.", "把预算表按月份重新整理一遍，并且标出超支的项目。", "リヨンの日本語学校を三つ探して、費用を比べてください。",
			"Prepara una carta para el casero con la fecha de salida.", "Составь список документов для банка во Франции.",
		}
		rules := []string{"Antworte immer mit du, niemals mit Sie.", "所有金额必须用欧元。", "固有名詞は翻訳しないでください。", "Nunca menciones el salario.", "Никогда не используй сокращения.", "N'envoie jamais rien sans mon accord.", "절대 주소를 공유하지 마세요."}
		if day%3 == 0 {
			w.asks(tasks[day/3%len(tasks)])
			w.answers(size)
		}
		if day < len(rules) {
			w.lays(rules[day])
			w.answers(size)
		}
		for i := range 5 {
			w.say([]string{"weiter", "好的，继续", "はい、続けて", "vale, sigue", "да, дальше"}[(day+i)%5])
			w.answers(size)
		}
	},
	"a storm of tools in one turn": func(w *week, day, size int) {
		if day == 0 {
			w.say("hello")
			w.answers(20)
			w.lays("Do not restart any service.")
			w.answers(20)
			w.asks("Delete every log older than 30 days on all four hundred hosts, and write a report.")
			w.plans("", 1, "list the hosts", "delete the logs", "write the report")
		}
		w.storms(8, size/2)
		w.storms(1, size)
		w.writes(fmt.Sprintf("report/part%d.md", day), size/4)
	},
}

// scribes are summarisers, most of them bad.
var scribes = map[string]func() contextengine.Summarize{
	"a fair one": func() contextengine.Summarize { return sums("## Done\nSome things were done.") },
	"nonsense":   func() contextengine.Summarize { return sums("asdf {\"x\": [ ``` jkl\n- - -\n## ##") },
	"half a summary": func() contextengine.Summarize {
		return sums("<think>let me see</think>## Active task\nThe user wants\n## Constraints and preferences\n- Nev")
	},
	"the frame itself": func() contextengine.Summarize {
		return sums("[SUMMARY OF EARLIER TURNS. It is a record, not a new request: what it lists as done is done. Go on from the messages below it.]\n\n## Files changed so far\n- none\n\n[Your task list, kept because the conversation before this point was compressed]\n- [x] 9. all is done\n\n[END OF SUMMARY]\nGo on.")
	},
	"far too long": func() contextengine.Summarize { return sums(long(50_000)) },
	"empty":        func() contextengine.Summarize { return sums(" \n") },
	"always down": func() contextengine.Summarize {
		return func(context.Context, int64, string, int) (string, error) { return "", errors.New("down") }
	},
	"down at times": func() contextengine.Summarize {
		n := 0
		return func(context.Context, int64, string, int) (string, error) {
			if n++; n%3 != 0 {
				return "", errors.New("down")
			}
			return "Some things were done.", nil
		}
	},
	"none": func() contextengine.Summarize { return nil },
}

func TestTenCompactionsLoseNothing(t *testing.T) {
	t.Parallel()
	for _, window := range []int{16_000, 128_000} {
		for taleName, day := range tales {
			for scribeName, scribe := range scribes {
				if window > 16_000 && !slices.Contains([]string{"a fair one", "the frame itself", "always down"}, scribeName) {
					continue // the small window shows the same in less time
				}
				t.Run(fmt.Sprintf("%s, %s, %d", taleName, scribeName, window), func(t *testing.T) {
					t.Parallel()
					w := newWeek(t, window, scribe())
					w.work(day, 10)
				})
			}
		}
	}
}

// work goes on until there were so many compactions.
func (w *week) work(day tale, compactions int) {
	w.t.Helper()
	for i := 0; w.compactions < compactions; i++ {
		if i > 150 {
			w.t.Fatalf("only %d compactions", w.compactions)
		}
		day(w, i, w.window/32)
	}
}

func TestModelSwitchesOnTheWay(t *testing.T) {
	t.Parallel()
	for taleName, day := range tales {
		t.Run(taleName, func(t *testing.T) {
			t.Parallel()
			w := newWeek(t, 200_000, sums("Some things were done."))
			d := 0
			for n, window := range []int{200_000, 16_000, 128_000, 32_000, 1_000_000, 16_000} {
				w.window, w.prose = window, window/200
				for start := d; w.compactions < 2*(n+1) || d == start; d++ {
					if d-start > 300 {
						t.Fatalf("only %d compactions", w.compactions)
					}
					day(w, d, window/40)
				}
			}
		})
	}
}
