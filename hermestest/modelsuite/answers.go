package modelsuite

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hermes"
)

// Answer is an answer that a service gives. A protocol renders it in its wire
// format.
type Answer struct {
	Thinking []string // in these pieces, before the text
	Text     []string // in these pieces
	// Calls come after the text. Where the protocol allows it, their arguments come
	// in pieces, those of all calls in turn.
	Calls  []hermes.ToolCall
	Finish hermes.Finish // why the service ended it
	// Usage has Input, CacheRead, Output and, as a part of Output, Reasoning.
	Usage hermes.Usage
}

// What a protocol may lack, for [RunAnswers] and [Protocol].
const (
	LacksThinking = "thinking" // shows no thinking
	LacksCalls    = "calls"    // a program runs its own tools
	LacksFilter   = "filter"   // does not say that content was filtered
	LacksCache    = "cache"    // counts no tokens read from a cache
	LacksCounts   = "counts"   // counts no tokens of thinking apart
)

// answers is the table of [RunAnswers], by what each is about. Needs names what a
// protocol must not lack.
func answers() map[string]struct {
	answer Answer
	needs  []string
} {
	type entry = struct {
		answer Answer
		needs  []string
	}
	one, two := contractCalls[0], contractCalls[1]
	three := hermes.ToolCall{ID: "call_three", Name: "terminal", Arguments: `{}`}
	used := hermes.Usage{Input: 10, Output: 5}
	return map[string]entry{
		"text":                    {Answer{Text: contractText, Finish: hermes.FinishStop, Usage: used}, nil},
		"one character":           {Answer{Text: []string{"4"}, Finish: hermes.FinishStop, Usage: used}, nil},
		"blanks and line breaks":  {Answer{Text: []string{" a", "\n\n", "\tb ", "\r\n"}, Finish: hermes.FinishStop, Usage: used}, nil},
		"thinking":                {Answer{Thinking: []string{"Let me ", "see.\n"}, Text: []string{"4"}, Finish: hermes.FinishStop, Usage: used}, []string{LacksThinking}},
		"a call":                  {Answer{Calls: []hermes.ToolCall{one}, Finish: hermes.FinishCalls, Usage: used}, []string{LacksCalls}},
		"a call without argument": {Answer{Calls: []hermes.ToolCall{three}, Finish: hermes.FinishCalls, Usage: used}, []string{LacksCalls}},
		"text and calls":          {Answer{Text: contractText, Calls: []hermes.ToolCall{one, two}, Finish: hermes.FinishCalls, Usage: used}, []string{LacksCalls}},
		"three calls at once":     {Answer{Calls: []hermes.ToolCall{one, two, three}, Finish: hermes.FinishCalls, Usage: used}, []string{LacksCalls}},
		"all of it": {Answer{Thinking: []string{"Hm."}, Text: contractText, Calls: contractCalls, Finish: hermes.FinishCalls, Usage: used},
			[]string{LacksThinking, LacksCalls}},
		"cut by length": {Answer{Text: []string{"As long", " as"}, Finish: hermes.FinishLength, Usage: used}, nil},
		"filtered":      {Answer{Text: []string{"I"}, Finish: hermes.FinishFilter, Usage: used}, []string{LacksFilter}},
		"from a cache":  {Answer{Text: []string{"4"}, Finish: hermes.FinishStop, Usage: hermes.Usage{Input: 37, CacheRead: 1800, Output: 15}}, []string{LacksCache}},
		"counted thinking": {Answer{Thinking: []string{"Hm."}, Text: []string{"4"}, Finish: hermes.FinishStop, Usage: hermes.Usage{Input: 37, Output: 89, Reasoning: 64}},
			[]string{LacksThinking, LacksCounts}},
	}
}

// RunAnswers is the suite of what every model makes of every answer. ask renders an
// answer in the wire format of its protocol, and returns what the model made of it.
// lacks names what the protocol cannot express.
func RunAnswers(t *testing.T, ask func(*testing.T, Answer) (hermes.Message, error), lacks ...string) {
	for name, entry := range answers() {
		if slices.ContainsFunc(entry.needs, func(need string) bool { return slices.Contains(lacks, need) }) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			got, err := ask(t, entry.answer)
			if err != nil {
				t.Fatal(err)
			}
			entry.answer.check(t, got)
		})
	}
}

// check compares what a model made of the answer with it. How the reasoning is kept
// for later requests is the protocol's own business.
func (a Answer) check(t *testing.T, got hermes.Message) {
	t.Helper()
	if text := strings.Join(a.Text, ""); got.Text() != text {
		t.Errorf("text %q, want %q", got.Text(), text)
	}
	var thought strings.Builder
	for _, r := range got.Reasoning {
		thought.WriteString(r.Text)
	}
	if text := strings.Join(a.Thinking, ""); thought.String() != text {
		t.Errorf("thinking %q, want %q", thought.String(), text)
	}
	calls := slices.Clone(got.Calls)
	for i := range calls {
		calls[i].Signature = ""
	}
	if !reflect.DeepEqual(calls, a.Calls) && len(calls)+len(a.Calls) > 0 {
		t.Errorf("calls %+v, want %+v", calls, a.Calls)
	}
	if got.Finish != a.Finish {
		t.Errorf("finish %q, want %q", got.Finish, a.Finish)
	}
	want := a.Usage
	want.Calls = 1
	if got.Usage == nil || *got.Usage != want {
		t.Errorf("usage %+v, want %+v", got.Usage, want)
	}
}

// Reply returns an answer of text, in these pieces, and calls, with a usage.
func Reply(text []string, calls []hermes.ToolCall) Answer {
	a := Answer{Text: text, Calls: calls, Finish: hermes.FinishStop, Usage: hermes.Usage{Input: 10, Output: 5}}
	if len(calls) > 0 {
		a.Finish = hermes.FinishCalls
	}
	return a
}

func (w Protocol) testAnswers(t *testing.T) {
	RunAnswers(t, func(t *testing.T, a Answer) (hermes.Message, error) {
		return drain(t, w.serve(t, w.eventStream(w.Answer(a))), t.Context(), contractRequest())
	}, w.Lacks...)
}

// testTemperature checks that a temperature is sent, as a number of that name
// somewhere in the body, and none if none is asked for.
func (w Protocol) testTemperature(t *testing.T) {
	var body []byte
	model := w.New
	if w.Plain != nil {
		model = w.Plain
	}
	plain := w
	plain.New = model
	m := plain.serve(t, func(rw http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		w.eventStream(w.Answer(Reply([]string{"ok"}, nil)))(rw, r)
	})
	for _, want := range []*float64{nil, new(0.25), new(0.0)} {
		r := contractRequest()
		r.Temperature = want
		if _, err := drain(t, m, t.Context(), r); err != nil {
			t.Fatal(err)
		}
		var sent any
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Fatal(err)
		}
		got, ok := fieldOf(sent, "temperature").(float64)
		if ok != (want != nil) || ok && got != *want {
			t.Errorf("temperature %v (%t) was sent, want %v: %s", got, ok, cmp.Or(want, new(-1.0)), body)
		}
	}
}

// fieldOf returns the first value of a field in a JSON value, at any depth.
func fieldOf(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		if found, ok := v[name]; ok {
			return found
		}
		for _, below := range v {
			if found := fieldOf(below, name); found != nil {
				return found
			}
		}
	case []any:
		for _, below := range v {
			if found := fieldOf(below, name); found != nil {
				return found
			}
		}
	}
	return nil
}
