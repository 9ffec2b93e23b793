package sessions_test

import (
	"strings"
	"testing"

	"hermes"
)

func TestBranchCopiesASession(t *testing.T) {
	t.Parallel()
	s := filled(t)
	out := mustRun(t, s, "branch", "latest")
	if !strings.Contains(out, `"Fix the build #2" with 4 messages`) || !strings.Contains(out, "hermes --resume 2026") {
		t.Errorf("said %q", out)
	}
	row, err := s.FindSession(t.Context(), "Fix the build #2")
	if err != nil || row.Parent != "20261120_090000_aaaaaa" || row.System != "You are Hermes." {
		t.Errorf("%+v, %v", row, err)
	}
	mustRun(t, s, "fork", "20261119", "rain", "or", "shine")
	if row, err = s.FindSession(t.Context(), "rain or shine"); err != nil || row.Platform != "telegram" {
		t.Errorf("%+v, %v", row, err)
	}
	if _, _, err := run(t, s, "branch", "20261119", "rain or shine"); err == nil || !strings.Contains(err.Error(), `"rain or shine #2"`) {
		t.Errorf("a taken title: %v", err)
	}
	if _, _, err := run(t, s, "branch", "20260102"); err == nil || !strings.Contains(err.Error(), "no messages yet") {
		t.Errorf("an empty session: %v", err)
	}
	if rows, _ := s.ListSessions(t.Context(), hermes.SessionFilter{Limit: -1}); len(rows) != 7 {
		t.Errorf("%d sessions", len(rows))
	}
}
