package toolbox_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/toolbox"
)

// wallsTool runs commands that have some risks.
func wallsTool(ran *int, risks ...hermes.Risk) hermes.Tool {
	return naming{risky{tool: tool{spec: hermes.Spec{Name: "terminal"}, run: func(context.Context, *hermes.Call) (hermes.Result, error) {
		*ran++
		return hermes.Result{}, nil
	}}, assess: func(*hermes.Call) []hermes.Risk { return risks }}}
}

// TestOnceIsAskedEachTime: whatever is answered, allowed by a key or stored, the next call
// asks again. Yolo runs it.
func TestOnceIsAskedEachTime(t *testing.T) {
	t.Parallel()
	risk := hermes.Risk{Key: "sandbox-escape", Reason: "runs outside", NoRemember: true, Once: true}
	for _, d := range []hermes.Decision{hermes.AllowOnce, hermes.AllowSession, hermes.AllowAlways} {
		ran := 0
		store := &kept{grants: []hermes.Grant{{Tool: "terminal", Key: risk.Key, Unattended: true}}}
		h := &host{answers: []hermes.Decision{d, d}}
		tools := mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Grants: store, Allowed: []string{risk.Key}}}, wallsTool(&ran, risk))
		for range 2 {
			tools.Run(t.Context(), command("x", h))
		}
		if ran != 2 || len(h.asked) != 2 || len(store.grants) != 1 {
			t.Errorf("%s: ran %d, asked %d times, stored %v", d, ran, len(h.asked), store.grants)
		}
		if a := h.asked[0]; len(a.Session)+len(a.Always) > 0 {
			t.Errorf("%s: offered %v and %v", d, a.Session, a.Always)
		}
	}
	ran := 0
	h := &host{}
	mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Mode: toolbox.ModeOff}}, wallsTool(&ran, risk)).Run(t.Context(), command("x", h))
	if ran != 1 || len(h.asked) > 0 {
		t.Errorf("yolo: ran %d, asked %d times", ran, len(h.asked))
	}
	if toolbox.AllowedUnattended(risk) {
		t.Error("a setting may allow it where no user can be asked")
	}
}

// TestAMistakeIsRefusedWithoutAQuestion, in every mode, and the model is told how to call instead.
func TestAMistakeIsRefusedWithoutAQuestion(t *testing.T) {
	t.Parallel()
	risk := hermes.Risk{Key: "sandbox-write:/w", Reason: "name the file", Deny: true, Mistake: true}
	for _, mode := range []toolbox.Mode{toolbox.ModeOff, ""} {
		ran := 0
		h := &host{answers: []hermes.Decision{hermes.AllowOnce}}
		r := mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Mode: mode}}, wallsTool(&ran, risk)).Run(t.Context(), command("x", h))
		if ran != 0 || len(h.asked) > 0 || !r.Failed || !strings.Contains(r.Text, "name the file") || strings.Contains(r.Text, "BLOCKED") {
			t.Errorf("mode %q: ran %d, asked %d times: %s", mode, ran, len(h.asked), r.Text)
		}
	}
}

// TestGrantedNeeds: what was allowed for all commands of the session or for good opens the
// walls, until it is revoked; what was allowed for one command does not.
func TestGrantedNeeds(t *testing.T) {
	t.Parallel()
	host1 := hermes.Need{Kind: hermes.RefusedHost, Name: "a.example:443"}
	file := hermes.Need{Kind: hermes.RefusedRead, Name: "/data/a:b c"}
	ref := hermes.SessionRef{ID: "s1", Platform: "cli", Attended: true}
	for _, tt := range []struct {
		name  string
		need  hermes.Need
		d     hermes.Decision
		scope hermes.GrantScope
		want  []hermes.Need
	}{
		{"once", host1, hermes.AllowOnce, "", nil},
		{"session", host1, hermes.AllowSession, hermes.ScopeKind, []hermes.Need{host1}},
		{"session, this command", host1, hermes.AllowSession, hermes.ScopeCall, nil},
		{"always", file, hermes.AllowAlways, hermes.ScopeKind, []hermes.Need{file}},
		{"always, this command", file, hermes.AllowAlways, hermes.ScopeCall, nil},
	} {
		ran := 0
		store := &kept{}
		h := &host{answers: []hermes.Decision{tt.d}, scope: tt.scope, platform: "cli"}
		risks := []hermes.Risk{{Key: hermes.GrantKey(tt.need), Reason: "reaches"}}
		tools := mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Grants: store}}, wallsTool(&ran, risks...))
		tools.Run(t.Context(), command("x", h))
		if got := tools.Granted(ref); ran != 1 || !slices.Equal(got, tt.want) {
			t.Errorf("%s: ran %d, granted %v, want %v", tt.name, ran, got, tt.want)
		}
		other := ref
		other.Platform, other.Attended = "telegram", false
		if got := tools.Granted(other); tt.d == hermes.AllowAlways && len(got) > 0 {
			t.Errorf("%s: granted %v on another platform without a user", tt.name, got)
		}
		store.grants = nil
		if got := tools.Granted(ref); tt.d == hermes.AllowAlways && len(got) > 0 {
			t.Errorf("%s: still granted %v after it was revoked", tt.name, got)
		}
	}
}
