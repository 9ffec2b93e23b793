package command_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/command"
	"hermes/internal/session"
)

// archive is a manager of a few stored sessions; "here" is the current one.
func archive(t *testing.T) *session.Manager {
	t.Helper()
	s := hermestest.NewStore()
	start := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for i, r := range []hermes.Session{
		{ID: "20260101_old", Title: "old things", Platform: "cli"}, {ID: "20260102_new", Title: "new_things", Platform: "cli"},
		{ID: "20260103_once", Platform: "oneshot"}, {ID: "here", Title: "plan", Platform: "cli"},
	} {
		r.Started = start
		if err := s.CreateSession(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		l, err := s.Acquire(t.Context(), r.ID, hermes.Owner{Name: "me"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		m := hermes.UserText("about the " + r.Title + " zebra")
		m.Time = start.Add(time.Duration(i) * time.Minute)
		if _, err := s.Commit(t.Context(), l, hermes.Change{Append: []hermes.Message{m}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Release(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	return session.NewManager(session.Config{Store: s})
}

// in runs a line in the session "here".
func in(t *testing.T, m *session.Manager, st session.State, line string) (command.Result, error) {
	t.Helper()
	st.Row.ID = "here"
	return command.Run(t.Context(), line, command.Call{
		Session: &fake{state: st}, Where: command.Terminal,
		Sessions: func(context.Context) (command.Sessions, error) { return m, nil },
	})
}

func TestResumeFindsTheSession(t *testing.T) {
	t.Parallel()
	m := archive(t)
	for line, want := range map[string]string{
		"/resume 1": "20260102_new", "/resume 2": "20260101_old", "/resume old things": "20260101_old",
		"/resume 20260102": "20260102_new", "/resume here": "", "/resume plan": "",
	} {
		r, err := in(t, m, session.State{}, line)
		if err != nil || r.Arg != want || (want != "") != (r.Action == hermes.ActionSwitch) {
			t.Errorf("%s: %+v, %v", line, r, err)
		}
	}
	for line, want := range map[string]string{
		"/resume nothing": "/sessions search", "/resume 202601": "several", "/resume 9": "only 2 other sessions; use /sessions",
	} {
		if _, err := in(t, m, session.State{}, line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	if _, err := in(t, m, session.State{Running: true}, "/resume 1"); err == nil || !strings.Contains(err.Error(), "/stop") {
		t.Errorf("a running turn: %v", err)
	}
}

func TestBranchSwitchesToTheCopy(t *testing.T) {
	t.Parallel()
	m := archive(t)
	r, err := in(t, m, session.State{Transcript: talk()}, "/branch")
	if err != nil || r.Action != hermes.ActionSwitch {
		t.Fatalf("%+v, %v", r, err)
	}
	row, err := m.Find(t.Context(), r.Arg)
	if err != nil || row.Parent != "here" || row.Title != "plan #2" {
		t.Errorf("%+v, %v", row, err)
	}
	wantIn(t, r.Text, "plan \\#2", "/resume here")
	if r, err = in(t, m, session.State{Transcript: talk()}, "/fork another way"); err != nil || !strings.Contains(r.Text, "another way") {
		t.Errorf("%+v, %v", r, err)
	}
	for _, c := range []struct {
		state session.State
		line  string
		want  string
	}{
		{session.State{Transcript: talk()}, "/branch plan", "choose another"},
		{session.State{}, "/branch", "no messages yet"},
		{session.State{Transcript: talk(), Running: true}, "/branch", "/stop"},
	} {
		if _, err := in(t, m, c.state, c.line); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.line, err, c.want)
		}
	}
}

func TestSessionsAreListedAndSearched(t *testing.T) {
	t.Parallel()
	m := archive(t)
	for _, line := range []string{"/sessions", "/sessions all", "/resume"} {
		r, err := in(t, m, session.State{}, line)
		if err != nil || strings.Contains(r.Text, "plan") || strings.Contains(r.Text, "once") {
			t.Fatalf("%s: %q, %v", line, r.Text, err)
		}
		wantIn(t, r.Text, "1. **new\\_things**", "2. **old things** `20260101_old`", "1 message\n")
	}
	r, err := in(t, m, session.State{}, "/sessions search old zebra")
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, r.Text, "20260101_old", "/resume ID")
	if r, err = in(t, m, session.State{}, "/sessions search crocodile"); err != nil || !strings.Contains(r.Text, "other words") {
		t.Errorf("%q, %v", r.Text, err)
	}
	for _, line := range []string{"/sessions search", "/sessions everything"} {
		if _, err := in(t, m, session.State{}, line); err == nil {
			t.Errorf("%s was taken", line)
		}
	}
	if _, err := command.Run(t.Context(), "/sessions", command.Call{Session: &fake{}, Where: command.Terminal}); err == nil {
		t.Error("without a store something is listed")
	}
}
