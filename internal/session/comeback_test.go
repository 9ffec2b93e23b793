package session_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
)

// Open waits for the calls that run again: Ctrl+C must end them.
func TestRerunEndsWithTheCaller(t *testing.T) {
	t.Parallel()
	st, _ := crashed(t, hermes.ToolCall{ID: "1", Name: "wait", Arguments: "{}"})
	ctx, interrupt := context.WithCancel(t.Context())
	var ended error
	wait := echo("wait")
	wait.spec.Effect = hermes.EffectNone
	wait.run = func(ctx context.Context, _ *hermes.Call) hermes.Result {
		interrupt()
		<-ctx.Done()
		ended = ctx.Err()
		return hermes.Result{Text: "ended early"}
	}
	h := newFixture(t, hermestest.NewScript(), newToolTable(wait), func(c *session.Config) { c.Store = st })
	var notify []string
	_, _ = h.Open(ctx, session.Open{Run: hermes.RunSpec{Session: "s1"}, Waiting: func(text string) { notify = append(notify, text) }}) // whether it opens is not the question
	if !errors.Is(ended, context.Canceled) {
		t.Errorf("the call ended with %v, not with the interrupt", ended)
	}
	if want := []string{"wait was cut off and runs again; this may take up to 10s"}; !slices.Equal(notify, want) {
		t.Errorf("notified %q, want %q", notify, want)
	}
	if open := hermes.OpenCalls(transcript(t, st, "s1")); len(open) != 0 {
		t.Errorf("calls are left open: %v", open)
	}
}

func transcript(t *testing.T, st hermes.Store, id string) []hermes.Message {
	t.Helper()
	list, err := st.Messages(t.Context(), id, hermes.Range{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
