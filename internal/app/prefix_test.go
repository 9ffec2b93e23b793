package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// pausing is a toolset with one tool, which waits until it is released.
type pausing struct{ entered, release chan struct{} }

func (p *pausing) Name() string                     { return "pausing" }
func (p *pausing) Available(context.Context) string { return "" }
func (p *pausing) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{hermes.NewTool(hermes.Spec{Name: "pause", Description: "Wait."}, func(ctx context.Context, c *hermes.Call, _ struct{}) (hermes.Result, error) {
		p.entered <- struct{}{}
		select {
		case <-p.release:
		case <-ctx.Done():
		}
		return hermes.Result{Text: "waited"}, nil
	})}, nil
}

// playing is a model server that follows the user's message: it writes and reads a
// file, pauses, or just answers, and records every request.
type playing struct {
	mu     sync.Mutex
	bodies [][]byte
	dir    string
}

func (p *playing) decide(r *chatserver.Request) (chatserver.Answer, error) {
	p.mu.Lock()
	p.bodies = append(p.bodies, bytes.Clone(r.Body))
	n := len(p.bodies)
	p.mu.Unlock()
	last := r.Messages[len(r.Messages)-1]
	if last.Role != "user" {
		return chatserver.Answer{Text: fmt.Sprintf("done <%d> & more", n), Reasoning: "thought"}, nil
	}
	call := func(i int, name string, args any) chatserver.Call {
		raw, _ := json.Marshal(args)
		return chatserver.Call{ID: fmt.Sprintf("call_%d_%d", n, i), Type: "function", Function: chatserver.Function{Name: name, Arguments: string(raw)}}
	}
	path := filepath.Join(p.dir, fmt.Sprintf("note%d.txt", n))
	switch n % 4 {
	case 0:
		return chatserver.Answer{Text: "Writing.", Calls: []chatserver.Call{
			call(0, "write_file", map[string]string{"path": path, "content": "a < b && ünïcode ✓ \u2028"}),
			call(1, "todo", map[string]any{"todos": []map[string]string{{"id": "1", "content": "x", "status": "pending"}}}),
		}}, nil
	case 1:
		return chatserver.Answer{Calls: []chatserver.Call{call(0, "search_files", map[string]string{"pattern": "ünï", "path": p.dir}), call(1, "read_file", map[string]string{"path": path})}}, nil
	case 2:
		return chatserver.Answer{Calls: []chatserver.Call{call(0, "pause", struct{}{})}}, nil
	}
	return chatserver.Answer{Text: "Just words."}, nil
}

// newApp makes an app on a new home with the playing model.
func (p *playing) newApp(t *testing.T, home, url string, extra hermes.Toolset) *app.App {
	t.Helper()
	a := app.New(app.Options{
		Home:      home,
		BaseURL:   url,
		BaseModel: "played",
		Extra:     []hermes.Toolset{extra},
		Getenv:    func(string) string { return "" },
	})
	return a
}

func turn(t testing.TB, s *session.Session, text string, pause *pausing) hermes.TurnDone {
	t.Helper()
	events, cancel := subscribe(s, 0)
	defer cancel()
	if err := s.Do(t.Context(), hermes.From{}, hermes.Say{Parts: []hermes.Part{{Text: text}}}); err != nil {
		t.Fatal(err)
	}
	for {
		select {
		case <-pause.entered:
			if err := s.Do(t.Context(), hermes.From{}, hermes.Steer{Text: "a note in the middle"}); err != nil {
				t.Fatal(err)
			}
			pause.release <- struct{}{}
		case e, ok := <-events:
			if !ok {
				t.Fatal("the session ended")
			}
			if done, ok := e.(hermes.TurnDone); ok {
				if done.Failure != nil {
					t.Fatal(done.Err())
				}
				return done
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("the turn does not end")
		}
	}
}

// TestPrefixNeverChanges drives a session of fifty turns with tools, notes
// and resumes through the real transport: each request begins with the bytes of the
// one before.
func TestPrefixNeverChanges(t *testing.T) {
	t.Parallel()
	p := &playing{dir: t.TempDir()}
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: p.decide})
	defer server.Close()
	home := t.TempDir()
	pause := &pausing{entered: make(chan struct{}, 1), release: make(chan struct{})}
	var id string
	var s *session.Session
	a := p.newApp(t, home, server.URL+"/v1", pause)
	for i := range 50 {
		if i%17 == 0 { // begin, and come back twice in another process's manner
			if s != nil {
				if err := a.Close(); err != nil {
					t.Fatal(err)
				}
				// What this process would build today is another prompt.
				writeFile(t, filepath.Join(home, "SOUL.md"), "You are someone else.")
				writeFile(t, filepath.Join(p.dir, "AGENTS.md"), "Use spaces.")
				a = p.newApp(t, home, server.URL+"/v1", pause)
			}
			s = mustOpen(t, a, session.Open{Run: hermes.RunSpec{Session: id, Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: p.dir}}, From: hermes.From{Attends: true}})
			id = s.ID()
		}
		turn(t, s, fmt.Sprintf("turn %d <&>", i), pause)
	}
	if st, err := s.State(t.Context()); err != nil || st.Broken != nil {
		t.Errorf("the watch reports a break: %+v, %v", st.Broken, err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if len(p.bodies) < 80 {
		t.Fatalf("only %d requests", len(p.bodies))
	}
	for i := 1; i < len(p.bodies); i++ {
		before := bytes.TrimRight(p.bodies[i-1], "]}")
		if !bytes.HasPrefix(p.bodies[i], before) {
			at := 0
			for at < len(before) && before[at] == p.bodies[i][at] {
				at++
			}
			t.Fatalf("request %d changes the prefix at byte %d:\n%s\n%s", i, at, around(before, at), around(p.bodies[i], at))
		}
	}
	if n := len(p.bodies[0]); n > 16<<10 {
		t.Errorf("the first request has %d bytes, more than 16 KB", n)
	}
}

func around(b []byte, at int) []byte { return b[max(at-60, 0):min(at+60, len(b))] }

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSurroundingChangesAreSentAtTheTail: a file that was read and then changed by
// another program is named with the next message, once.
func TestSurroundingChangesAreSentAtTheTail(t *testing.T) {
	t.Parallel()
	p := &playing{dir: t.TempDir()}
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		last := r.Messages[len(r.Messages)-1]
		if last.Role == "user" && bytes.Contains(last.Content, []byte("read it")) {
			return chatserver.Answer{Calls: []chatserver.Call{{ID: "c", Type: "function", Function: chatserver.Function{Name: "read_file", Arguments: `{"path":"a.txt"}`}}}}, nil
		}
		return chatserver.Answer{Text: last.Text()}, nil
	}})
	defer server.Close()
	path := filepath.Join(p.dir, "a.txt")
	writeFile(t, path, "one\n")
	pause := &pausing{entered: make(chan struct{}, 1), release: make(chan struct{})}
	a := p.newApp(t, t.TempDir(), server.URL+"/v1", pause)
	defer a.Close()
	s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: p.dir}}, From: hermes.From{Attends: true}})
	turn(t, s, "read it", pause)
	if got := turn(t, s, "quiet", pause).Text; got != "quiet" {
		t.Errorf("nothing changed, and yet: %q", got)
	}
	writeFile(t, path, "one\ntwo\n")
	if got := turn(t, s, "what now", pause).Text; !bytes.Contains([]byte(got), []byte("changed by others since you read them: "+path)) {
		t.Errorf("not reported: %q", got)
	}
	if got := turn(t, s, "again", pause).Text; got != "again" {
		t.Errorf("reported twice: %q", got)
	}
}
