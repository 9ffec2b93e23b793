package app_test

import (
	"strings"
	"testing"

	"hermes"
)

// TestAfterAnUndoAFileIsShownAgain: what was read in the exchange that is gone is no
// longer above, so it must not be called unchanged.
func TestAfterAnUndoAFileIsShownAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.Deny)
	s.write("plan.md", "the plan of today")
	read := `CALL read_file {"path":"plan.md"}`
	for _, again := range []func(){
		func() {
			if err := s.live.Do(t.Context(), hermes.From{}, hermes.Undo{}); err != nil {
				t.Fatal(err)
			}
			s.say(read)
		},
		func() { s.do(hermes.Retry{}, false) },
	} {
		s.say(read)
		again()
		s.model.mu.Lock()
		if got := s.model.read; !strings.Contains(got, "the plan of today") || strings.Contains(got, "unchanged since you read it") {
			t.Errorf("the model reads %s", got)
		}
		s.model.mu.Unlock()
		if err := s.live.Do(t.Context(), hermes.From{}, hermes.Undo{}); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := s.live.State(t.Context()); err != nil || st.Broken != nil && st.Broken.Cause == "" || st.Last != (hermes.Usage{}) {
		t.Errorf("%v; without a cause: %+v; the window is empty: %+v", err, st.Broken, st.Last)
	}
}
