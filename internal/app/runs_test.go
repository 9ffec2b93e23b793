package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// wanted is what a session must look like to its model and to its user.
type wanted struct {
	Model       string
	Temperature float64
	MaxTokens   int
	Effort      string
	Tools       string
	Prompt      []string // of the marks that prompts can have
	Hint        bool     // the instructions beside a file that was read
	Deleted     bool     // rm -rf was done
	Asked       bool     // the user was asked for it
	Steps       int      // of a turn that never ends by itself, with the one that says so
}

// marks can be in a prompt: each is there for some sessions only.
var marks = []string{"EXTRA-TERMINAL", "EXTRA-TELEGRAM", "SKILL-TEXT", "PROJECT-RULES", "NAME-ADA", "NAME-BOB", "SESSION-ID"}

// observed collects what the model of each session is sent.
type observed struct {
	mu      sync.Mutex
	first   *sync.WaitGroup // the first requests wait for each other
	started map[string]bool
	seen    map[string]wanted
	ids     map[string]string
}

// decide obeys the newest message, which is a name and an order, such as "telegram: delete".
func (o *observed) decide(r *chatserver.Request) (chatserver.Answer, error) {
	name, last := "", r.Messages[len(r.Messages)-1]
	for _, m := range r.Messages {
		if m.Role == "user" {
			name, _, _ = strings.Cut(m.Text(), ": ")
			break
		}
	}
	switch name {
	case "terminal", "telegram", "discord", "cron", "child":
		o.see(name, r)
	case "Tool": // smart approvals ask whether a call is safe
		o.see("judge", r)
		return chatserver.Answer{Text: "I do not know"}, nil
	default: // titles and the like
		return chatserver.Answer{Text: "a side task"}, nil
	}
	call := func(tool, arguments string) (chatserver.Answer, error) {
		return chatserver.Answer{Calls: []chatserver.Call{{ID: fmt.Sprintf("c%d", len(r.Messages)), Type: "function", Function: chatserver.Function{Name: tool, Arguments: arguments}}}}, nil
	}
	order := ""
	for _, m := range r.Messages {
		if m.Role == "user" {
			_, order, _ = strings.Cut(m.Text(), ": ")
		}
	}
	order, _, _ = strings.Cut(strings.TrimSpace(order), "\n")
	switch {
	case order == "loop":
		return call("again", fmt.Sprintf(`{"n":%d}`, len(r.Messages)))
	case last.Role != "user":
		return chatserver.Answer{Text: "done"}, nil
	case order == "delete":
		return call("terminal", `{"command":"rm -rf victim-`+name+`"}`)
	case order == "read":
		return call("read_file", `{"path":"sub/x.txt"}`)
	case order == "hand":
		return call("narrow", `{}`)
	}
	return chatserver.Answer{Text: "hello"}, nil
}

func (o *observed) see(name string, r *chatserver.Request) {
	var body struct {
		Temperature float64 `json:"temperature"`
		MaxTokens   int     `json:"max_tokens"`
		Completion  int     `json:"max_completion_tokens"`
		Effort      string  `json:"reasoning_effort"`
	}
	_ = json.Unmarshal(r.Body, &body) // it was read once
	o.mu.Lock()
	w := o.seen[name]
	w.Model, w.Temperature, w.MaxTokens, w.Effort = r.Model, body.Temperature, max(body.MaxTokens, body.Completion), body.Effort
	var tools []string
	for _, t := range r.Tools {
		tools = append(tools, t.Function.Name)
	}
	slices.Sort(tools)
	w.Tools, w.Prompt = strings.Join(tools, " "), nil
	system := r.Messages[0].Text()
	if id := o.ids[name]; id != "" {
		system = strings.ReplaceAll(system, id, "SESSION-ID")
	}
	for _, m := range marks {
		if strings.Contains(system, m) {
			w.Prompt = append(w.Prompt, m)
		}
	}
	w.Hint = w.Hint || strings.Contains(string(r.Body), "HINT-BELOW")
	o.seen[name] = w
	wait := !o.started[name] && name != "child" && name != "judge"
	o.started[name] = true
	o.mu.Unlock()
	if wait { // no session answers before all have asked
		o.first.Done()
		o.first.Wait()
	}
}

func (o *observed) note(name string, change func(*wanted)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.seen[name]
	change(&w)
	o.seen[name] = w
}

// narrowing is a toolset that hands an order to a child and asks for more tools than there are.
type narrowing struct{}

func (narrowing) Name() string                     { return "narrowing" }
func (narrowing) Available(context.Context) string { return "" }
func (narrowing) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{hermes.NewTool(hermes.Spec{Name: "narrow", Description: "Run a child.", Trusted: true},
		func(ctx context.Context, c *hermes.Call, _ struct{}) (hermes.Result, error) {
			r, err := c.Host.Spawn(ctx, hermes.Task{Goal: "child: delete", Toolsets: []string{"terminal", "todo", "looping"}, MaxSteps: 50})
			return hermes.Result{Text: r.Summary}, err
		})}, nil
}

// TestRunsShareNothing has a chat with yolo, two chats of messengers, a scheduled run and a
// child in one process at once. Each keeps its own rights, tools, model, budget and prompt, also
// after a resume, in this process and in another.
func TestRunsShareNothing(t *testing.T) {
	t.Parallel()
	o := &observed{}
	server := httptest.NewServer(&chatserver.Handler{Model: "default", Decide: o.decide})
	defer server.Close()
	home, dir := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), `
model: {default: default, provider: custom, base_url: "`+server.URL+`/v1"}
tool_loop_guardrails: {warnings_enabled: false, hard_stop_enabled: false, non_interactive_hard_stop_enabled: false}
agent: {disabled_toolsets: [session_search]}
`)
	for path, text := range map[string]string{
		filepath.Join(home, "memories", "USER.md"):              "NAME-ADA\n",
		filepath.Join(home, "skills", "demo-skill", "SKILL.md"): "---\nname: demo-skill\ndescription: d\n---\nSKILL-TEXT\n",
		filepath.Join(dir, "AGENTS.md"):                         "PROJECT-RULES\n",
		filepath.Join(dir, "sub", "AGENTS.md"):                  "HINT-BELOW\n",
		filepath.Join(dir, "sub", "x.txt"):                      "x\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, text)
	}
	half := 0.5
	work := hermes.Workspace{Dir: dir}
	opens := map[string]session.Open{
		"terminal": {From: hermes.From{Attends: true}, Run: hermes.RunSpec{
			Origin: hermes.Origin{Platform: "cli"}, Workspace: work, Model: hermes.ModelChoice{Ref: "custom:one"},
			Tools: hermes.ToolChoice{Enabled: []string{"terminal", "file", "looping"}}, Rights: hermes.Rights{Mode: hermes.ModeYolo},
			Prompt: hermes.PromptChoice{Extra: "EXTRA-TERMINAL", PassSessionID: true}, Budget: hermes.RunBudget{Steps: 3},
		}},
		"telegram": {From: hermes.From{Attends: true}, Run: hermes.RunSpec{
			Origin: hermes.Origin{Platform: "telegram", User: "7"}, Workspace: work,
			Model:  hermes.ModelChoice{Ref: "custom:two", Effort: hermes.EffortLow, Temperature: &half, MaxTokens: 777},
			Tools:  hermes.ToolChoice{Enabled: []string{"terminal", "file", "memory", "looping", "narrowing"}, Disabled: []string{"process"}},
			Rights: hermes.Rights{Risks: []string{"recursive-delete"}},
			Prompt: hermes.PromptChoice{Extra: "EXTRA-TELEGRAM", Skills: []string{"demo-skill"}, MemoryScope: "user"},
			Budget: hermes.RunBudget{Steps: 5},
		}},
		"discord": {From: hermes.From{Attends: true}, Run: hermes.RunSpec{
			Origin: hermes.Origin{Platform: "discord", User: "7"}, Workspace: work, Model: hermes.ModelChoice{Ref: "custom:three"},
			Tools: hermes.ToolChoice{Enabled: []string{"terminal", "read_file", "looping"}}, Budget: hermes.RunBudget{Steps: 4},
		}},
		"cron": {Run: hermes.RunSpec{
			Origin: hermes.Origin{Platform: "cron"}, Workspace: work, Model: hermes.ModelChoice{Ref: "custom:four"},
			Tools:  hermes.ToolChoice{Enabled: []string{"terminal", "file", "todo", "looping"}},
			Rights: hermes.Rights{WhenUnattended: hermes.UnattendedApprove}, Prompt: hermes.PromptChoice{IgnoreRules: true}, Budget: hermes.RunBudget{Steps: 2},
		}},
	}
	want := map[string]wanted{
		"terminal": {
			Model: "one", Tools: "again fan patch process read_file search_files terminal write_file",
			Prompt: []string{"EXTRA-TERMINAL", "PROJECT-RULES", "NAME-ADA", "SESSION-ID"}, Hint: true, Deleted: true, Steps: 4,
		},
		"telegram": {
			Model: "two", Temperature: 0.5, MaxTokens: 777, Effort: "low", Tools: "again fan memory narrow patch read_file search_files terminal write_file",
			Prompt: []string{"EXTRA-TELEGRAM", "SKILL-TEXT", "PROJECT-RULES"}, Hint: true, Deleted: true, Steps: 6,
		},
		"discord": {Model: "three", Tools: "again fan process read_file terminal", Prompt: []string{"PROJECT-RULES", "NAME-ADA"}, Hint: true, Asked: true, Steps: 5},
		"cron":    {Model: "four", Tools: "again fan patch process read_file search_files terminal todo write_file", Deleted: true, Steps: 3},
		"child": {
			Model: "two", Temperature: 0.5, MaxTokens: 777, Effort: "low", Tools: "again fan terminal", Prompt: []string{"EXTRA-TELEGRAM", "PROJECT-RULES"}, Asked: true,
		},
		"judge": {Model: "three", MaxTokens: 2000}, // of the chat that asks
	}
	newApp := func() *app.App {
		return app.New(app.Options{Home: home, Extra: []hermes.Toolset{looping{}, narrowing{}}, Getenv: func(string) string { return "" }})
	}
	round := func(name string, a *app.App) {
		t.Helper()
		o.mu.Lock()
		o.seen, o.started, o.ids, o.first = map[string]wanted{}, map[string]bool{}, map[string]string{}, &sync.WaitGroup{}
		o.first.Add(len(opens))
		o.mu.Unlock()
		live := map[string]*session.Session{}
		for who, open := range opens {
			live[who] = mustOpen(t, a, open)
			answerChildren(t, a, live[who], hermes.Deny, func(hermes.Asked) { o.note("child", func(w *wanted) { w.Asked = true }) })
			o.mu.Lock()
			o.ids[who] = live[who].ID()
			o.mu.Unlock()
			if err := os.MkdirAll(filepath.Join(dir, "victim-"+who), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(filepath.Join(dir, "victim-child"), 0o700); err != nil {
			t.Fatal(err)
		}
		var turns sync.WaitGroup
		for who, s := range live {
			turns.Go(func() {
				orders := []string{"hello", "read", "delete", "loop"}
				if who == "telegram" {
					orders = append(orders, "hand")
				}
				for _, order := range orders {
					done := o.order(t, s, who, order)
					if order == "loop" {
						o.note(who, func(w *wanted) { w.Steps = done.Steps })
					}
				}
			})
		}
		turns.Wait()
		for _, who := range []string{"terminal", "telegram", "discord", "cron", "child"} {
			_, gone := os.Stat(filepath.Join(dir, "victim-"+who))
			o.note(who, func(w *wanted) { w.Deleted = gone != nil })
		}
		if diff := cmp.Diff(want, o.seen); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
		for who, s := range live {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			open := opens[who]
			open.Run.Session = s.ID()
			opens[who] = open
		}
	}
	a := newApp()
	round("new", a)
	// The next rounds say nothing of what is stored, or say it wrongly where that is ignored.
	for who, open := range opens {
		open.Run.Origin, open.Run.Workspace = hermes.Origin{Platform: "oneshot"}, hermes.Workspace{Dir: t.TempDir()}
		open.Run.Tools, open.Run.Prompt = hermes.ToolChoice{}, hermes.PromptChoice{}
		opens[who] = open
	}
	round("resumed", a)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	// Model, rights and budget may differ: they change places.
	terminal, discord := opens["terminal"], opens["discord"]
	terminal.Run.Model, discord.Run.Model = discord.Run.Model, terminal.Run.Model
	terminal.Run.Rights, discord.Run.Rights = discord.Run.Rights, terminal.Run.Rights
	terminal.Run.Budget, discord.Run.Budget = discord.Run.Budget, terminal.Run.Budget
	opens["terminal"], opens["discord"] = terminal, discord
	one, three := want["terminal"], want["discord"]
	one.Model, three.Model = three.Model, one.Model
	one.Steps, three.Steps = three.Steps, one.Steps
	one.Deleted, three.Deleted, one.Asked, three.Asked = three.Deleted, one.Deleted, three.Asked, one.Asked
	want["terminal"], want["discord"] = one, three
	second := newApp()
	defer second.Close()
	round("in another process", second)
}

// order has a session follow one order and refuses what it asks.
func (o *observed) order(t *testing.T, s *session.Session, who, order string) (done hermes.TurnDone) {
	events, cancel := subscribe(s, 0)
	defer cancel()
	if err := s.Do(t.Context(), hermes.From{}, hermes.Say{Parts: []hermes.Part{{Text: who + ": " + order}}}); err != nil {
		t.Error(err)
		return done
	}
	for e := range events {
		switch e := e.(type) {
		case hermes.Asked:
			o.note(who, func(w *wanted) { w.Asked = true })
			if err := s.Do(t.Context(), hermes.From{}, hermes.Reply{ID: e.ID, Approval: hermes.ApprovalAnswer{Decision: hermes.Deny}}); err != nil {
				t.Error(err)
			}
		case hermes.TurnDone:
			if e.Failure != nil {
				t.Errorf("%s %s: %v", who, order, e.Err())
			}
			return e
		}
	}
	t.Errorf("%s: the session ended", who)
	return done
}

// TestARunKeepsToItsBudget: a session, its children and its side tasks never cost more than the
// run may, also after a resume with another budget.
func TestARunKeepsToItsBudget(t *testing.T) {
	t.Parallel()
	model := &endless{}
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: model.decide})
	defer server.Close()
	home := capped(t, server.URL, "")
	config, err := os.ReadFile(filepath.Join(home, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(home, "config.yaml"), strings.Replace(string(config), "compression: {enabled: false}\n", "", 1))
	const budget = 300_000 // tokens at a dollar for a million
	open := func(a *app.App, id string, most int64) *session.Session {
		t.Helper()
		return mustOpen(t, a, session.Open{Run: hermes.RunSpec{
			Session: id, Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: t.TempDir()},
			Tools: hermes.ToolChoice{Enabled: []string{"looping"}}, Budget: hermes.RunBudget{Money: hermes.USD(float64(most) / 1e6)},
		}, From: hermes.From{Attends: true}})
	}
	run := func(s *session.Session, op hermes.Op) hermes.TurnDone {
		t.Helper()
		events, cancel := subscribe(s, 0)
		defer cancel()
		if err := s.Do(t.Context(), hermes.From{}, op); err != nil {
			t.Fatal(err)
		}
		for e := range events {
			if done, ok := e.(hermes.TurnDone); ok {
				return done
			}
		}
		t.Fatal("the session ended")
		return hermes.TurnDone{}
	}
	a := openHome(t, home)
	s := open(a, "", budget)
	mustStop(t, run(s, saying("fan out")), "the budget of this session is reached")
	near(t, model, budget)
	asked, _, _ := model.count()
	run(s, hermes.Compress{}) // a side task
	mustStop(t, run(s, saying("go on")), "the budget of this session is reached")
	if now, _, _ := model.count(); now != asked {
		t.Errorf("the model was called %d times after the budget was used up", now-asked)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	a = openHome(t, home)
	defer a.Close()
	s = open(a, s.ID(), budget)
	run(s, hermes.Compress{}) // before anything else is asked
	if now, _, _ := model.count(); now != asked {
		t.Errorf("a side task after the resume called the model %d times", now-asked)
	}
	s.Close()
	s = open(a, s.ID(), 2*budget)
	mustStop(t, run(s, saying("fan out")), "the budget of this session is reached")
	near(t, model, 2*budget)
	s.Close()
	other := open(a, "", budget) // it has a budget of its own
	mustStop(t, run(other, saying("go on")), "the budget of this session is reached")
	near(t, model, 3*budget)
}

func saying(text string) hermes.Say { return hermes.Say{Parts: []hermes.Part{{Text: text}}} }

// TestARunThatIsNotPossibleIsRefused: a run never gets something else than it asks for.
func TestARunThatIsNotPossibleIsRefused(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: func(*chatserver.Request) (chatserver.Answer, error) {
		t.Error("the model was asked")
		return chatserver.Answer{Text: "no"}, nil
	}})
	defer server.Close()
	a := openHome(t, capped(t, server.URL, ""))
	defer a.Close()
	for _, tt := range []struct {
		run  hermes.RunSpec
		want string
	}{
		{hermes.RunSpec{Workspace: hermes.Workspace{Profile: "work"}}, "the session is of the profile work; open it with `hermes --profile work`"},
		{hermes.RunSpec{Prompt: hermes.PromptChoice{MemoryScope: "mine"}}, `unknown memory scope "mine"; use user or shared`},
	} {
		tt.run.Origin.Platform, tt.run.Workspace.Dir = "telegram", t.TempDir()
		s := mustOpen(t, a, session.Open{Run: tt.run})
		events, cancel := subscribe(s, 0)
		defer cancel()
		err := s.Do(t.Context(), hermes.From{}, saying("hello"))
		for err == nil {
			e, ok := <-events
			if done, is := e.(hermes.TurnDone); is || !ok {
				err = done.Err()
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.run, err)
		}
	}
}
