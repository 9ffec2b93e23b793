package app_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/confine"
	"hermes/internal/session"
)

// endless is a model server whose model never finishes: it calls a tool in every
// answer. It keeps its own count of what it would charge.
type endless struct {
	mu       sync.Mutex
	requests int
	tokens   int64
	largest  int64         // tokens of one call
	going    chan struct{} // closed after some calls
}

func (e *endless) decide(r *chatserver.Request) (chatserver.Answer, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	name, args := "again", fmt.Sprintf(`{"n":%d}`, e.requests)
	if last := r.Messages[len(r.Messages)-1]; last.Role == "user" && strings.Contains(last.Text(), "fan out") {
		name, args = "fan", `{}`
	}
	quarter := func(n int) int64 { return int64(n+3) / 4 }
	cost := quarter(len(r.Body)) + quarter(len(name)+len(args))
	e.requests++
	if e.requests == 10 && e.going != nil {
		close(e.going)
	}
	e.tokens += cost
	e.largest = max(e.largest, cost)
	return chatserver.Answer{Calls: []chatserver.Call{{ID: fmt.Sprintf("c%d", e.requests), Type: "function", Function: chatserver.Function{Name: name, Arguments: args}}}}, nil
}

func (e *endless) count() (requests int, tokens, largest int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.requests, e.tokens, e.largest
}

// looping are the tools of the endless model: again does nothing, fan runs
// children side by side.
type looping struct{}

func (looping) Name() string                     { return "looping" }
func (looping) Available(context.Context) string { return "" }
func (looping) Tools(context.Context) ([]hermes.Tool, error) {
	type number struct {
		N int `json:"n"`
	}
	return []hermes.Tool{
		hermes.NewTool(hermes.Spec{Name: "again", Description: "Go on.", Mode: hermes.ModeParallel, Effect: hermes.EffectNone, Trusted: true},
			func(_ context.Context, _ *hermes.Call, n number) (hermes.Result, error) {
				return hermes.Result{Text: fmt.Sprintf("step %d is done", n.N)}, nil
			}),
		hermes.NewTool(hermes.Spec{Name: "fan", Description: "Run children.", Effect: hermes.EffectNone, Trusted: true},
			func(ctx context.Context, c *hermes.Call, _ struct{}) (hermes.Result, error) {
				var wg sync.WaitGroup
				for i := range 8 {
					wg.Go(func() {
						_, _ = c.Host.Spawn(ctx, hermes.Task{Goal: fmt.Sprintf("child %d, go on for ever", i)}) // each ends at the cap
					})
				}
				wg.Wait()
				return hermes.Result{Text: "the children have ended"}, nil
			}),
	}, nil
}

// capped makes a home whose model is the endless one, with these caps.
func capped(t *testing.T, url, caps string) string {
	t.Helper()
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), `
model: {default: played, provider: custom, base_url: "`+url+`/v1"}
agent: {max_turns: none}
tool_loop_guardrails: {warnings_enabled: false, hard_stop_enabled: false, non_interactive_hard_stop_enabled: false}
compression: {enabled: false}
delegation: {max_concurrent_children: 8, max_iterations: none}
spend:
  prices: {played: {input: 1, output: 1, cache_read: 1, cache_write: 1}}
`+caps)
	return home
}

func openHome(t *testing.T, home string) *app.App {
	t.Helper()
	return app.New(app.Options{Home: home, Extra: []hermes.Toolset{looping{}}, Getenv: func(string) string { return "" }, Now: noon})
}

// noon is the time of all tests, so that no midnight starts another day's cap.
func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.Local) }

// say runs one turn and returns how it ended.
func say(t *testing.T, a *app.App, resume, text string) (id string, done hermes.TurnDone) {
	t.Helper()
	s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Session: resume, Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: t.TempDir()}}, From: hermes.From{Attends: true}})
	events, cancel := subscribe(s, 0)
	defer cancel()
	if err := s.Do(t.Context(), hermes.From{}, hermes.Say{Parts: []hermes.Part{{Text: text}}}); err != nil {
		t.Fatal(err)
	}
	for e := range events {
		if done, ok := e.(hermes.TurnDone); ok {
			return s.ID(), done
		}
	}
	t.Fatal("the session ended")
	return "", hermes.TurnDone{}
}

// mustStop checks that a cap ended the turn and that the text says so.
func mustStop(t *testing.T, done hermes.TurnDone, words string) {
	t.Helper()
	text := done.Text
	if done.Failure != nil {
		text += done.Err().Error()
		if hermes.ClassOf(done.Err()) != hermes.ClassBudget {
			t.Fatalf("the turn ended with %v", done.Err())
		}
	}
	if done.Outcome == hermes.OutcomeDone || !strings.Contains(text, words) {
		t.Fatalf("the turn ended as %s: %q", done.Outcome, text)
	}
}

// near checks that the spending is within one call of the cap.
func near(t *testing.T, server *endless, limit int64) {
	t.Helper()
	_, spent, one := server.count()
	if spent > limit+one || spent < limit-one-one/10 {
		t.Errorf("%d tokens were spent of %d; one call takes up to %d", spent, limit, one)
	}
}

// TestAnEndlessModelIsStopped tests the governor: a model that loops forever stops at
// its cap, plus or minus one call, with eight concurrent children and across
// restarts, and the ledger equals the server's own count.
func TestAnEndlessModelIsStopped(t *testing.T) {
	t.Parallel()
	const limit = 400_000
	model := &endless{}
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: model.decide})
	defer server.Close()
	home := capped(t, server.URL, fmt.Sprintf("  tree: {tokens: %d}\n", limit))

	a := openHome(t, home)
	id, done := say(t, a, "", "fan out")
	mustStop(t, done, "sub-agents")
	near(t, model, limit)
	requests, tokens, _ := model.count()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}

	for range 3 { // a new process each time
		a = openHome(t, home)
		_, done = say(t, a, id, "go on")
		mustStop(t, done, "/budget raise tree")
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if again, _, _ := model.count(); again != requests {
		t.Errorf("%d calls were made past the cap", again-requests)
	}

	a = openHome(t, home)
	defer a.Close()
	g, err := a.Spend()
	if err != nil {
		t.Fatal(err)
	}
	all, err := g.Spent(t.Context(), hermes.SpendQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if all[0].Usage.Total() != tokens || all[0].Usage.Calls != int64(requests) || all[0].Calls != int64(requests) || all[0].Money != hermes.Money(tokens) || all[0].Reserved.Tokens != 0 {
		t.Errorf("the ledger says %+v, the server %d calls of %d tokens", all[0], requests, tokens)
	}
	if err := g.Raise(t.Context(), id, "", hermes.AccountTree, hermes.Amount{Tokens: 50_000}); err != nil {
		t.Fatal(err)
	}
	_, done = say(t, a, id, "go on")
	mustStop(t, done, "sub-agents")
	near(t, model, limit+50_000)
}

// TestACapInMoneyStopsAnEndlessTurn: each turn has its own cap, until the cap of the
// day is reached.
func TestACapInMoneyStopsAnEndlessTurn(t *testing.T) {
	t.Parallel()
	model := &endless{}
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: model.decide})
	defer server.Close()
	a := openHome(t, capped(t, server.URL, "  turn: {usd: 0.03}\n  day: {usd: 0.05}\n"))
	defer a.Close()
	id, done := say(t, a, "", "go on for ever")
	mustStop(t, done, "this turn")
	near(t, model, 30_000)
	_, done = say(t, a, id, "go on")
	mustStop(t, done, "today")
	near(t, model, 50_000)
	_, done = say(t, a, "", "another session")
	mustStop(t, done, "today")
}

// spendChild makes the test binary run as another process: its value is a home.
const spendChild = "HERMES_TEST_SPEND_CHILD"

// TestMain runs the tests, or one endless turn as a child process.
func TestMain(m *testing.M) {
	confine.Main(os.Getenv("HTTPS_PROXY")) // the tests are the program that becomes a keeper
	if len(os.Args) > 3 && os.Args[1] == "plugins" && os.Args[2] == "run" {
		os.Exit(runBundled(os.Args[3], os.Args[4:]))
	}
	if kind := os.Getenv(serverVariable); kind != "" {
		os.Exit(serveTools(kind))
	}
	if home := os.Getenv(serversChild); home != "" {
		os.Exit(runServers(home))
	}
	home := os.Getenv(spendChild)
	if home == "" {
		os.Exit(m.Run())
	}
	a := app.New(app.Options{Home: home, Extra: []hermes.Toolset{looping{}}, Getenv: func(string) string { return "" }, Now: noon})
	manager, err := a.Sessions(context.Background())
	if err == nil {
		var s *session.Session
		if s, err = manager.Open(context.Background(), session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: os.TempDir()}}}); err == nil {
			fmt.Println("begun")
			events, _ := subscribe(s, 0)
			err = s.Do(context.Background(), hermes.From{}, hermes.Say{Parts: []hermes.Part{{Text: "go on for ever"}}})
			for e := range events {
				if _, done := e.(hermes.TurnDone); done || err != nil {
					break
				}
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := a.Close(); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// TestProcessesShareACap: this process and three others that loop forever share one
// cap; one of them is killed, and what it had reserved counts until it is released.
func TestProcessesShareACap(t *testing.T) {
	t.Parallel()
	const limit = 250_000
	model := &endless{going: make(chan struct{})}
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: model.decide})
	defer server.Close()
	home := capped(t, server.URL, fmt.Sprintf("  day: {tokens: %d}\n", limit))
	a := openHome(t, home)
	defer a.Close()
	if _, err := a.Database(t.Context()); err != nil { // the schema, once
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var children []*exec.Cmd
	for range 3 {
		c := exec.Command(self)
		c.Env = append(os.Environ(), spendChild+"="+home)
		c.Stderr = os.Stderr
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatalf("%q, %v", line, err)
		}
		go io.Copy(io.Discard, out) // ends with the child
		children = append(children, c)
	}
	<-model.going
	_ = children[0].Process.Kill()
	_, done := say(t, a, "", "go on for ever")
	mustStop(t, done, "today")
	for i, c := range children {
		if err := c.Wait(); err != nil && i > 0 {
			t.Errorf("child %d: %v", i, err)
		}
	}
	_, spent, one := model.count()
	if spent > limit+one || spent < limit-3*one { // the killed one may hold a call that the server did or did not count
		t.Errorf("%d tokens were spent of %d; one call takes up to %d", spent, limit, one)
	}
}
