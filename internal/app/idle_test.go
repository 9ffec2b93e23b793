package app_test

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// TestIdleSessionsAreSmall: a live session in which nothing runs, with all its tools, costs
// at most 150 KB beside its recent messages.
func TestIdleSessionsAreSmall(t *testing.T) { // not parallel: it measures the memory of the process
	if kb := idle(t, 80, 500); kb > 150 {
		t.Errorf("an idle session costs %.0f KB beside its recent messages; the limit is 150 KB", kb)
	}
}

func BenchmarkIdleSession(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(idle(b, 1000, 500), "KB/session")
	}
}

// idle opens sessions of so many messages each, has one turn in each, and returns what one costs in KB beside a
// copy of its newest 200 messages.
func idle(t testing.TB, sessions, messages int) float64 {
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: func(*chatserver.Request) (chatserver.Answer, error) {
		return chatserver.Answer{Text: "Well."}, nil
	}})
	defer server.Close()
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), "model: {default: played, provider: custom, base_url: \""+server.URL+"/v1\"}\n")
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	defer func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}()
	db, err := a.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range sessions {
		id := fmt.Sprintf("s%d", i)
		if err := db.CreateSession(t.Context(), hermes.Session{ID: id, Platform: "cli", System: "You are a test.", Started: time.Unix(1, 0)}); err != nil {
			t.Fatal(err)
		}
		var list []hermes.Message
		for n := range messages / 2 {
			list = append(list, hermes.UserText(fmt.Sprintf("question %d", n)), hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: fmt.Sprintf("answer %d", n)}}})
		}
		if _, err := db.Commit(t.Context(), hermes.Lease{Session: id}, hermes.Change{Append: list}); err != nil {
			t.Fatal(err)
		}
	}
	m, err := a.Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	open := func(i int) *session.Session {
		s, err := m.Open(t.Context(), session.Open{Run: hermes.RunSpec{Session: fmt.Sprintf("s%d", i)}})
		if err != nil {
			t.Fatal(err)
		}
		events, cancel := subscribe(s, 0)
		defer cancel()
		if err := s.Do(t.Context(), hermes.From{}, saying("Hello.")); err != nil {
			t.Fatal(err)
		}
		for e := range events {
			if done, ok := e.(hermes.TurnDone); ok {
				if done.Failure != nil {
					t.Fatal(done.Err())
				}
				break
			}
		}
		return s
	}
	var live []*session.Session
	var before uint64
	for i := range sessions {
		if i == sessions/4 { // the first ones make what all share
			before = allocated()
		}
		live = append(live, open(i))
	}
	after, measured := allocated(), sessions-sessions/4
	list, err := db.Messages(t.Context(), "s0", hermes.Range{Last: 200})
	if err != nil {
		t.Fatal(err)
	}
	start := allocated()
	copies := make([][]hermes.Message, 100)
	for i := range copies {
		copies[i] = slices.Clone(list)
	}
	recent := (allocated() - start) / uint64(len(copies))
	runtime.KeepAlive(copies)
	for _, s := range live {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	return (float64(after-before)/float64(measured) - float64(recent)) / 1024
}

// allocated is the memory that is in use, in bytes.
func allocated() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
