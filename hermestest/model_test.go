package hermestest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
)

func TestScriptPlaysItsSteps(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	s := hermestest.NewScript(
		hermestest.Step{Reasoning: "thinking it over", Text: "Grüße, Welt, 日本語 und so weiter"},
		hermestest.CallTool("terminal", `{"command":"ls"}`),
		hermestest.Step{Text: "half", Err: boom},
	)
	m, err := hermes.Collect(s.Stream(t.Context(), &hermes.Request{System: "s"}))
	if err != nil || m.Text() != "Grüße, Welt, 日本語 und so weiter" || m.Finish != hermes.FinishStop || m.Usage == nil {
		t.Errorf("got %+v, %v", m, err)
	}
	m, err = hermes.Collect(s.Stream(t.Context(), &hermes.Request{}))
	want := []hermes.ToolCall{{ID: "call_2_0", Name: "terminal", Arguments: `{"command":"ls"}`}}
	if diff := cmp.Diff(m.Calls, want); diff != "" || err != nil || m.Finish != hermes.FinishCalls {
		t.Errorf("%s\n%v", diff, err)
	}
	if m, err = hermes.Collect(s.Stream(t.Context(), &hermes.Request{})); !errors.Is(err, boom) || m.Text() != "half" || m.Finish != "" {
		t.Errorf("got %+v, %v", m, err)
	}
	if _, err = hermes.Collect(s.Stream(t.Context(), &hermes.Request{})); !errors.Is(err, hermestest.ErrScriptEnded) {
		t.Errorf("error %v, want ErrScriptEnded", err)
	}
	if got := s.Requests(); len(got) != 4 || got[0].System != "s" {
		t.Errorf("%d requests", len(got))
	}
}

func TestScriptHangsUntilCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	s := hermestest.NewScript(hermestest.Step{Text: "x", Hang: true})
	for d, err := range s.Stream(ctx, &hermes.Request{}) {
		if d.Text == "x" {
			cancel(hermes.ErrInterrupted)
			continue
		}
		if !errors.Is(err, hermes.ErrInterrupted) {
			t.Errorf("error %v, want ErrInterrupted", err)
		}
	}
}
