package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/agent"
)

// TestAnswerThatStaysCutSaysSo: an answer that is not complete says so at its
// end, wherever the turn ends with it.
func TestAnswerThatStaysCutSaysSo(t *testing.T) {
	t.Parallel()
	piece := func(f hermes.Finish) []hermes.Delta { return []hermes.Delta{{Text: "more "}, {Finish: f}} }
	for name, tt := range map[string]struct {
		model *script
		steps int
		says  string
	}{
		"cut four times": {says(piece(hermes.FinishLength), piece(hermes.FinishLength), piece(hermes.FinishLength), piece(hermes.FinishLength)), 9, "output limit cut it off"},
		"a filter":       {says(piece(hermes.FinishFilter)), 9, "content filter cut it off"},
		"a summary":      {says(piece(hermes.FinishLength)), 0, "output limit cut it off"},
		"complete":       {says(piece(hermes.FinishLength), words("two")), 9, ""},
	} {
		tr := turn(tt.model, toolTable{})
		tr.Budget = agent.NewBudget(tt.steps)
		if tt.steps == 0 {
			tr.Budget = agent.NewBudget(1)
			tr.Budget.Take()
		}
		events, transcript, done := play(t, t.Context(), tr)
		last := transcript[len(transcript)-1].Text()
		if said := strings.Contains(done.Text, "not complete"); said != (tt.says != "") || !strings.Contains(done.Text, tt.says) || strings.Contains(last, "not complete") != said {
			t.Errorf("%s: ends with %q, stored %q", name, done.Text, last)
		}
		var shown strings.Builder
		for _, e := range events {
			if d, ok := e.(hermes.TextDelta); ok {
				shown.WriteString(d.Text)
			}
		}
		if shown.String() != done.Text {
			t.Errorf("%s: shown %q, done %q", name, shown.String(), done.Text)
		}
	}
}

// noRoom is a context engine that has nothing to shorten.
type noRoom struct{ hermes.ContextEngine }

func (noRoom) Fit(_ context.Context, tr []hermes.Message, p hermes.ContextUsage) (hermes.CompactResult, error) {
	if p.Overflow {
		return hermes.CompactResult{}, errors.New("it cannot be shortened further")
	}
	return hermes.CompactResult{Messages: tr}, nil
}

// TestACutAnswerThatHasNoRoomToGoOnIsKept: in a full window, the parts that arrived are
// the answer. A first request without room fails.
func TestACutAnswerThatHasNoRoomToGoOnIsKept(t *testing.T) {
	t.Parallel()
	refused := &hermes.ModelError{Class: hermes.ClassOverflow, Status: 400, Compress: true, Message: "too long"}
	m := says([]hermes.Delta{{Text: "one "}, {Finish: hermes.FinishLength}}, []hermes.Delta{{Text: "two"}, {Finish: hermes.FinishLength}})
	m.fail = map[int]error{2: refused}
	tr := turn(m, toolTable{})
	tr.Context = noRoom{}
	_, transcript, done := play(t, t.Context(), tr)
	last := transcript[len(transcript)-1]
	if want := "one two\n\n[This answer is not complete"; done.Outcome != hermes.OutcomeDone || !strings.HasPrefix(done.Text, want) || last.Role != hermes.RoleAssistant {
		t.Errorf("%s %q, stored last %q", done.Outcome, done.Text, last.Text())
	}
	m = says()
	m.fail = map[int]error{0: refused}
	tr = turn(m, toolTable{})
	tr.Context = noRoom{}
	if _, _, done := play(t, t.Context(), tr); done.Outcome != hermes.OutcomeFailed {
		t.Errorf("the first request: %s", done.Outcome)
	}
}

var endless = &hermes.ModelError{Class: hermes.ClassRepetition, Message: "the answer was stopped because it repeated \"-\\n\" 1000 times"}

func TestAnswerThatRepeatsItselfIsKeptShort(t *testing.T) {
	t.Parallel()
	m := says([]hermes.Delta{{Text: "A list:\n"}, {Text: strings.Repeat("-\n", 1000)}})
	m.fail = map[int]error{0: endless}
	events, transcript, done := play(t, t.Context(), turn(m, toolTable{}))
	last := transcript[len(transcript)-1]
	if done.Outcome != hermes.OutcomeFailed || len(m.asked) != 1 || last.Role != hermes.RoleAssistant || last.Finish != hermes.FinishRepetition ||
		!strings.HasPrefix(last.Text(), "A list:\n-\n") || len(last.Text()) > 200 || !strings.Contains(last.Text(), "repeated the same text without end") {
		t.Errorf("outcome %s after %d requests, stored %q", done.Outcome, len(m.asked), last.Text())
	}
	var shown string
	for _, e := range events {
		switch e := e.(type) {
		case hermes.TextDelta:
			shown += e.Text
		case hermes.Reset:
			shown = ""
		}
	}
	if shown != last.Text() {
		t.Errorf("shown %q, stored %q", shown, last.Text())
	}
}

// TestCallThatRepeatsItselfIsNotRun: nothing of an answer that was stopped is done.
func TestCallThatRepeatsItselfIsNotRun(t *testing.T) {
	t.Parallel()
	call := func(index int, arguments string) hermes.Delta {
		return hermes.Delta{Call: &hermes.CallDelta{Index: index, ID: fmt.Sprint(index), Name: "write", Arguments: arguments}}
	}
	ran := 0
	table := toolTable{"write": {run: func(context.Context, hermes.ToolCall) hermes.Result { ran++; return hermes.Result{Text: "ok"} }}}
	m := says([]hermes.Delta{call(0, `{"a":1}`), call(1, `["0`+strings.Repeat(", 0", 3000))})
	m.fail = map[int]error{0: endless}
	_, transcript, done := play(t, t.Context(), turn(m, table))
	if ran != 0 || done.Outcome != hermes.OutcomeFailed || len(transcript) != 2 || len(transcript[1].Calls) > 0 {
		t.Errorf("ran %d calls, %s, %v", ran, done.Outcome, texts(transcript))
	}
}
