package toolbox_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/toolbox"
)

// talker is a host that records the progress of calls.
type talker struct {
	host
	notices []string
}

func (t *talker) Progress(text string) { t.notices = append(t.notices, text) }

func TestSmartModeLetsAModelJudge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mode    toolbox.Mode
		verdict hermes.Decision
		err     error
		line    string
		answers []hermes.Decision
		judged  int // of two equal calls
		asked   int
		ran     int
	}{
		"harmless covers one call": {toolbox.ModeSmart, hermes.AllowOnce, nil, "rm -r x", nil, 2, 0, 2},
		"dangerous is not asked":   {toolbox.ModeSmart, hermes.Deny, nil, "rm -r x", nil, 2, 0, 0},
		"unsure asks":              {toolbox.ModeSmart, "", nil, "rm -r x", []hermes.Decision{hermes.AllowOnce}, 2, 2, 1},
		"it may give no more":      {toolbox.ModeSmart, hermes.AllowAlways, nil, "rm -r x", nil, 2, 2, 0},
		"a failure asks":           {toolbox.ModeSmart, hermes.AllowOnce, errors.New("no model"), "rm -r x", nil, 2, 2, 0},
		"a grant needs no verdict": {toolbox.ModeSmart, "", nil, "rm -r x", []hermes.Decision{hermes.AllowSession}, 1, 1, 2},
		"harmless calls need none": {toolbox.ModeSmart, hermes.Deny, nil, "ls", nil, 0, 0, 2},
		"never beats a denial":     {toolbox.ModeSmart, hermes.AllowOnce, nil, "mkfs x", nil, 0, 0, 0},
		"nor a rule":               {toolbox.ModeSmart, hermes.AllowOnce, nil, "git push rm -r", nil, 0, 0, 0},
		"manual asks the user":     {toolbox.ModeManual, hermes.AllowOnce, nil, "rm -r x", nil, 0, 2, 0},
		"off never asks":           {toolbox.ModeOff, hermes.Deny, nil, "rm -r x", nil, 0, 0, 2},
	} {
		ran, judged := 0, 0
		h := &talker{host: host{answers: tt.answers}}
		tools := mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{
			Mode: tt.mode, Deny: []string{"git push *"},
			Judge: func(_ context.Context, s hermes.SessionRef, a hermes.ApprovalRequest) (hermes.Decision, error) {
				judged++
				if s.ID != "s1" || a.Subject != tt.line || len(a.Risks) == 0 {
					t.Errorf("%s: judged %+v of %+v", name, a, s)
				}
				return tt.verdict, tt.err
			},
		}}, terminal(&ran))
		for range 2 {
			tools.Run(t.Context(), command(tt.line, h))
		}
		if judged != tt.judged || len(h.asked) != tt.asked || ran != tt.ran {
			t.Errorf("%s: judged %d, asked %d, ran %d; want %d, %d, %d", name, judged, len(h.asked), ran, tt.judged, tt.asked, tt.ran)
		}
		if tt.asked > 0 && judged > 0 && !slices.Contains(h.notices, "") {
			t.Errorf("%s: still says that a model is asked while the user is: %q", name, h.notices)
		}
		harmless := slices.ContainsFunc(h.notices, func(s string) bool { return strings.Contains(s, "judged safe") })
		if harmless != (tt.judged > 0 && tt.verdict == hermes.AllowOnce && tt.err == nil) {
			t.Errorf("%s: reported %q", name, h.notices)
		}
	}
}

// TestASafeVerdictEndsTheRefusalsInARow: also one of a model.
func TestASafeVerdictEndsTheRefusalsInARow(t *testing.T) {
	t.Parallel()
	ran, verdict := 0, hermes.Deny
	tools := mustToolbox(t, toolbox.Options{Guardrail: toolbox.Guardrail{Quiet: true}, Approvals: toolbox.Approvals{
		Mode: toolbox.ModeSmart, Breaker: 2,
		Judge: func(context.Context, hermes.SessionRef, hermes.ApprovalRequest) (hermes.Decision, error) {
			return verdict, nil
		},
	}}, terminal(&ran))
	run := func() bool {
		return strings.Contains(tools.Run(t.Context(), command("rm -r a", &host{})).Text, "stop calling tools now")
	}
	first := run()
	verdict = hermes.AllowOnce
	run()
	verdict = hermes.Deny
	second := run()
	if third := run(); first || second || !third || ran != 1 {
		t.Errorf("told to stop: %v, %v, %v; %d calls ran", first, second, third, ran)
	}
}
