package app_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// connected is a toolset that holds a connection.
type connected struct {
	mu     sync.Mutex
	events []string
}

func (c *connected) note(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, what)
}

func (*connected) Name() string                     { return "connected" }
func (*connected) Available(context.Context) string { return "" }
func (c *connected) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{hermes.NewTool(hermes.Spec{Name: "ping", Description: "Ping.", Trusted: true},
		func(_ context.Context, call *hermes.Call, _ struct{}) (hermes.Result, error) {
			c.note("ping " + call.Host.Session().ID)
			return hermes.Result{Text: "pong"}, nil
		})}, nil
}
func (c *connected) Restore(s hermes.SessionRef, _ []hermes.Message) { c.note("restore " + s.ID) }
func (c *connected) Stop(s hermes.SessionRef)                        { c.note("stop " + s.ID) }
func (c *connected) Close() error                                    { c.note("close"); return nil }

// TestAToolsetExistsOnceInTheProgram: two sessions share a toolset that holds a connection. It
// learns of a resume and of a stop, and is closed once, after both.
func TestAToolsetExistsOnceInTheProgram(t *testing.T) {
	t.Parallel()
	home, dir, set := t.TempDir(), t.TempDir(), &connected{}
	setCalling(t, home, "", []chatserver.Function{{Name: "ping", Arguments: `{}`}})
	a := app.New(app.Options{Home: home, Extra: []hermes.Toolset{set}, Getenv: func(string) string { return "" }})
	run := hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: dir}}
	var ids []string
	for range 2 {
		s := mustOpen(t, a, session.Open{Run: run})
		ids = append(ids, s.ID())
		for e := range mustSay(t, s, "go") {
			if done, ok := e.(hermes.TurnDone); ok {
				if done.Failure != nil {
					t.Fatal(done.Err())
				}
				break
			}
		}
		if err := s.Do(t.Context(), hermes.From{}, hermes.Stop{Processes: true}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	run.Session = ids[0]
	mustOpen(t, a, session.Open{Run: run})
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{"ping " + ids[0], "stop " + ids[0], "ping " + ids[1], "stop " + ids[1], "restore " + ids[0], "close"}
	if !slices.Equal(set.events, want) {
		t.Errorf("got %q, want %q", set.events, want)
	}
}
