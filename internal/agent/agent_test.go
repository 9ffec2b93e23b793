package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/agent"
)

// script is a model that answers with one list of deltas after another and
// records the requests.
type script struct {
	mu      sync.Mutex
	answers [][]hermes.Delta
	asked   []hermes.Request
	fail    map[int]error // by call, from 0; yielded after its deltas
	block   int           // the call that waits for ctx; -1 for none
}

func says(answers ...[]hermes.Delta) *script { return &script{answers: answers, block: -1} }

func (s *script) ID() string { return "test:script" }

func (s *script) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		s.mu.Lock()
		n := len(s.asked)
		copied := *r
		copied.Messages = append([]hermes.Message(nil), r.Messages...)
		s.asked = append(s.asked, copied)
		s.mu.Unlock()
		if n < len(s.answers) {
			for _, d := range s.answers[n] {
				if !yield(d, nil) {
					return
				}
			}
		}
		if n == s.block {
			<-ctx.Done()
			yield(hermes.Delta{}, ctx.Err())
			return
		}
		if err := s.fail[n]; err != nil {
			yield(hermes.Delta{}, err)
		}
	}
}

func words(text string) []hermes.Delta {
	return []hermes.Delta{{Text: text}, {Usage: &hermes.Usage{Input: 10, Output: 2, Calls: 1}}, {Finish: hermes.FinishStop}}
}

func calls(list ...hermes.ToolCall) []hermes.Delta {
	var out []hermes.Delta
	for i, c := range list {
		out = append(out, hermes.Delta{Call: &hermes.CallDelta{Index: i, ID: c.ID, Name: c.Name, Arguments: c.Arguments}})
	}
	return append(out, hermes.Delta{Finish: hermes.FinishCalls})
}

// toolTable is a set of tools whose runs are funcs.
type toolTable map[string]struct {
	spec hermes.Spec
	run  func(ctx context.Context, c hermes.ToolCall) hermes.Result
}

func (b toolTable) Spec(name string) (hermes.Spec, bool) { t, ok := b[name]; return t.spec, ok }
func (b toolTable) Preview(c hermes.ToolCall) string     { return c.Arguments }
func (b toolTable) Canonical(c hermes.ToolCall) string {
	return strings.ReplaceAll(c.Arguments, `,"unknown":1`, "")
}
func (b toolTable) Specs() []hermes.Spec { return nil }
func (b toolTable) Run(ctx context.Context, made *hermes.Call) hermes.Result {
	c := hermes.ToolCall{ID: made.ID, Name: made.Name, Arguments: string(made.Arguments)}
	t, ok := b[c.Name]
	if !ok {
		return hermes.Result{Text: `{"error":"unknown tool"}`, Failed: true}
	}
	return t.run(ctx, c)
}

func echo(ctx context.Context, c hermes.ToolCall) hermes.Result {
	return hermes.Result{Text: "did " + c.Arguments}
}

func turn(m hermes.Model, b toolTable) agent.Turn {
	return agent.Turn{Model: m, Tools: b, Number: 1, Transcript: []hermes.Message{hermes.UserText("go")}}
}

// play runs a turn and returns its events, its transcript and its TurnDone.
func play(t *testing.T, ctx context.Context, tr agent.Turn) ([]hermes.Event, []hermes.Message, hermes.TurnDone) {
	t.Helper()
	var events []hermes.Event
	transcript := append([]hermes.Message(nil), tr.Transcript...)
	var done hermes.TurnDone
	for e, err := range agent.Run(ctx, tr) {
		events = append(events, e)
		switch e := e.(type) {
		case hermes.Appended:
			transcript = append(transcript, e.Message)
		case hermes.TurnDone:
			done = e
			if (err == nil) != (e.Failure == nil) || err != nil && err.Error() != e.Failure.Error() {
				t.Errorf("the last event's error is %v, TurnDone says %v", err, e.Err())
			}
		}
	}
	if open := hermes.OpenCalls(transcript); len(open) > 0 {
		t.Errorf("open calls at the end: %v", open)
	}
	return events, transcript, done
}

func texts(transcript []hermes.Message) []string {
	var out []string
	for _, m := range transcript {
		out = append(out, string(m.Role)+": "+m.Text())
	}
	return out
}

func TestTurnRunsCallsUntilWords(t *testing.T) {
	t.Parallel()
	m := says(calls(hermes.ToolCall{ID: "1", Name: "echo", Arguments: `{"a":1}`}), words("done"))
	b := toolTable{"echo": {hermes.Spec{Name: "echo"}, echo}}
	_, transcript, done := play(t, t.Context(), turn(m, b))
	want := []string{"user: go", "assistant: ", `tool: did {"a":1}`, "assistant: done"}
	if diff := cmp.Diff(want, texts(transcript)); diff != "" {
		t.Error(diff)
	}
	if done.Outcome != hermes.OutcomeDone || done.Text != "done" || done.Steps != 2 {
		t.Errorf("done = %+v", done)
	}
	if got := texts(m.asked[1].Messages); !cmp.Equal(got, want[:3]) {
		t.Errorf("the second request has %v", got)
	}
}

func TestTurnGoesOnWithCallsThatAreOpen(t *testing.T) {
	t.Parallel()
	m := says(words("done"))
	b := toolTable{"echo": {hermes.Spec{Name: "echo"}, echo}}
	tr := turn(m, b)
	list := []hermes.ToolCall{{ID: "1", Name: "echo", Arguments: `1`}, {ID: "2", Name: "echo", Arguments: `2`}, {ID: "3", Name: "echo", Arguments: `3`}}
	tr.Transcript = append(tr.Transcript, hermes.Message{Role: hermes.RoleAssistant, Calls: list},
		hermes.Message{Role: hermes.RoleTool, CallID: "1", Parts: []hermes.Part{{Text: "from before"}}})
	_, transcript, done := play(t, t.Context(), tr)
	want := []string{"user: go", "assistant: ", "tool: from before", "tool: did 2", "tool: did 3", "assistant: done"}
	if diff := cmp.Diff(want, texts(transcript)); diff != "" {
		t.Error(diff)
	}
	if len(m.asked) != 1 || done.Steps != 1 {
		t.Errorf("the model was asked %d times, in %d steps", len(m.asked), done.Steps)
	}
}

func TestUnknownToolIsReportedToTheModel(t *testing.T) {
	t.Parallel()
	m := says(calls(hermes.ToolCall{ID: "1", Name: "nope", Arguments: `{}`}), words("sorry"))
	_, transcript, done := play(t, t.Context(), turn(m, toolTable{}))
	if !strings.Contains(transcript[2].Text(), "unknown tool") || done.Outcome != hermes.OutcomeDone {
		t.Errorf("transcript %v, done %+v", texts(transcript), done)
	}
}

func TestBrokenArgumentsAreNotRun(t *testing.T) {
	t.Parallel()
	ran := false
	b := toolTable{"write": {hermes.Spec{Name: "write"}, func(context.Context, hermes.ToolCall) hermes.Result {
		ran = true
		return hermes.Result{}
	}}}
	for name, arguments := range map[string]string{
		"cut in a string": `{"path":"a","content":"half of`,
		"not an object":   `[1,2]`,
		"prose":           `I will write the file`,
	} {
		m := says(calls(hermes.ToolCall{ID: "1", Name: "write", Arguments: arguments}), words("ok"))
		_, transcript, _ := play(t, t.Context(), turn(m, b))
		if ran {
			t.Fatalf("%s: the call ran", name)
		}
		if got := transcript[1].Calls[0].Arguments; got != "{}" {
			t.Errorf("%s: stored arguments %q", name, got)
		}
		if !transcript[2].Failed || !strings.Contains(transcript[2].Text(), "again") {
			t.Errorf("%s: result %q", name, transcript[2].Text())
		}
	}
}

func TestCallsWithoutOrWithEqualIDsGetTheirOwn(t *testing.T) {
	t.Parallel()
	m := says(calls(
		hermes.ToolCall{Name: "echo", Arguments: `{"n":1}`},
		hermes.ToolCall{ID: "x", Name: "echo", Arguments: `{"n":2}`},
		hermes.ToolCall{ID: "x", Name: "echo", Arguments: `{"n":3}`},
		hermes.ToolCall{ID: "x/1", Name: "echo", Arguments: `{"n":4}`}, // as if x had invoked it
		hermes.ToolCall{ID: "y/1", Name: "echo", Arguments: `{"n":5}`},
		hermes.ToolCall{ID: "y", Name: "echo", Arguments: `{"n":6}`},
	), words("ok"))
	_, transcript, _ := play(t, t.Context(), turn(m, toolTable{"echo": {hermes.Spec{Name: "echo"}, echo}}))
	seen := map[string]bool{}
	for i, c := range transcript[1].Calls {
		if c.ID == "" || seen[c.ID] || c.ID == "x/1" || c.ID == "y" {
			t.Errorf("call %d has id %q", i, c.ID)
		}
		seen[c.ID] = true
		if transcript[2+i].CallID != c.ID {
			t.Errorf("result %d is for %q, want %q", i, transcript[2+i].CallID, c.ID)
		}
	}
}

// crowd counts how many calls run at the same time, in a bubble of synctest.
type crowd struct {
	mu            sync.Mutex
	running, most int
}

// stay is one call that takes a second of the bubble's time.
func (c *crowd) stay() {
	c.mu.Lock()
	c.running++
	c.most = max(c.most, c.running)
	c.mu.Unlock()
	time.Sleep(time.Second)
	c.mu.Lock()
	c.running--
	c.mu.Unlock()
}

func TestBatchRunsSafeCallsTogetherAndKeepsTheOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, batchTogether)
}

func batchTogether(t *testing.T) {
	var together crowd
	run := func(_ context.Context, call hermes.ToolCall) hermes.Result {
		together.stay()
		return hermes.Result{Text: call.Arguments}
	}
	b := toolTable{"look": {hermes.Spec{Name: "look", Mode: hermes.ModeParallel}, run}}
	m := says(calls(
		hermes.ToolCall{ID: "1", Name: "look", Arguments: `{"n":1}`},
		hermes.ToolCall{ID: "2", Name: "look", Arguments: `{"n":2}`},
		hermes.ToolCall{ID: "3", Name: "look", Arguments: `{"n":3}`},
	), words("ok"))
	_, transcript, _ := play(t, t.Context(), turn(m, b))
	if together.most != 3 {
		t.Errorf("at most %d calls ran together, want 3", together.most)
	}
	want := []string{`tool: {"n":1}`, `tool: {"n":2}`, `tool: {"n":3}`}
	if diff := cmp.Diff(want, texts(transcript[2:5])); diff != "" {
		t.Error(diff)
	}
}

func TestWhatMayRunTogether(t *testing.T) {
	t.Parallel()
	paths := func(raw json.RawMessage) []string {
		var in struct{ Path string }
		_ = json.Unmarshal(raw, &in)
		return []string{in.Path}
	}
	specs := map[string]hermes.Spec{
		"read":    {Mode: hermes.ModeParallel, Effect: hermes.EffectNone, Paths: paths},
		"write":   {Mode: hermes.ModePaths, Paths: paths},
		"shell":   {ReadsOnly: func(raw json.RawMessage) bool { return strings.Contains(string(raw), "look") }},
		"clarify": {Mode: hermes.ModeExclusive},
	}
	for name, tt := range map[string]struct {
		calls []string // tool and path
		most  int
	}{
		"reads of one file":           {[]string{"read a", "read a"}, 2},
		"read and write apart":        {[]string{"read a", "write b"}, 2},
		"read and write of one file":  {[]string{"read a", "write a"}, 1},
		"a folder and what is in it":  {[]string{"read d", "write d/f"}, 1},
		"names that only begin alike": {[]string{"write d", "write dd"}, 2},
		"spelled in another way":      {[]string{"write d/../a", "write ./a"}, 1},
		"relative and absolute":       {[]string{"write a.go", "write /src/a.go"}, 1},
		"a shell command runs alone":  {[]string{"read a", "shell x", "read b"}, 1},
		"never with a question":       {[]string{"read a", "read b", "clarify x"}, 1},
		"commands that only look":     {[]string{"shell look", "shell look", "read a"}, 3},
		"reading during a write":      {[]string{"shell look", "write a"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var together crowd
				run := func(context.Context, hermes.ToolCall) hermes.Result {
					together.stay()
					return hermes.Result{Text: "ok"}
				}
				b := toolTable{}
				var list []hermes.ToolCall
				for i, c := range tt.calls {
					tool, path, _ := strings.Cut(c, " ")
					sp := specs[tool]
					sp.Name = tool
					b[tool] = struct {
						spec hermes.Spec
						run  func(context.Context, hermes.ToolCall) hermes.Result
					}{sp, run}
					arguments, _ := json.Marshal(map[string]string{"path": path})
					list = append(list, hermes.ToolCall{ID: string(rune('a' + i)), Name: tool, Arguments: string(arguments)})
				}
				play(t, t.Context(), turn(says(calls(list...), words("ok")), b))
				if together.most != tt.most {
					t.Errorf("%d ran together, want %d", together.most, tt.most)
				}
			})
		})
	}
}

func TestInterruptLeavesNoOpenCall(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	run := func(ctx context.Context, c hermes.ToolCall) hermes.Result {
		cancel(hermes.ErrInterrupted)
		<-ctx.Done()
		return hermes.Result{Text: "interrupted", Failed: true}
	}
	b := toolTable{"wait": {hermes.Spec{Name: "wait"}, run}}
	m := says(calls(hermes.ToolCall{ID: "1", Name: "wait"}, hermes.ToolCall{ID: "2", Name: "wait"}), words("never"))
	_, transcript, done := play(t, ctx, turn(m, b))
	if done.Outcome != hermes.OutcomeInterrupted || done.Err() != nil {
		t.Errorf("done = %+v", done)
	}
	if len(m.asked) != 1 {
		t.Errorf("the model was asked %d times", len(m.asked))
	}
	if got := transcript[3].Text(); !strings.Contains(got, "interrupted") {
		t.Errorf("the call that had not begun says %q", got)
	}
}

func TestInterruptKeepsWhatWasSaid(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	m := says([]hermes.Delta{{Text: "half an ans"}})
	m.block = 0
	var last hermes.Message
	for e := range agent.Run(ctx, turn(m, toolTable{})) {
		switch e := e.(type) {
		case hermes.TextDelta:
			cancel(hermes.ErrInterrupted)
		case hermes.Appended:
			last = e.Message
		}
	}
	if !strings.HasPrefix(last.Text(), "half an ans") || !strings.Contains(last.Text(), "interrupted") {
		t.Errorf("kept %q", last.Text())
	}
}

func TestSteerGoesUnderTheLastResult(t *testing.T) {
	t.Parallel()
	notes := []string{"use tabs", ""}
	m := says(
		calls(hermes.ToolCall{ID: "1", Name: "echo"}, hermes.ToolCall{ID: "2", Name: "echo"}),
		calls(hermes.ToolCall{ID: "3", Name: "echo"}),
		words("ok"))
	tr := turn(m, toolTable{"echo": {hermes.Spec{Name: "echo"}, echo}})
	tr.Steer = func() string { n := notes[0]; notes = notes[1:]; return n }
	_, transcript, _ := play(t, t.Context(), tr)
	for i, m := range transcript {
		has := strings.Contains(m.Text(), "use tabs")
		if has != (i == 3) {
			t.Errorf("message %d %q", i, m.Text())
		}
	}
}

func TestBudgetEndsInWords(t *testing.T) {
	t.Parallel()
	call := calls(hermes.ToolCall{Name: "echo"})
	b := toolTable{"echo": {hermes.Spec{Name: "echo"}, echo}}
	t.Run("the grace call answers", func(t *testing.T) {
		m := says(call, call, words("so far"))
		tr := turn(m, b)
		tr.Budget = agent.NewBudget(2)
		_, _, done := play(t, t.Context(), tr)
		if done.Outcome != hermes.OutcomeBudget || done.Text != "so far" {
			t.Errorf("done = %+v", done)
		}
		for i, r := range m.asked {
			if r.WordsOnly != (i == 2) {
				t.Errorf("request %d: words only is %v", i, r.WordsOnly)
			}
			if warned := strings.Contains(strings.Join(texts(r.Messages), "\n"), "limit"); warned != (i == 2) {
				t.Errorf("request %d mentions the limit: %v", i, warned)
			}
		}
	})
	t.Run("a model that still calls tools is asked for a summary", func(t *testing.T) {
		m := says(call, call, call, words("summary"))
		tr := turn(m, b)
		tr.Budget = agent.NewBudget(2)
		_, _, done := play(t, t.Context(), tr)
		if done.Text != "summary" || len(m.asked) != 4 {
			t.Errorf("done = %+v after %d requests", done, len(m.asked))
		}
	})
	t.Run("a failed summary is the answer", func(t *testing.T) {
		m := says(call, nil)
		m.fail = map[int]error{1: errors.New("gone")}
		tr := turn(m, b)
		tr.Budget = agent.NewBudget(1)
		_, _, done := play(t, t.Context(), tr)
		if done.Outcome != hermes.OutcomeFailed || done.Err() == nil {
			t.Errorf("done = %+v", done)
		}
	})
}

func TestRefundStepGivesTheStepBack(t *testing.T) {
	t.Parallel()
	free := func(context.Context, hermes.ToolCall) hermes.Result {
		return hermes.Result{Text: "ok", RefundStep: true}
	}
	b := toolTable{"code": {hermes.Spec{Name: "code"}, free}, "echo": {hermes.Spec{Name: "echo"}, echo}}
	code := calls(hermes.ToolCall{Name: "code"})
	m := says(code, code, code, words("ok"))
	tr := turn(m, b)
	tr.Budget = agent.NewBudget(1)
	if _, _, done := play(t, t.Context(), tr); done.Outcome != hermes.OutcomeDone {
		t.Errorf("done = %+v", done)
	}
	m = says(calls(hermes.ToolCall{ID: "a", Name: "code"}, hermes.ToolCall{ID: "b", Name: "echo"}), words("ok"))
	tr = turn(m, b)
	tr.Budget = agent.NewBudget(1)
	if _, _, done := play(t, t.Context(), tr); done.Outcome != hermes.OutcomeBudget {
		t.Errorf("a mixed batch was refunded: %+v", done)
	}
}

func TestEmptyAnswersEndTheTurn(t *testing.T) {
	t.Parallel()
	m := says([]hermes.Delta{{Reasoning: "hm"}, {Finish: hermes.FinishStop}}, words("never asked for"))
	_, transcript, done := play(t, t.Context(), turn(m, toolTable{}))
	if done.Outcome != hermes.OutcomeFailed || len(m.asked) != 1 || len(transcript) != 1 {
		t.Errorf("done %+v after %d requests, transcript %v", done, len(m.asked), texts(transcript))
	}
}

// TestWhatFailedCallsCostIsCounted checks that the sum equals the service's.
func TestWhatFailedCallsCostIsCounted(t *testing.T) {
	t.Parallel()
	m := says([]hermes.Delta{{Text: "half"}, {Usage: &hermes.Usage{Input: 7, Output: 1, Calls: 1}}})
	m.fail = map[int]error{0: &hermes.ModelError{Class: hermes.ClassTimeout}}
	events, _, done := play(t, t.Context(), turn(m, toolTable{}))
	if done.Usage != (hermes.Usage{Input: 7, Output: 1, Calls: 1}) {
		t.Errorf("usage %+v", done.Usage)
	}
	if !slices.Contains(events, hermes.Event(hermes.UsageUpdated{Step: done.Usage, Turn: done.Usage, Model: "test:script"})) {
		t.Error("the usage was not reported")
	}
}

func TestAnswerCutByTheLimitIsContinued(t *testing.T) {
	t.Parallel()
	cut := []hermes.Delta{{Text: "one, "}, {Finish: hermes.FinishLength}}
	_, transcript, done := play(t, t.Context(), turn(says(cut, words("two")), toolTable{}))
	if done.Text != "one, two" {
		t.Errorf("text %q", done.Text)
	}
	if !transcript[2].Synthetic || transcript[2].Role != hermes.RoleUser {
		t.Errorf("transcript %v", texts(transcript))
	}
}

// TestCallCutByTheLimitIsRefused ends an answer in the middle of a call. What is
// left of it may be valid after a repair and mean something else.
func TestCallCutByTheLimitIsRefused(t *testing.T) {
	t.Parallel()
	for arguments, runs := range map[string]bool{
		`{"path":"a","lines":1`:     false, // of 12
		`{"path":"a","content":"x"`: false,
		`{"paths":["/tmp/a"`:        false,
		`{"path":"a","lines":12}`:   true,
		`{"path":"a",}`:             false,
		``:                          false,
		`{"recursive":tru`:          false,
		`{"path":"a"} {"path":"b`:   false,
		`null`:                      false,
	} {
		answer := calls(hermes.ToolCall{ID: "a", Name: "echo", Arguments: arguments})
		answer[len(answer)-1] = hermes.Delta{Finish: hermes.FinishLength}
		ran := false
		b := toolTable{"echo": {run: func(context.Context, hermes.ToolCall) hermes.Result { ran = true; return hermes.Result{Text: "did"} }}}
		_, transcript, _ := play(t, t.Context(), turn(says(answer, words("ok")), b))
		if ran != runs {
			t.Errorf("%s: ran %v", arguments, ran)
		}
		if text := transcript[2].Text(); !runs && !strings.Contains(text, "cut off by the output limit") {
			t.Errorf("%s: the model is told %s", arguments, text)
		}
	}
}

// TestCallCutByAFilterIsRefused has a service stop the answer for what is in it.
func TestCallCutByAFilterIsRefused(t *testing.T) {
	t.Parallel()
	answer := calls(hermes.ToolCall{ID: "a", Name: "echo", Arguments: `{"path":"a","lines":1`})
	answer[len(answer)-1] = hermes.Delta{Finish: hermes.FinishFilter}
	ran := false
	b := toolTable{"echo": {run: func(context.Context, hermes.ToolCall) hermes.Result { ran = true; return hermes.Result{Text: "did"} }}}
	_, transcript, _ := play(t, t.Context(), turn(says(answer, words("ok")), b))
	if text := transcript[2].Text(); ran || !strings.Contains(text, "cut off by a content filter") {
		t.Errorf("ran %v, the model is told %s", ran, text)
	}
}

// TestOpenCallsOfACutAnswerAreRefused goes on with calls that were stored, where
// nothing says any more which of them were repaired. A question is asked again.
func TestOpenCallsOfACutAnswerAreRefused(t *testing.T) {
	t.Parallel()
	var ran []string
	run := func(_ context.Context, c hermes.ToolCall) hermes.Result {
		ran = append(ran, c.Name)
		return hermes.Result{Text: "did"}
	}
	tr := turn(says(words("ok")), toolTable{"echo": {run: run}, "clarify": {spec: hermes.Spec{Name: "clarify", Effect: hermes.EffectAsk}, run: run}})
	tr.Transcript = append(tr.Transcript, hermes.Message{Role: hermes.RoleAssistant, Finish: hermes.FinishLength, Calls: []hermes.ToolCall{
		{ID: "1", Name: "clarify", Arguments: `{}`}, {ID: "2", Name: "echo", Arguments: `{"command":"rm -r /tmp/a"}`},
	}})
	_, transcript, _ := play(t, t.Context(), tr)
	if !slices.Equal(ran, []string{"clarify"}) {
		t.Errorf("ran %v", ran)
	}
	if text := transcript[3].Text(); !strings.Contains(text, "cut off by the output limit") {
		t.Errorf("the model is told %s", text)
	}
}

// TestCallsAreStoredInCanonicalForm has the transcript, the journal and the tool
// see the same bytes.
func TestCallsAreStoredInCanonicalForm(t *testing.T) {
	t.Parallel()
	var ran string
	b := toolTable{"echo": {run: func(_ context.Context, c hermes.ToolCall) hermes.Result {
		ran = c.Arguments
		return hermes.Result{Text: "did"}
	}}}
	_, transcript, _ := play(t, t.Context(), turn(says(calls(hermes.ToolCall{ID: "a", Name: "echo", Arguments: `{"path":"a","unknown":1}`}), words("ok")), b))
	if want := `{"path":"a"}`; ran != want || transcript[1].Calls[0].Arguments != want {
		t.Errorf("ran %s, stored %s, want %s", ran, transcript[1].Calls[0].Arguments, want)
	}
}

func TestFailedCallNeverBecomesAnAnswer(t *testing.T) {
	t.Parallel()
	m := says([]hermes.Delta{{Text: "half"}})
	m.fail = map[int]error{0: &hermes.ModelError{Class: hermes.ClassServerError, Provider: "p", Message: "cut"}}
	_, transcript, done := play(t, t.Context(), turn(m, toolTable{}))
	if done.Outcome != hermes.OutcomeFailed || len(transcript) != 1 {
		t.Errorf("done %+v, transcript %v", done, texts(transcript))
	}
}

// shorter is a context engine that keeps the last message when it must.
type shorter struct{ overflows int }

func (*shorter) Name() string { return "shorter" }
func (s *shorter) Fit(_ context.Context, tr []hermes.Message, p hermes.ContextUsage) (hermes.CompactResult, error) {
	if !p.Overflow {
		return hermes.CompactResult{Messages: tr}, nil
	}
	s.overflows++
	last := len(tr) - 1
	return hermes.CompactResult{Messages: tr[last:], From: []hermes.MessageOrigin{{Index: last, Same: true}}, Note: "shorter"}, nil
}

func TestOverflowIsFittedAgainOnce(t *testing.T) {
	t.Parallel()
	over := &hermes.ModelError{Class: hermes.ClassOverflow, Compress: true}
	m := says(nil, words("ok"))
	m.fail = map[int]error{0: over}
	e := &shorter{}
	tr := turn(m, toolTable{})
	tr.Context = e
	if _, _, done := play(t, t.Context(), tr); done.Text != "ok" || e.overflows != 1 {
		t.Errorf("done %+v, %d overflows", done, e.overflows)
	}
	m = says(nil, nil)
	m.fail = map[int]error{0: over, 1: over}
	tr = turn(m, toolTable{})
	tr.Context = &shorter{}
	if _, _, done := play(t, t.Context(), tr); done.Outcome != hermes.OutcomeFailed || len(m.asked) != 2 {
		t.Errorf("done %+v after %d requests", done, len(m.asked))
	}
}

// stuck is a context engine with nothing left to shorten.
type stuck struct{}

func (stuck) Name() string { return "stuck" }
func (stuck) Fit(_ context.Context, tr []hermes.Message, p hermes.ContextUsage) (hermes.CompactResult, error) {
	if p.Overflow {
		return hermes.CompactResult{}, errors.New("nothing left to shorten")
	}
	return hermes.CompactResult{Messages: tr}, nil
}

func TestGuessedOverflowIsRetried(t *testing.T) {
	t.Parallel()
	for retry, want := range map[bool]hermes.Outcome{true: hermes.OutcomeDone, false: hermes.OutcomeFailed} {
		m := says(nil, words("ok"))
		m.fail = map[int]error{0: &hermes.ModelError{Class: hermes.ClassOverflow, Compress: true, Retry: retry}}
		tr := turn(m, toolTable{})
		tr.Context = stuck{}
		if _, _, done := play(t, t.Context(), tr); done.Outcome != want {
			t.Errorf("guessed %v: %+v", retry, done)
		}
	}
}

func TestConsumerThatCannotStoreEndsTheTurn(t *testing.T) {
	t.Parallel()
	ran := false
	b := toolTable{"echo": {hermes.Spec{Name: "echo"}, func(context.Context, hermes.ToolCall) hermes.Result {
		ran = true
		return hermes.Result{}
	}}}
	m := says(calls(hermes.ToolCall{ID: "1", Name: "echo"}), words("never"))
	for e := range agent.Run(t.Context(), turn(m, b)) {
		if _, ok := e.(hermes.Appended); ok {
			break
		}
	}
	if ran || len(m.asked) != 1 {
		t.Errorf("went on after the consumer stopped: ran %v, asked %d", ran, len(m.asked))
	}
}

func TestThinkingInTheTextIsNotShown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ in, visible, thinking string }{
		"a block":              {"<think>plan</think>\nHello", "Hello", "plan"},
		"any case":             {"<THINK>plan</Think>Hello", "Hello", "plan"},
		"never closed":         {"Hi\n<thinking>plan", "Hi\n", "plan"},
		"a mention in prose":   {"Use the <think> tag", "Use the <think> tag", ""},
		"something else":       {"a <table> b", "a <table> b", ""},
		"a block after a line": {"One\n<think>x</think>Two", "One\nTwo", "x"},
		"a tag left open":      {"<thi", "<thi", ""},
		"only the end":         {"I greet.\n</think>\n\nHello", "Hello", "I greet.\n"},
		"nested":               {"One\n<think>a<think>b</think>c</think>d", "One\nd", "a<think>bc"},
		"inline":               {"One <think>a</think> two", "One  two", "a"},
		"in a code block":      {"```\na\n</think>\n```", "```\na\n</think>\n```", ""},
	} {
		for size := 1; size <= len(tt.in); size++ {
			var answer []hermes.Delta
			for rest := tt.in; rest != ""; {
				n := min(size, len(rest))
				answer = append(answer, hermes.Delta{Text: rest[:n]})
				rest = rest[n:]
			}
			var visible, thinking string
			for e := range agent.Run(t.Context(), turn(says(answer), toolTable{})) {
				switch e := e.(type) {
				case hermes.TextDelta:
					visible += e.Text
				case hermes.ReasoningDelta:
					thinking += e.Text
				case hermes.Reset:
					visible, thinking = "", ""
				case hermes.Appended:
					if got, want := e.Message.Text(), visible; got != want {
						t.Errorf("%s in pieces of %d: stored %q, shown %q", name, size, got, want)
					}
				}
			}
			if visible != tt.visible || thinking != tt.thinking {
				t.Errorf("%s in pieces of %d: visible %q, thinking %q", name, size, visible, thinking)
			}
		}
	}
}

// TestHalfMarkedThinkingIsWithdrawn: what a service marked as thinking and what
// the text marks are stored together, and once if they are the same.
func TestHalfMarkedThinkingIsWithdrawn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer   []hermes.Delta
		thinking string
	}{
		"half marked": {[]hermes.Delta{{Text: "I "}, {Text: "greet."}, {Text: "</think>"}, {Text: "\nHello"}}, "I greet."},
		"both":        {[]hermes.Delta{{Reasoning: "First. "}, {Text: "I greet.\n"}, {Text: "</think>Hello"}}, "First. I greet.\n"},
		"twice":       {[]hermes.Delta{{Reasoning: "I greet."}, {Text: "I greet.\n"}, {Text: "</think>Hello"}}, "I greet."},
	} {
		_, transcript, done := play(t, t.Context(), turn(says(tt.answer), toolTable{}))
		m := transcript[len(transcript)-1]
		if m.Text() != "Hello" || done.Text != "Hello" || len(m.Reasoning) != 1 || m.Reasoning[0].Text != tt.thinking {
			t.Errorf("%s: %q, thinking %q", name, m.Text(), m.Reasoning)
		}
	}
	call := hermes.CallDelta{ID: "1", Name: "look", Arguments: "{}"}
	ran := 0
	_, transcript, _ := play(t, t.Context(), turn(says([]hermes.Delta{{Call: &call}, {Text: "hm"}, {Text: "</think>"}, {Finish: hermes.FinishCalls}}, []hermes.Delta{{Text: "done"}}),
		toolTable{"look": {run: func(context.Context, hermes.ToolCall) hermes.Result { ran++; return hermes.Result{Text: "seen"} }}}))
	if ran != 1 || transcript[1].Text() != "" || len(transcript[1].Calls) != 1 {
		t.Errorf("the call ran %d times: %v", ran, texts(transcript))
	}
}

func TestResetDiscardsTheText(t *testing.T) {
	t.Parallel()
	answer := []hermes.Delta{{Text: "wrong "}, {Reset: "the connection broke"}, {Text: "right"}, {Finish: hermes.FinishStop}}
	events, transcript, _ := play(t, t.Context(), turn(says(answer), toolTable{}))
	if transcript[1].Text() != "right" {
		t.Errorf("transcript %v", texts(transcript))
	}
	reset := false
	for _, e := range events {
		if r, ok := e.(hermes.Reset); ok {
			reset = r.Reason == "the connection broke"
		}
	}
	if !reset {
		t.Error("no Reset event")
	}
}

func TestWarningsOfTheModelAreShown(t *testing.T) {
	t.Parallel()
	events, _, done := play(t, t.Context(), turn(says(append([]hermes.Delta{{Warning: "no tools"}}, words("ok")...)), toolTable{}))
	shown := slices.ContainsFunc(events, func(e hermes.Event) bool { return e == hermes.Notice{Level: hermes.NoticeWarning, Text: "no tools"} })
	if !shown || done.Text != "ok" {
		t.Errorf("shown %v, text %q", shown, done.Text)
	}
}

// finisher is a toolTable that processes whole batches.
type finisher struct {
	toolTable
	seen [][]string
}

func (s *finisher) FinishBatch(_ context.Context, calls []*hermes.Call, results []*hermes.Result) {
	var texts []string
	for i, r := range results {
		texts = append(texts, calls[i].ID+" "+r.Text)
		r.Text = "finished " + calls[i].ID
	}
	s.seen = append(s.seen, texts)
}

func TestBatchIsFinishedBeforeItIsAppended(t *testing.T) {
	t.Parallel()
	tools := &finisher{toolTable: toolTable{"a": {run: echo}}}
	m := says(calls(hermes.ToolCall{ID: "1", Name: "a", Arguments: "{}"}, hermes.ToolCall{ID: "2", Name: "nope", Arguments: "{}"}), words("done"))
	tr := turn(m, nil)
	tr.Tools = tools
	_, transcript, _ := play(t, t.Context(), tr)
	if diff := cmp.Diff([][]string{{"1 did {}", `2 {"error":"unknown tool"}`}}, tools.seen); diff != "" {
		t.Error(diff)
	}
	if got := texts(transcript)[2:4]; got[0] != "tool: finished 1" || got[1] != "tool: finished 2" {
		t.Errorf("appended %q", got)
	}
}

func TestStopReasonEndsTheTurnInWords(t *testing.T) {
	t.Parallel()
	stops := func(context.Context, hermes.ToolCall) hermes.Result {
		return hermes.Result{Text: "no", Failed: true, StopReason: "it keeps failing"}
	}
	call := hermes.ToolCall{ID: "1", Name: "a", Arguments: "{}"}
	for name, tt := range map[string]struct {
		answers [][]hermes.Delta
		text    string
		fails   bool
	}{
		"it answers":             {[][]hermes.Delta{calls(call), words("I could not")}, "I could not", false},
		"it still calls a tool":  {[][]hermes.Delta{calls(call), calls(call), words("well then")}, "well then", false},
		"it says nothing at all": {[][]hermes.Delta{calls(call), calls(call), {{Finish: hermes.FinishStop}}}, "", true},
	} {
		m := says(tt.answers...)
		_, transcript, done := play(t, t.Context(), turn(m, toolTable{"a": {run: stops}}))
		want := hermes.OutcomeToolsStopped
		if tt.fails {
			want = hermes.OutcomeFailed
		}
		if done.Outcome != want || done.Text != tt.text {
			t.Errorf("%s: %s %q", name, done.Outcome, done.Text)
		}
		if open := hermes.OpenCalls(transcript); len(open) > 0 {
			t.Errorf("%s: open calls %v", name, open)
		}
		for i, r := range m.asked[1:] {
			if !r.WordsOnly {
				t.Errorf("%s: request %d offers tools", name, i+1)
			}
		}
		if all := strings.Join(texts(transcript), "\n"); !strings.Contains(all, "it keeps failing") {
			t.Errorf("%s: the model does not get the reason: %s", name, all)
		}
	}
}

func TestCapEndsTheTurnInWords(t *testing.T) {
	t.Parallel()
	b := toolTable{"echo": {hermes.Spec{Name: "echo"}, echo}}
	m := says(calls(hermes.ToolCall{ID: "1", Name: "echo"}), nil)
	m.fail = map[int]error{1: &hermes.ModelError{Class: hermes.ClassBudget, Message: "the cap of the day is reached; raise it with /budget"}}
	_, transcript, done := play(t, t.Context(), turn(m, b))
	if done.Outcome != hermes.OutcomeBudget || done.Err() != nil || !strings.Contains(done.Text, "/budget") {
		t.Errorf("done = %+v", done)
	}
	last := transcript[len(transcript)-1]
	if last.Role != hermes.RoleAssistant || !strings.Contains(last.Text(), "cap of the day") {
		t.Errorf("the transcript ends with %+v", last)
	}
}

// TestACapKeepsWhatHadArrived: it was paid for, and the model must know what it said.
func TestACapKeepsWhatHadArrived(t *testing.T) {
	t.Parallel()
	capped := &hermes.ModelError{Class: hermes.ClassBudget, Message: "the cap of the day is reached"}
	script := hermestest.NewScript(hermestest.Step{Deltas: []hermes.Delta{{Text: "The first half"}}, Err: capped})
	events, transcript, done := play(t, t.Context(), turn(script, toolTable{}))
	want := "The first half\n\nthe cap of the day is reached"
	if done.Outcome != hermes.OutcomeBudget || done.Text != want {
		t.Errorf("done = %+v", done)
	}
	if last := transcript[len(transcript)-1].Text(); last != "The first half\n\n[the cap of the day is reached]" {
		t.Errorf("the transcript ends with %q", last)
	}
	shown := ""
	for _, e := range events {
		if d, ok := e.(hermes.TextDelta); ok {
			shown += d.Text
		}
	}
	if shown != want {
		t.Errorf("the user sees %q", shown)
	}
}

func TestCallWithoutANameIsAnsweredAndTheOthersRun(t *testing.T) {
	t.Parallel()
	b := toolTable{"look": {hermes.Spec{Name: "look", Mode: hermes.ModeParallel}, echo}}
	m := says(calls(hermes.ToolCall{ID: "a", Name: "look", Arguments: `{"x":1}`}, hermes.ToolCall{ID: "b", Arguments: `{"x":2}`}), words("done"))
	_, transcript, done := play(t, t.Context(), turn(m, b))
	if done.Outcome != hermes.OutcomeDone || len(transcript) != 5 {
		t.Fatalf("%s: %q", done.Outcome, texts(transcript))
	}
	if got := transcript[1].Calls[1].Name; got == "" {
		t.Error("a call without a name is stored; services refuse such a transcript")
	}
	if got := transcript[2].Text(); got != `did {"x":1}` {
		t.Errorf("the named call: %q", got)
	}
	if m := transcript[3]; !m.Failed || m.CallID != "b" || !strings.Contains(m.Text(), "named no tool") {
		t.Errorf("the other: %+v", m)
	}
}

// TestInterruptedTurnsAreRecognized reads the mark of today and that of version 0.1.0.
func TestInterruptedTurnsAreRecognized(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Half an ans\n[The user interrupted this turn here.]":   true,
		"Half an ans\n[The person interrupted this turn here.]": true,
		"[The user interrupted this turn here.] Go on.":         false,
		"Done.": false,
	} {
		m := hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: text}}}
		if got := agent.Interrupted(m); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
