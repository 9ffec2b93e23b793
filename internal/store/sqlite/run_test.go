package sqlite_test

import (
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/store/sqlite"
)

// TestADamagedRunIsNoSessionWithoutLimits: a session whose spec cannot be read is not opened as
// if it had none.
func TestADamagedRunIsNoSessionWithoutLimits(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	s := mustOpen(t, sqlite.Config{Path: path})
	row := hermes.Session{ID: "s1", Platform: "cli", Started: time.Unix(1, 0), Run: hermes.StoredRun{
		Origin: hermes.Origin{Platform: "cli"}, Tools: hermes.ToolChoice{Enabled: []string{"file"}},
	}}
	if err := s.CreateSession(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	db := raw(t, path)
	for _, run := range []string{`'{"origin":{"platform":"cli"},"tools":{"ena'`, `'{}'`, `'null'`, `''`, `'[]'`, `'{"tools":{"enabled":7}}'`} {
		mustExec(t, db, `UPDATE sessions SET run = `+run)
		got, err := s.FindSession(t.Context(), "s1")
		if err == nil || !strings.Contains(err.Error(), "session s1 cannot be used: the tools and the prompt that it was started with are damaged") {
			t.Errorf("%s: %+v, %v", run, got.Run, err)
		}
	}
	if list, err := s.ListSessions(t.Context(), hermes.SessionFilter{}); err != nil || len(list) != 1 {
		t.Errorf("listed %d, %v", len(list), err)
	}
	mustExec(t, db, `UPDATE sessions SET run = NULL`)
	if got, err := s.FindSession(t.Context(), "s1"); err != nil || got.StoredRun().Origin.Platform != "cli" {
		t.Errorf("a session of an earlier version: %+v, %v", got, err)
	}
}
