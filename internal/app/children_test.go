package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/protocol"
	"hermes/internal/protocol/local"
	"hermes/internal/recallblock"
	"hermes/internal/session"
)

// crew is a toolset that runs children at once and says how they ended. Its tool "hold" lets a
// child wait until another was refused.
type crew struct {
	refused chan struct{}
	once    sync.Once
}

func (*crew) Name() string                     { return "crew" }
func (*crew) Available(context.Context) string { return "" }
func (w *crew) Tools(context.Context) ([]hermes.Tool, error) {
	type work struct {
		Goals    []string         `json:"goals"`
		Toolsets []string         `json:"toolsets,omitempty"`
		Role     hermes.ChildRole `json:"role,omitempty"`
	}
	type number struct {
		N int `json:"n"`
	}
	return []hermes.Tool{hermes.NewTool(hermes.Spec{Name: "crew", Description: "Run children.", Trusted: true},
		func(ctx context.Context, c *hermes.Call, in work) (hermes.Result, error) {
			out := make([]string, len(in.Goals))
			var wg sync.WaitGroup
			for i, goal := range in.Goals {
				wg.Go(func() {
					r, err := c.Host.Spawn(ctx, hermes.Task{Goal: goal, Toolsets: in.Toolsets, Role: in.Role})
					if out[i] = fmt.Sprintf("%s, %s, %d steps", r.Status, r.Summary, r.Steps); err != nil {
						out[i] = err.Error()
						w.once.Do(func() { close(w.refused) })
					}
				})
			}
			wg.Wait()
			return hermes.Result{Text: strings.Join(out, "\n")}, nil
		}), hermes.NewTool(hermes.Spec{Name: "hold", Description: "Wait.", Trusted: true},
		func(ctx context.Context, _ *hermes.Call, _ number) (hermes.Result, error) {
			select {
			case <-w.refused:
			case <-ctx.Done():
			}
			return hermes.Result{Text: "held"}, nil
		})}, nil
}

// follow is a model that obeys "TOOL {…}; TOOL {…}", one call after another, and then says
// what the last one gave. In a child that is "TOOL {…} then TOOL {…}". It judges every call
// safe, and makes the calls "again" and "hold" for ever.
func follow(r *chatserver.Request) (chatserver.Answer, error) {
	if len(r.Tools) == 0 {
		return chatserver.Answer{Text: "APPROVE"}, nil
	}
	said, result, done := "", "", 0
	for _, m := range r.Messages {
		if m.Role == "user" && said == "" {
			said, _, _ = strings.Cut(strings.TrimSpace(recallblock.Strip(m.Text())), "\n")
		}
		if m.Role == "tool" {
			result, done = m.Text(), done+1
		}
	}
	orders := strings.Split(said, "; ")
	if len(orders) == 1 {
		orders = strings.Split(said, " then ")
	}
	if said == "again" || said == "hold" {
		orders = slices.Repeat([]string{fmt.Sprintf(`%s {"n":%d}`, said, done)}, done+1)
	}
	if done >= len(orders) || strings.Contains(r.Messages[len(r.Messages)-1].Text(), "step limit of this turn") {
		return chatserver.Answer{Text: strings.TrimSpace(result)}, nil
	}
	name, arguments, _ := strings.Cut(orders[done], " ")
	call := chatserver.Function{Name: name, Arguments: arguments}
	return chatserver.Answer{Calls: []chatserver.Call{{ID: fmt.Sprintf("c%d", len(r.Messages)), Type: "function", Function: call}}}, nil
}

func team(toolsets []string, goals ...string) string {
	work := map[string]any{"goals": goals, "toolsets": toolsets}
	if strings.HasPrefix(goals[0], "crew ") {
		work["role"] = hermes.RoleOrchestrator
	}
	raw, _ := json.Marshal(work)
	return "crew " + string(raw)
}

// office is a home whose model follows orders.
func office(t *testing.T, settings string) (*app.App, protocol.Client, string) {
	t.Helper()
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: follow})
	t.Cleanup(server.Close)
	home, dir := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), "model: {default: played, provider: custom, base_url: \""+server.URL+"/v1\"}\n"+
		"tool_loop_guardrails: {warnings_enabled: false, non_interactive_hard_stop_enabled: false}\n"+settings)
	a := app.New(app.Options{Home: home, Extra: []hermes.Toolset{&crew{refused: make(chan struct{})}, looping{}}, Getenv: func(string) string { return "" }})
	t.Cleanup(func() { _ = a.Close() })
	client := local.New(local.Config{Sessions: a.Sessions, Store: func(ctx context.Context) (hermes.Store, error) { return a.Database(ctx) }})
	return a, client, dir
}

// work runs one turn of a new session and answers what it and its children ask. asked lists the
// questions by whose they are.
func work(t *testing.T, c protocol.Client, from hermes.From, dir, text string, answer hermes.Decision) (done hermes.TurnDone, asked []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	from.Platform = "cli"
	info, err := c.Open(ctx, from, hermes.RunSpec{Workspace: hermes.Workspace{Dir: dir}})
	if err != nil {
		t.Fatal(err)
	}
	_, events, err := c.Attach(ctx, info.ID, from, protocol.After{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Do(ctx, info.ID, from, saying(text)); err != nil {
		t.Fatal(err)
	}
	for e := range events {
		switch d := e.Event.(type) {
		case hermes.Asked:
			who := "parent"
			if e.Parent == info.ID {
				who = "child"
			}
			asked = append(asked, who+": "+d.Approval.Subject)
			if err := c.Do(ctx, e.Session, from, hermes.Reply{ID: d.ID, Approval: hermes.ApprovalAnswer{Decision: answer}}); err != nil {
				t.Fatal(err)
			}
		case hermes.TurnDone:
			if e.Parent != "" {
				continue
			}
			if d.Failure != nil {
				t.Fatal(d.Err())
			}
			return d, asked
		}
	}
	t.Fatal("the session ended")
	return done, nil
}

// TestOnlyTheUserAllowsWhatAChildDoes: a model judges the calls of the conversation safe, but those
// of a child are the user's, at the frontend of its parent.
func TestOnlyTheUserAllowsWhatAChildDoes(t *testing.T) {
	t.Parallel()
	const remove = `terminal {"command":"rm -rf victim"}`
	user := hermes.From{Client: "c1", Name: "terminal 1", Attends: true}
	for name, tt := range map[string]struct {
		settings string
		from     hermes.From
		orders   string
		answer   hermes.Decision
		asked    []string
		gone     bool
	}{
		"the parent is judged":          {"", user, remove, hermes.Deny, nil, true},
		"a child is asked":              {"", user, team(nil, remove), hermes.AllowOnce, []string{"child: rm -rf victim"}, true},
		"and may be refused":            {"", user, team(nil, remove), hermes.Deny, []string{"child: rm -rf victim"}, false},
		"where no user is":              {"approvals: {unattended_mode: approve}\n", hermes.From{}, team(nil, remove), hermes.AllowOnce, nil, false},
		"with the approvals turned off": {"approvals: {mode: \"off\"}\n", hermes.From{}, team(nil, remove), hermes.Deny, nil, true},
		"what settings allow":           {"command_allowlist: [recursive-delete]\n", user, team(nil, remove), hermes.Deny, []string{"child: rm -rf victim"}, false},
		"a session's grant is for one child": {
			"approvals: {mode: manual}\n", user, team(nil, remove+" then "+remove) + "; " + team(nil, remove) + "; " + remove, hermes.AllowSession,
			[]string{"child: rm -rf victim", "child: rm -rf victim", "parent: rm -rf victim"}, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, client, dir := office(t, tt.settings)
			if err := os.Mkdir(filepath.Join(dir, "victim"), 0o700); err != nil {
				t.Fatal(err)
			}
			done, asked := work(t, client, tt.from, dir, tt.orders, tt.answer)
			if !slices.Equal(asked, tt.asked) {
				t.Errorf("asked %q, want %q; the turn ended with %s", asked, tt.asked, done.Text)
			}
			if _, err := os.Stat(filepath.Join(dir, "victim")); (err != nil) != tt.gone {
				t.Errorf("deleted is %t; the turn ended with %s", err != nil, done.Text)
			}
			db, err := a.Database(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			rows, err := db.ListSessions(t.Context(), hermes.SessionFilter{Platform: hermes.PlatformChild, Limit: -1})
			if err != nil {
				t.Fatal(err)
			}
			answered := 0
			for _, row := range rows {
				if q, err := db.FindQuestion(t.Context(), row.ID, "1.1"); err == nil && q.Answered && q.By.Client == user.Client {
					answered++
				}
			}
			if want := len(slices.DeleteFunc(slices.Clone(asked), func(s string) bool { return !strings.HasPrefix(s, "child") })); answered != want {
				t.Errorf("%d answers for children are stored, want %d", answered, want)
			}
		})
	}
}

// TestDelegationIsBounded shows the effect of the settings of the section delegation, and of the
// toolsets of a task.
func TestDelegationIsBounded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		settings, orders, want string
		steps                  int // of all children, with the one of each that says that there are no more
	}{
		"the defaults":         {"", team(nil, "again"), "budget", 51},
		"as many as there are": {"", team(nil, "again", "again", "again"), "budget", 89 + 3},
		"one too many":         {"delegation: {max_iterations: 1}\n", team(nil, "hold", "hold", "hold", "hold"), "this session runs 3 child sessions already", 3 * 2},
		"at once":              {"delegation: {max_concurrent_children: 1, max_iterations: 3}\n", team(nil, "hold", "hold"), "this session runs 1 child sessions already", 4},
		"steps":                {"delegation: {max_iterations: 3}\n", team(nil, "again"), "budget", 4},
		"more than there are":  {"agent: {max_turns: 5}\n", team(nil, "again", "again"), "budget", 4 + 2},
		"no own limit":         {"delegation: {max_iterations: none}\nagent: {max_turns: 70}\n", team(nil, "again"), "budget", 69 + 1},
		"depth":                {"", team(nil, team(nil, "again")), "delegation.max_spawn_depth allows a depth of 1, so this child could not start others; use the role leaf", 0},
		"deeper":               {"delegation: {max_spawn_depth: 2}\n", team(nil, team(nil, team(nil, "again"))), "delegation.max_spawn_depth allows a depth of 2", 2},
		"unknown toolset":      {"agent: {disabled_toolsets: [browser]}\n", team([]string{"attic", "file"}, "again"), "there is no toolset attic; use any of these: checkpoint, code_execution, crew, file, ", 0},
		"a toolset that the parent does not have": {
			"agent: {disabled_toolsets: [browser, file]}\n", team([]string{"file"}, "again"), "this session has no tool of file; use any of these: checkpoint, code_execution, crew, learning, ", 0,
		},
		"a toolset": {"", team([]string{"todo"}, `read_file {"path":"x"}`), "The tools are: todo", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, client, dir := office(t, tt.settings)
			done, _ := work(t, client, hermes.From{}, dir, tt.orders, hermes.Deny)
			steps := 0
			for _, m := range regexp.MustCompile(`(\d+) steps`).FindAllStringSubmatch(done.Text, -1) {
				n, _ := strconv.Atoi(m[1])
				steps += n
			}
			if !strings.Contains(done.Text, tt.want) || steps != tt.steps || strings.Contains(done.Text, "hold was not run") {
				t.Errorf("%d steps, want %d; the turn ended with %q", steps, tt.steps, done.Text)
			}
		})
	}
}

// TestApprovalsEscalateAfter does not begin to answer: after approvals.escalate_after the question
// is marked in the store.
func TestApprovalsEscalateAfter(t *testing.T) {
	t.Parallel()
	escalated := false
	got := asksToDelete(t, "approvals: {mode: manual, escalate_after: 1, timeout: 3}\n", nil, "", func(ctx context.Context, s *session.Session, id string) error {
		_, events, err := s.Attach(ctx, hermes.From{Client: "other"}, protocol.After{})
		if err != nil {
			return err
		}
		for e := range events {
			switch e.Event.(type) {
			case hermes.Escalated:
				escalated = true
				return s.Do(ctx, hermes.From{}, hermes.Reply{ID: id, Approval: hermes.ApprovalAnswer{Decision: hermes.Deny}})
			case hermes.AnswerTaken:
				return nil
			}
		}
		return nil
	})
	if !escalated || got.Outcome != hermes.OutcomeDone {
		t.Errorf("escalated is %t; the turn ended with %+v", escalated, got)
	}
}
