package app_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/lineage"
	"hermes/internal/owner"
	"hermes/internal/protocol"
	"hermes/internal/protocol/remote"
	"hermes/internal/protocol/router"
)

// neighbour makes an app of a home with a model that answers what decide says; nil is "Well.".
func neighbour(t *testing.T, home string, decide func(*chatserver.Request) (chatserver.Answer, error), above func(int) lineage.Above) (*app.App, *router.Client) {
	t.Helper()
	if decide == nil {
		decide = func(*chatserver.Request) (chatserver.Answer, error) { return chatserver.Answer{Text: "Well."}, nil }
	}
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: decide})
	t.Cleanup(server.Close)
	if above == nil {
		above = func(int) lineage.Above { return lineage.Above{} }
	}
	a := app.New(app.Options{Home: home, BaseURL: server.URL + "/v1", BaseModel: "played", Getenv: func(string) string { return "" }, AboveOf: above})
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a, a.Client(nil)
}

// terminal is a frontend whose user attends.
func terminal(name string) hermes.From {
	return hermes.From{Client: name, Platform: "cli", Name: name, Attends: true}
}

// begin opens a session and has a first turn in it.
func begin(t *testing.T, c protocol.Client, from hermes.From) string {
	t.Helper()
	info, err := c.Open(t.Context(), from, hermes.RunSpec{Workspace: hermes.Workspace{Dir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	events := attach(t, c, info.ID, from)
	tell(t, c, info.ID, from, "Hello.")
	until[hermes.TurnDone](t, events)
	return info.ID
}

func attach(t *testing.T, c protocol.Client, id string, from hermes.From) <-chan protocol.Envelope {
	t.Helper()
	_, events, err := c.Attach(t.Context(), id, from, protocol.After{})
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func tell(t *testing.T, c protocol.Client, id string, from hermes.From, text string) {
	t.Helper()
	if err := c.Do(t.Context(), id, from, hermes.Say{Parts: []hermes.Part{{Text: text}}}); err != nil {
		t.Fatal(err)
	}
}

// until returns the next event of a kind.
func until[E hermes.Event](t *testing.T, events <-chan protocol.Envelope) E {
	t.Helper()
	for e := range events {
		if found, ok := e.Event.(E); ok {
			return found
		}
	}
	var none E
	t.Fatalf("the events ended without %T", none)
	return none
}

// TestTwoProcessesShareASession: what one says the other sees, either may speak, and the list
// says where it runs.
func TestTwoProcessesShareASession(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	_, first := neighbour(t, home, nil, nil)
	id := begin(t, first, terminal("one"))
	own := attach(t, first, id, terminal("one"))

	_, second := neighbour(t, home, nil, nil)
	_, err := second.Open(t.Context(), terminal("two"), hermes.RunSpec{Session: id})
	elsewhere, ok := errors.AsType[*router.Elsewhere](err)
	if !ok || !errors.Is(err, hermes.ErrLeased) || !strings.Contains(err.Error(), "hermes attach "+id) || elsewhere.Lease.Address == "" {
		t.Fatalf("opening it a second time: %v", err)
	}
	list, err := second.Sessions(t.Context(), protocol.Filter{})
	if err != nil || len(list) != 1 || list[0].Running == nil {
		t.Fatalf("list %+v, %v", list, err)
	}
	if r := list[0].Running; r.Here || r.Address != elsewhere.Lease.Address || r.State != protocol.StateIdle || r.Frontends != 2 {
		t.Errorf("running: %+v", r)
	}
	if info, err := os.Lstat(elsewhere.Lease.Address); err == nil && info.Mode() != fs.ModeSocket|0o600 { // a pipe has no file
		t.Errorf("the socket is %v", info.Mode())
	}

	events := attach(t, second, id, terminal("two"))
	tell(t, second, id, terminal("two"), "And from here.")
	for name, got := range map[string]hermes.TurnStarted{"the first": until[hermes.TurnStarted](t, own), "the second": until[hermes.TurnStarted](t, events)} {
		if got.Message.Text() != "And from here." || name == "the first" && !strings.HasPrefix(got.From.Name, "terminal ") {
			t.Errorf("%s saw %+v", name, got)
		}
	}
	until[hermes.TurnDone](t, own)
	until[hermes.TurnDone](t, events)
	tell(t, first, id, terminal("one"), "Thanks.")
	if got := until[hermes.TurnStarted](t, events); got.Message.Text() != "Thanks." {
		t.Errorf("the second saw %+v", got)
	}
	until[hermes.TurnDone](t, events)
	if err := second.Command(t.Context(), id, terminal("two"), "/help"); err != nil {
		t.Error(err)
	}
	if got := until[hermes.CommandDone](t, own); !strings.Contains(got.Text, "/model") {
		t.Errorf("the command said %+v", got)
	}
	page, err := second.History(t.Context(), id, hermes.Range{})
	if err != nil || len(page) != 6 {
		t.Errorf("history of %d messages, %v", len(page), err)
	}
}

// TestAttachedProcessTakesOver when the owner has closed, with the whole conversation.
func TestAttachedProcessTakesOver(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	owning, first := neighbour(t, home, nil, nil)
	id := begin(t, first, terminal("one"))
	_, second := neighbour(t, home, nil, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	updates := protocol.Watched{Client: second, From: terminal("two"), Run: hermes.RunSpec{Session: id}, Seen: -1}.Watch(ctx)
	if u := <-updates; u.Snapshot == nil {
		t.Fatalf("the first update is %+v", u)
	}
	socket := socketOf(t, second, id)
	if err := owning.Close(); err != nil {
		t.Fatal(err)
	}
	lost := false
	for u := range updates {
		if u.Failed != nil {
			t.Fatal(u.Failed)
		}
		lost = lost || u.Lost != nil
		if u.Snapshot != nil {
			break
		}
	}
	if !lost {
		t.Error("it was not told that the session was out of reach")
	}
	if _, err := os.Lstat(socket); err == nil {
		t.Errorf("the socket of the process that closed is still there: %v", err)
	}
	events := attach(t, second, id, terminal("three"))
	tell(t, second, id, terminal("two"), "Still there?")
	until[hermes.TurnDone](t, events)
	page, err := second.History(t.Context(), id, hermes.Range{})
	if err != nil || len(page) != 4 {
		t.Errorf("history of %d messages, %v", len(page), err)
	}
}

// socketOf is where the owner of a session listens.
func socketOf(t *testing.T, c protocol.Client, id string) string {
	t.Helper()
	list, err := c.Sessions(t.Context(), protocol.Filter{Live: true})
	if err != nil || len(list) != 1 || list[0].ID != id || list[0].Running == nil || list[0].Running.Address == "" {
		t.Fatalf("live sessions %+v, %v", list, err)
	}
	return list[0].Running.Address
}

// TestAttachingNeedsNoModel: the process that runs the session has one.
func TestAttachingNeedsNoModel(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	_, first := neighbour(t, home, nil, nil)
	id := begin(t, first, terminal("one"))
	writeFile(t, filepath.Join(home, "config.yaml"), "model: {provider: no-such-provider}\n")
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	defer a.Close()
	second := a.Client(nil)
	events := attach(t, second, id, terminal("two"))
	tell(t, second, id, terminal("two"), "And from here.")
	until[hermes.TurnDone](t, events)
}

// TestAgentsAndStrangersAreRefused, whatever key they show, and told what to do.
func TestAgentsAndStrangersAreRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		above lineage.Above
		from  hermes.From
		spoil bool // the key
		want  string
		is    error
	}{
		"below an agent":       {above: lineage.Above{Signs: []string{"an inherited file"}}, from: terminal("x"), want: "started by an agent's command (found by an inherited file)"},
		"unknown parents":      {above: lineage.Above{Err: errors.New("no /proc")}, from: terminal("x"), want: "cannot tell whether an agent started this (no /proc)"},
		"a wrong key":          {from: terminal("x"), spoil: true, want: "`hermes attach`", is: remote.ErrKey},
		"an unknown platform":  {from: hermes.From{Platform: "telegram"}, want: "unknown platform \"telegram\""},
		"a platform of agents": {from: hermes.From{Platform: "subagent"}, want: "unknown platform \"subagent\""},
	} {
		home := t.TempDir()
		a, first := neighbour(t, home, nil, func(int) lineage.Above { return tt.above })
		id := begin(t, first, terminal("one"))
		_, second := neighbour(t, home, nil, nil)
		folder := filepath.Join(home, "run")
		db, err := a.Database(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		leases, err := db.Leases(t.Context())
		if err != nil || len(leases) != 1 || leases[0].Session != id {
			t.Fatal(leases, err)
		}
		if tt.spoil {
			folder = t.TempDir()
			if err := os.Chmod(folder, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		c, err := owner.Dialer{Folder: folder, Above: func(int) lineage.Above { return lineage.Above{} }}.Dial(t.Context(), hermes.Owner{Name: leases[0].Owner, Address: leases[0].Address}, tt.from)
		if err == nil {
			_ = c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) || errors.Is(err, protocol.ErrConnection) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if tt.above.Agent() {
			_, _, err := second.Attach(t.Context(), id, terminal("two"), protocol.After{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: attaching: %v", name, err)
			}
		}
		log, err := os.ReadFile(filepath.Join(home, "logs", "agent.log"))
		if err != nil || !strings.Contains(string(log), "refused a frontend") {
			t.Errorf("%s: the log does not say so: %v", name, err)
		}
	}
}

// TestNothingListensBeforeALease: a session that was only opened has no socket.
func TestNothingListensBeforeALease(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	_, c := neighbour(t, home, nil, nil)
	if _, err := c.Open(t.Context(), terminal("one"), hermes.RunSpec{Workspace: hermes.Workspace{Dir: t.TempDir()}}); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(home, "run", "*.sock"))
	if err != nil || len(left) > 0 {
		t.Errorf("sockets %v, %v", left, err)
	}
}
