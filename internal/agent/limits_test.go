package agent_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"hermes"
)

// TestCutAnswerIsContinuedThreeTimes has answers that the output limit cuts again and
// again.
func TestCutAnswerIsContinuedThreeTimes(t *testing.T) {
	t.Parallel()
	var answers [][]hermes.Delta
	for range 9 {
		answers = append(answers, []hermes.Delta{{Text: "more "}, {Finish: hermes.FinishLength}})
	}
	m := says(answers...)
	_, _, done := play(t, t.Context(), turn(m, toolTable{}))
	if len(m.asked) != 4 || done.Steps != 4 {
		t.Errorf("asked %d times, in %d steps", len(m.asked), done.Steps)
	}
}

// halving drops half of the transcript each time, so that there is always something left
// to drop.
type halving struct{ fits int }

func (*halving) Name() string { return "halving" }
func (h *halving) Fit(_ context.Context, list []hermes.Message, p hermes.ContextUsage) (hermes.CompactResult, error) {
	if !p.Overflow {
		return hermes.CompactResult{Messages: list}, nil
	}
	h.fits++
	f := hermes.CompactResult{}
	for i := len(list) / 2; i < len(list); i++ {
		f.Messages, f.From = append(f.Messages, list[i]), append(f.From, hermes.MessageOrigin{Index: i, Same: true})
	}
	return f, nil
}

// TestFullWindowIsShortenedFiveTimes has a service that always says that the request is
// too long.
func TestFullWindowIsShortenedFiveTimes(t *testing.T) {
	t.Parallel()
	m := says()
	m.fail = map[int]error{}
	for i := range 20 {
		m.fail[i] = &hermes.ModelError{Class: hermes.ClassOverflow, Compress: true}
	}
	tr := turn(m, toolTable{})
	tr.Transcript = nil
	for range 1 << 10 {
		tr.Transcript = append(tr.Transcript, hermes.UserText("word"))
	}
	var engine halving
	tr.Context = &engine
	_, _, done := play(t, t.Context(), tr)
	if len(m.asked) != 6 || engine.fits != 5 || done.Outcome != hermes.OutcomeFailed {
		t.Errorf("asked %d times, shortened %d times, %s", len(m.asked), engine.fits, done.Outcome)
	}
}

func TestImagesOfAToolReachTheModel(t *testing.T) {
	t.Parallel()
	look := func(context.Context, hermes.ToolCall) hermes.Result {
		return hermes.Result{Text: "two pictures", Images: []hermes.Image{{URL: "https://a/1.png"}, {MediaType: "image/png", Data: []byte{1}}}}
	}
	m := says(calls(hermes.ToolCall{ID: "1", Name: "look", Arguments: "{}"}), words("ok"))
	_, transcript, _ := play(t, t.Context(), turn(m, toolTable{"look": {hermes.Spec{Name: "look"}, look}}))
	want := []hermes.Part{{Text: "two pictures"}, {Image: &hermes.Image{URL: "https://a/1.png"}}, {Image: &hermes.Image{MediaType: "image/png", Data: []byte{1}}}}
	if diff := cmp.Diff(want, transcript[2].Parts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, m.asked[1].Messages[2].Parts); diff != "" {
		t.Error("sent", diff)
	}
}

// TestCallsAtTheEndOfATurnAreNotLeftOpen has a model that calls a tool in the summary
// that it was asked for without tools.
func TestCallsAtTheEndOfATurnAreNotLeftOpen(t *testing.T) {
	t.Parallel()
	stops := func(context.Context, hermes.ToolCall) hermes.Result {
		return hermes.Result{Text: "no", Failed: true, StopReason: "it keeps failing"}
	}
	call := hermes.ToolCall{ID: "1", Name: "a", Arguments: "{}"}
	m := says(calls(call), calls(call), append(words("well then"), calls(hermes.ToolCall{ID: "2", Name: "a", Arguments: "{}"})...))
	_, transcript, done := play(t, t.Context(), turn(m, toolTable{"a": {run: stops}}))
	last := transcript[len(transcript)-1]
	if len(last.Calls) > 0 || done.Text != "well then" || done.Outcome != hermes.OutcomeToolsStopped {
		t.Errorf("ends with %+v, %+v", last, done)
	}
}

// TestAChildMayTouchWhatItsGrandparentHolds has another call run meanwhile, so that the
// child is not let in because all others wait.
func TestAChildMayTouchWhatItsGrandparentHolds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := busy{strict: true}
		run(t, &b, step{Path: "x", Invoke: []step{{Path: "x", Invoke: []step{{Path: "x"}}}}},
			step{Look: true, Path: "z", Invoke: []step{{Look: true, Path: "z"}, {Look: true, Path: "z"}, {Look: true, Path: "z"}, {Look: true, Path: "z"}}})
		if slices.Index(b.ran, "a/1/1") > slices.Index(b.ran, "b/4") {
			t.Errorf("ran %q", b.ran)
		}
	})
}
