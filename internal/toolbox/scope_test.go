package toolbox_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/toolbox"
)

// TestScopeThatWasNotOfferedAllowsOneCall answers as no frontend should: with a
// scope that the request does not have.
func TestScopeThatWasNotOfferedAllowsOneCall(t *testing.T) {
	t.Parallel()
	hide := func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	for _, tt := range []struct {
		name  string
		line  string
		scope hermes.GrantScope
		kept  []string // subjects
		asks  int      // of two equal calls
	}{
		{name: "one call, with a secret", line: "rm -r a hunter2", scope: hermes.ScopeCall, asks: 2},
		{name: "the first, which is the kind", line: "rm -r a hunter2", kept: []string{""}, asks: 1},
		{name: "one call that is too long", line: "rm -r " + strings.Repeat("x", 9<<10), scope: hermes.ScopeCall, asks: 2},
	} {
		ran := 0
		store := &kept{}
		h := &host{answers: []hermes.Decision{hermes.AllowAlways, hermes.AllowAlways}, scope: tt.scope}
		tools := mustToolbox(t, toolbox.Options{Redact: hide, Approvals: toolbox.Approvals{Grants: store}}, terminal(&ran))
		for range 2 {
			tools.Run(t.Context(), command(tt.line, h))
		}
		var subjects []string
		for _, g := range store.grants {
			subjects = append(subjects, g.Subject)
		}
		if ran != 2 || len(h.asked) != tt.asks || !slices.Equal(subjects, tt.kept) {
			t.Errorf("%s: ran %d, asked %d times, kept %.80q", tt.name, ran, len(h.asked), subjects)
		}
	}
}

// TestAlwaysThatWasNotOfferedStoresNothing has two risks, one of which only the user
// may allow: the other one is not stored either, with a secret in its subject.
func TestAlwaysThatWasNotOfferedStoresNothing(t *testing.T) {
	t.Parallel()
	both := naming{risky{tool: tool{spec: hermes.Spec{Name: "terminal"}}, assess: func(*hermes.Call) []hermes.Risk {
		return []hermes.Risk{{Key: "k", Reason: "harms"}, {Key: "own", Reason: "is kept", NoRemember: true}}
	}}}
	store := &kept{}
	h := &host{answers: []hermes.Decision{hermes.AllowAlways}}
	tools := mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Grants: store}}, both)
	for _, line := range []string{"rm -r a", "rm -r a", "rm -r b"} {
		tools.Run(t.Context(), command(line, h))
	}
	if a := h.asked[0]; len(a.Always) > 0 || a.Stored != "" {
		t.Errorf("offered %v in %q", a.Always, a.Stored)
	}
	if len(store.grants) > 0 || len(h.asked) != 2 {
		t.Errorf("stored %+v, asked %d times", store.grants, len(h.asked))
	}
}

// TestAnswerNeverGivesAnUnattendedGrant has a user answer where none was expected:
// the answer holds for the session, and what is stored does not hold unattended.
func TestAnswerNeverGivesAnUnattendedGrant(t *testing.T) {
	t.Parallel()
	for d, asks := range map[hermes.Decision]int{hermes.AllowSession: 1, hermes.AllowAlways: 2} {
		ran := 0
		store := &kept{}
		h := &host{answers: []hermes.Decision{d}, alone: true}
		tools := mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Grants: store}}, terminal(&ran))
		for range 2 {
			tools.Run(t.Context(), command("rm -r a", h))
		}
		if len(h.asked) != asks || slices.ContainsFunc(store.grants, func(g hermes.Grant) bool { return g.Unattended }) {
			t.Errorf("%s: asked %d times, stored %+v", d, len(h.asked), store.grants)
		}
	}
}

// TestCallWithoutSubjectIsNotOfferedAlone has a tool that names nothing: a grant
// for such a call would be one for all of them.
func TestCallWithoutSubjectIsNotOfferedAlone(t *testing.T) {
	t.Parallel()
	wipe := risky{tool: tool{spec: hermes.Spec{Name: "wipe"}}, assess: func(*hermes.Call) []hermes.Risk {
		return []hermes.Risk{{Key: "wipe", Reason: "deletes what it is told"}}
	}}
	for _, d := range []hermes.Decision{hermes.AllowSession, hermes.AllowAlways} {
		h := &host{answers: []hermes.Decision{d}, scope: hermes.ScopeCall}
		tools := mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Grants: &kept{}}}, wipe)
		tools.Run(t.Context(), &hermes.Call{ID: "c1", Name: "wipe", Host: h})
		r := tools.Run(t.Context(), callOf("wipe", `{"what":"everything"}`, h))
		if a := h.asked[0]; slices.Contains(a.Session, hermes.ScopeCall) || slices.Contains(a.Always, hermes.ScopeCall) {
			t.Errorf("%s: offered %v and %v", d, a.Session, a.Always)
		}
		if len(h.asked) != 2 || !r.Failed {
			t.Errorf("%s: another call ran: asked %d times, %s", d, len(h.asked), r.Text)
		}
	}
}

func callOf(name, arguments string, h hermes.Host) *hermes.Call {
	c := call(name, arguments)
	c.Host = h
	return c
}

// TestDenyRulesReadEveryArgument hides a command in arguments of a tool that does
// not name its subject.
func TestDenyRulesReadEveryArgument(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{
		`{"code":"git push"}`,
		`{"steps":[{"run":"true"},{"run":"git push --force"}]}`,
		`{"options":{"command":"git push"}}`,
		`{"argv":["git","push","origin"]}`,
		`{"argv":[["sudo","git","push"]]}`,
	} {
		ran := false
		run := tool{spec: hermes.Spec{Name: "run"}, run: func(context.Context, *hermes.Call) (hermes.Result, error) {
			ran = true
			return hermes.Result{}, nil
		}}
		tools := mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Mode: toolbox.ModeOff, Deny: []string{"git push*"}}}, run)
		tools.Run(t.Context(), call("run", arguments))
		if ran {
			t.Errorf("%s ran", arguments)
		}
	}
}
