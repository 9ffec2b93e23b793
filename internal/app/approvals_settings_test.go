package app_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"hermes"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// TestSmartPolicyReachesTheJudge has the model that reviews calls read the user's own rules.
func TestSmartPolicyReachesTheJudge(t *testing.T) {
	t.Parallel()
	const rule = "Never empty the attic."
	for settings, want := range map[string]bool{"": false, "approvals: {smart_policy: \"" + rule + "\"}\n": true, "approvals: {mode: manual, smart_policy: \"" + rule + "\"}\n": false} {
		var told atomic.Bool
		got := asksToDelete(t, settings, &told, rule, func(ctx context.Context, s *session.Session, id string) error {
			return s.Do(ctx, hermes.From{}, hermes.Reply{ID: id, Approval: hermes.ApprovalAnswer{Decision: hermes.Deny}})
		})
		if told.Load() != want || got.Outcome != hermes.OutcomeDone {
			t.Errorf("%q: the judge was told %v, want %v; the turn ended with %+v", settings, told.Load(), want, got)
		}
	}
}

// TestApprovalsTimeout does not answer: after approvals.timeout the call is refused.
func TestApprovalsTimeout(t *testing.T) {
	t.Parallel()
	var told atomic.Bool
	got := asksToDelete(t, "approvals: {mode: manual, timeout: 1}\n", &told, "", func(context.Context, *session.Session, string) error { return nil })
	if got.Outcome != hermes.OutcomeDone || !strings.Contains(got.Text, "BLOCKED") {
		t.Errorf("the turn ended with %+v", got)
	}
}

// asksToDelete runs a turn of an attended session whose model deletes a folder and answers with
// the result. It tells whether a request had a rule in its system prompt.
func asksToDelete(t *testing.T, settings string, told *atomic.Bool, rule string, answer func(context.Context, *session.Session, string) error) hermes.TurnDone {
	t.Helper()
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		if !r.Offers("terminal") {
			if rule != "" && strings.Contains(string(r.Body), rule) {
				told.Store(true)
			}
			return chatserver.Answer{Text: "not sure"}, nil
		}
		if last := r.Messages[len(r.Messages)-1]; last.Role == "tool" {
			return chatserver.Answer{Text: last.Text()}, nil
		}
		use := chatserver.Function{Name: "terminal", Arguments: `{"command":"rm -rf victim"}`}
		return chatserver.Answer{Calls: []chatserver.Call{{ID: "c", Type: "function", Function: use}}}, nil
	}})
	defer server.Close()
	home := t.TempDir()
	writeFile(t, home+"/config.yaml", "model: {default: played, provider: custom, base_url: \""+server.URL+"/v1\"}\n"+settings)
	a := openHome(t, home)
	defer a.Close()
	s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: t.TempDir()}}, From: hermes.From{Attends: true}})
	events := mustSay(t, s, "clean up")
	for e := range events {
		switch e := e.(type) {
		case hermes.Asked:
			if err := answer(t.Context(), s, e.ID); err != nil {
				t.Fatal(err)
			}
		case hermes.TurnDone:
			return e
		}
	}
	t.Fatal("the session ended")
	return hermes.TurnDone{}
}
