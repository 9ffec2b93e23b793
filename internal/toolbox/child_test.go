package toolbox_test

import (
	"context"
	"testing"

	"hermes"
	"hermes/internal/toolbox"
)

// TestOnlyTheUserAllowsARiskyCallOfAChild runs the same call, twice, in a conversation and in a
// child of it, with everything that may allow it.
func TestOnlyTheUserAllowsARiskyCallOfAChild(t *testing.T) {
	t.Parallel()
	grant := func(platform string) *kept {
		return &kept{grants: []hermes.Grant{{Tool: "terminal", Key: "recursive delete", Platform: platform}}}
	}
	for name, tt := range map[string]struct {
		rules   toolbox.Approvals
		line    string
		answers []hermes.Decision
		alone   bool
		asked   [2]int // in the conversation, in the child
		ran     [2]int
	}{
		"the user is asked":             {line: "rm -r x", answers: []hermes.Decision{hermes.AllowOnce, hermes.Deny}, asked: [2]int{2, 2}, ran: [2]int{1, 1}},
		"a grant for the session":       {line: "rm -r x", answers: []hermes.Decision{hermes.AllowSession}, asked: [2]int{1, 1}, ran: [2]int{2, 2}},
		"a model":                       {rules: toolbox.Approvals{Mode: toolbox.ModeSmart}, line: "rm -r x", asked: [2]int{0, 2}, ran: [2]int{2, 0}},
		"the keys of risks":             {rules: toolbox.Approvals{Allowed: []string{"recursive delete"}}, line: "rm -r x", asked: [2]int{0, 2}, ran: [2]int{2, 0}},
		"a grant for the chat":          {rules: toolbox.Approvals{Grants: grant("cli")}, line: "rm -r x", asked: [2]int{0, 2}, ran: [2]int{2, 0}},
		"a grant for children":          {rules: toolbox.Approvals{Grants: grant(hermes.PlatformChild)}, line: "rm -r x", asked: [2]int{2, 0}, ran: [2]int{0, 2}},
		"a grant where no user attends": {rules: toolbox.Approvals{Grants: grant("")}, line: "rm -r x", alone: true, asked: [2]int{2, 2}},
		"yolo":                          {rules: toolbox.Approvals{Mode: toolbox.ModeOff}, line: "rm -r x", ran: [2]int{2, 2}},
		"what is never allowed":         {rules: toolbox.Approvals{Mode: toolbox.ModeOff}, line: "mkfs x"},
		"a rule that denies":            {rules: toolbox.Approvals{Mode: toolbox.ModeOff, Deny: []string{"git push *"}}, line: "git push x"},
	} {
		tt.rules.Judge = func(context.Context, hermes.SessionRef, hermes.ApprovalRequest) (hermes.Decision, error) {
			return hermes.AllowOnce, nil
		}
		for depth, platform := range []string{"cli", hermes.PlatformChild} {
			ran := 0
			h := &host{answers: tt.answers, alone: tt.alone, platform: platform, depth: depth}
			tools := mustToolbox(t, toolbox.Options{Approvals: tt.rules}, terminal(&ran))
			for range 2 {
				tools.Run(t.Context(), command(tt.line, h))
			}
			if len(h.asked) != tt.asked[depth] || ran != tt.ran[depth] {
				t.Errorf("%s, depth %d: asked %d times, ran %d", name, depth, len(h.asked), ran)
			}
		}
	}
}

// TestTheGuardrailStopsAChildAsIfNoUserWatched: who could be asked does not read along.
func TestTheGuardrailStopsAChildAsIfNoUserWatched(t *testing.T) {
	t.Parallel()
	for depth, want := range []int{4, 2} {
		ran := 0
		fails := tool{spec: hermes.Spec{Name: "fails"}, run: func(context.Context, *hermes.Call) (hermes.Result, error) {
			ran++
			return hermes.Result{Text: "no", Failed: true}, nil
		}}
		tools := mustToolbox(t, toolbox.Options{Guardrail: toolbox.Guardrail{HardStopUnattended: true, WarnExact: 2, BlockExact: 2, WarnTool: 99, StopTool: 99}}, fails)
		for range 4 {
			tools.Run(t.Context(), &hermes.Call{Name: "fails", Arguments: []byte(`{}`), Host: &host{depth: depth}})
		}
		if ran != want {
			t.Errorf("depth %d: ran %d times, want %d", depth, ran, want)
		}
	}
}
