package agent_test

import (
	"context"
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
