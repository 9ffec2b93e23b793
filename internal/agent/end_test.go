package agent_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"hermes"
)

// TestATurnGoesOnOnce: whoever hears of its end may wish that, hears of the second end too, and the
// answer is what was said last.
func TestATurnGoesOnOnce(t *testing.T) {
	t.Parallel()
	tr := turn(says(words("one"), words("two"), words("never")), nil)
	var heard []string
	tr.End = func(_ context.Context, o hermes.Outcome, list []hermes.Message) string {
		heard = append(heard, string(o)+" "+list[len(list)-1].Text())
		return "check it"
	}
	_, transcript, done := play(t, t.Context(), tr)
	if want := []string{"done one", "done two"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
	if done.Text != "two" || done.Outcome != hermes.OutcomeDone || done.Steps != 2 {
		t.Errorf("done %+v", done)
	}
	if wish := transcript[2]; wish.Text() != "check it" || !wish.Synthetic || wish.Role != hermes.RoleUser {
		t.Errorf("the wish is %+v", wish)
	}
}

// idle is a context engine that changes nothing.
type idle struct{ err error }

func (idle) Name() string { return "idle" }
func (i idle) Fit(context.Context, []hermes.Message, hermes.ContextUsage) (hermes.CompactResult, error) {
	return hermes.CompactResult{Note: "looked at it"}, i.err
}

// TestAnEngineThatChangesNothing returns no transcript: what is sent is all of it. If it fails, the turn does.
func TestAnEngineThatChangesNothing(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	for _, err := range []error{nil, down} {
		m := says(words("hi"))
		tr := turn(m, nil)
		tr.Context = idle{err}
		events, _, done := play(t, t.Context(), tr)
		for _, e := range events {
			if _, ok := e.(hermes.Compacted); ok {
				t.Error("the transcript was shortened")
			}
		}
		if err == nil && (len(m.asked) != 1 || len(m.asked[0].Messages) != 1) || err != nil && len(m.asked) > 0 || (done.Failure == nil) != (err == nil) {
			t.Errorf("with %v: sent %+v, done %+v", err, m.asked, done)
		}
	}
}
