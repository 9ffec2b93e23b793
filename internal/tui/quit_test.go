package tui

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
)

// TestQuittingLeavesTheAnswerOnTheScreen, however much of it has come: as text in the
// scrollback, once, without the rest of the live region.
func TestQuittingLeavesTheAnswerOnTheScreen(t *testing.T) {
	t.Parallel()
	started := []any{hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, hermes.StepStarted{Step: 1, Model: "maker/model-1"}}
	for name, tt := range map[string]struct {
		events []any
		want   string
	}{
		"the turn runs":            {[]any{hermes.TextDelta{Text: "First.\n\nHalf of"}}, "› go\n\nFirst.\n\nHalf of"},
		"streamed, not stored":     {[]any{hermes.TextDelta{Text: "All of it."}}, "› go\n\nAll of it."},
		"stored, not streamed":     {[]any{answer("All of it.")}, "› go\n\nAll of it."},
		"stored, partly streamed":  {[]any{hermes.TextDelta{Text: "All"}, answer("All of it.")}, "› go\n\nAll of it."},
		"stored, the turn runs":    {[]any{hermes.TextDelta{Text: "All of it."}, answer("All of it.")}, "› go\n\nAll of it."},
		"a call runs":              {[]any{hermes.TextDelta{Text: "I look."}, hermes.CallStarted{Call: call("1", "read_file")}}, "› go\n\nI look."},
		"only thinking":            {[]any{hermes.ReasoningDelta{Text: "Is it so?"}}, "› go\n\nIs it so?"},
		"nothing has come":         {nil, "› go"},
		"the session is not there": {[]any{hermes.TextDelta{Text: "Half of"}, lostMsg{hermes.ErrClosed}}, "› go\n\nThe session was closed; opening it again…\n\nHalf of"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := openRig(t, 80, 24)
			r.send(started...).send(tt.events...)
			r.keys("<ctrl+d>").wantDo(quitDo{})
			d := drawing{screen: r.s}
			r.s.entered = true
			if err := d.end(r.m); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, strings.Trim(r.v.text(), "\n")); diff != "" {
				t.Errorf("left behind (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLeavingASessionLeavesItsAnswerOnTheScreen above what comes next.
func TestLeavingASessionLeavesItsAnswerOnTheScreen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		next any
		want string
	}{
		{done(hermes.CommandDone{Action: hermes.ActionNew}), "All of it.\n\nNew session"},
		{goneMsg{errors.New("the database is damaged")}, "All of it.\n\nthe database is damaged"},
	} {
		for _, events := range [][]any{{hermes.TextDelta{Text: "All of it."}}, {answer("All of it.")}} {
			r := openRig(t, 80, 24)
			r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, hermes.StepStarted{Step: 1})
			r.send(events...).send(tt.next).shows(tt.want)
		}
	}
}
