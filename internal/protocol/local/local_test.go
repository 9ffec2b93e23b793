package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/protocol"
	"hermes/internal/protocol/local"
	"hermes/internal/session"
)

// noTools offers none.
type noTools struct{}

func (noTools) Specs() []hermes.Spec                                { return nil }
func (noTools) Spec(string) (hermes.Spec, bool)                     { return hermes.Spec{}, false }
func (noTools) Preview(hermes.ToolCall) string                      { return "" }
func (noTools) Canonical(c hermes.ToolCall) string                  { return c.Arguments }
func (noTools) Run(context.Context, *hermes.Call) (r hermes.Result) { return r }

// prompter builds a short prompt.
type prompter struct{}

func (prompter) Prompt(context.Context, hermes.Session, []hermes.Spec) (hermes.SystemPrompt, error) {
	return hermes.SystemPrompt{Text: "You are a test."}, nil
}

// models has one model.
type models struct{ model hermes.Model }

func (m models) Model(context.Context, hermes.ModelChoice) (hermes.Model, error) { return m.model, nil }

// mustClient returns a client over a new manager and its store.
func mustClient(t *testing.T, steps ...hermestest.Step) (*local.Client, hermes.Store) {
	t.Helper()
	store := hermestest.NewStore()
	m := session.NewManager(session.Config{
		Store: store, Models: models{hermestest.NewScript(steps...)}, Owner: hermes.Owner{Name: "here"},
		NewRuntime: func(context.Context, hermes.RunSpec) (*session.Runtime, error) {
			return &session.Runtime{Tools: noTools{}, Prompt: prompter{}}, nil
		},
	})
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return local.New(local.Config{
		Sessions: func(context.Context) (*session.Manager, error) { return m, nil },
		Store:    func(context.Context) (hermes.Store, error) { return store, nil },
		Expand: func(_ context.Context, text string, in local.Place, note func(string)) ([]hermes.Part, error) {
			if strings.Contains(text, "@missing") {
				return nil, errors.New("there is no file missing")
			}
			note("reading " + in.Workspace.Dir)
			return []hermes.Part{{Text: "the file", Hidden: true, Provenance: "a.md"}}, nil
		},
	}), store
}

var user = hermes.From{Client: "one", Platform: "cli", Name: "terminal 1", Attends: true}

// next returns the next event of type E.
func next[E hermes.Event](t *testing.T, events <-chan protocol.Envelope) (protocol.Envelope, E) {
	t.Helper()
	for e := range events {
		if got, ok := e.Event.(E); ok {
			return e, got
		}
	}
	var zero E
	t.Fatalf("no %T came", zero)
	return protocol.Envelope{}, zero
}

// TestAFrontendLeadsASession opens, attaches, talks, runs commands and reads the history, as
// a frontend does.
func TestAFrontendLeadsASession(t *testing.T) {
	t.Parallel()
	c, _ := mustClient(t, hermestest.Say("hello you"), hermestest.Say("again"))
	run := hermes.RunSpec{Workspace: hermes.Workspace{Dir: "/work"}}
	info, err := c.Open(t.Context(), user, run)
	if err != nil || info.ID == "" || info.Platform != "cli" || info.Dir != "/work" || !info.Running.Here {
		t.Fatalf("opened %+v, %v", info, err)
	}
	if list, err := c.History(t.Context(), info.ID, hermes.Range{}); err != nil || len(list) != 0 {
		t.Errorf("the history of a new session: %v, %v", list, err)
	}
	s, events, err := c.Attach(t.Context(), info.ID, user, protocol.After{})
	if err != nil || s.Session.ID != info.ID || s.State != protocol.StateIdle {
		t.Fatalf("attached %+v, %v", s, err)
	}
	if err := c.Do(t.Context(), info.ID, user, hermes.Say{Parts: []hermes.Part{{Text: "read @a.md"}}}); err != nil {
		t.Fatal(err)
	}
	if _, n := next[hermes.Notice](t, events); n.Text != "reading /work" || n.Level != hermes.NoticeWaiting {
		t.Errorf("the notice is %+v", n)
	}
	e, started := next[hermes.TurnStarted](t, events)
	if started.From != user || len(started.Message.Parts) != 2 || started.Message.Provenance != "a.md" || e.Epoch != 1 || e.Session != info.ID {
		t.Errorf("started %+v in %+v", started, e)
	}
	if _, done := next[hermes.TurnDone](t, events); done.Text != "hello you" {
		t.Errorf("done %+v", done)
	}
	if err := c.Do(t.Context(), info.ID, user, hermes.Say{Parts: []hermes.Part{{Text: "@missing"}}}); err == nil || !strings.Contains(err.Error(), "no file") {
		t.Errorf("a reference to nothing: %v", err)
	}
	for line, want := range map[string]string{"/title The bug": "Title: The bug", "/undo": "Undo the last exchange", "/nothing": "unknown command"} {
		if err := c.Command(t.Context(), info.ID, user, line); err != nil {
			t.Fatal(err)
		}
		_, done := next[hermes.CommandDone](t, events)
		said := done.Text + done.Confirm
		if done.Failure != nil {
			said += done.Failure.Text
		}
		if !strings.Contains(said, want) || done.From != user || done.Line != line {
			t.Errorf("%s: %+v", line, done)
		}
		if done.Confirm == "" {
			continue
		}
		if err := c.Command(t.Context(), info.ID, user, done.ConfirmLine); err != nil {
			t.Fatal(err)
		}
		next[hermes.Rewound](t, events)
		next[hermes.CommandDone](t, events)
	}
	list, err := c.Sessions(t.Context(), protocol.Filter{})
	if err != nil || len(list) != 1 || list[0].Title != "The bug" || list[0].Running == nil || list[0].Running.Frontends != 1 {
		raw, _ := json.Marshal(list)
		t.Errorf("sessions %s, %v", raw, err)
	}
	if err := c.Do(t.Context(), info.ID, user, hermes.Leave{}); err != nil {
		t.Fatal(err)
	}
	next[hermes.Closed](t, events)
	if _, ok := <-events; ok {
		t.Error("an event after the end")
	}
	if _, _, err := c.Attach(t.Context(), info.ID, user, protocol.After{}); !errors.Is(err, hermes.ErrClosed) {
		t.Errorf("attach to a closed session: %v", err)
	}
}

// TestLeaveOfOneOfTwoEndsNothing: the other frontend goes on.
func TestLeaveOfOneOfTwoEndsNothing(t *testing.T) {
	t.Parallel()
	c, _ := mustClient(t, hermestest.Say("hello"))
	info, err := c.Open(t.Context(), user, hermes.RunSpec{})
	if err != nil {
		t.Fatal(err)
	}
	other := hermes.From{Client: "two", Platform: "cli", Name: "terminal 2", Attends: true}
	if _, _, err := c.Attach(t.Context(), info.ID, user, protocol.After{}); err != nil {
		t.Fatal(err)
	}
	s, events, err := c.Attach(t.Context(), info.ID, other, protocol.After{})
	if err != nil || len(s.Frontends) != 1 || s.Frontends[0] != user {
		t.Fatalf("the other sees %+v, %v", s.Frontends, err)
	}
	if err := c.Do(t.Context(), info.ID, user, hermes.Leave{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Do(t.Context(), info.ID, other, hermes.Say{Parts: []hermes.Part{{Text: "still there?"}}}); err != nil {
		t.Fatal(err)
	}
	if _, done := next[hermes.TurnDone](t, events); done.Text != "hello" {
		t.Errorf("done %+v", done)
	}
}

// TestHistoryComesInPages: a page has at most so many messages and bytes, and pages joined by
// message id are the whole.
func TestHistoryComesInPages(t *testing.T) {
	t.Parallel()
	c, store := mustClient(t)
	if err := store.CreateSession(t.Context(), hermes.Session{ID: "s1", Started: time.Unix(1, 0)}); err != nil {
		t.Fatal(err)
	}
	l, err := store.Acquire(t.Context(), "s1", hermes.Owner{Name: "x"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	var all []hermes.Message
	for i := range 1200 {
		text := "m"
		if i%100 == 0 {
			text = strings.Repeat("x", 1<<20)
		}
		all = append(all, hermes.UserText(text))
	}
	if _, err := store.Commit(t.Context(), l, hermes.Change{Append: all}); err != nil {
		t.Fatal(err)
	}
	got, pages := 0, 0
	for after := int64(0); ; pages++ {
		page, err := c.History(t.Context(), "s1", hermes.Range{After: after})
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		size := 0
		for _, m := range page {
			size += protocol.Size(m)
		}
		if len(page) > protocol.MaxPage || size > protocol.MaxPageBytes {
			t.Errorf("a page of %d messages and %d bytes", len(page), size)
		}
		got, after = got+len(page), page[len(page)-1].ID
	}
	if got != len(all) || pages < 3 {
		t.Errorf("%d messages in %d pages", got, pages)
	}
	newest, err := c.History(t.Context(), "s1", hermes.Range{Last: 10})
	if err != nil || len(newest) != 10 || newest[9].ID < 1200 {
		t.Errorf("the newest: %d, %v", len(newest), err)
	}
	for _, r := range []hermes.Range{{First: -1}, {Last: -1}, {First: -1, Last: -1}, {First: 1 << 40}, {Last: 1 << 40}, {First: 1 << 40, Last: 1 << 40}, {After: -1, Before: 1 << 40}} {
		if page, err := c.History(t.Context(), "s1", r); err != nil || len(page) == 0 || len(page) > protocol.MaxPage {
			t.Errorf("%+v: a page of %d messages, %v", r, len(page), err)
		}
	}
	if page, err := c.History(t.Context(), "s1", hermes.Range{After: 20, Before: 10}); err != nil || len(page) > 0 {
		t.Errorf("between 20 and 10: %d, %v", len(page), err)
	}
}
