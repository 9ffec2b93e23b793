package command_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hermes"
	"hermes/internal/command"
	"hermes/internal/recallblock"
	"hermes/internal/session"
	"hermes/internal/spend"
)

// layeredState is a session with something of every kind. The estimate of the
// last request equals what the service counted: 1,000 tokens.
func layeredState() session.State {
	text := func(tokens int) string { return strings.Repeat("four", tokens) }
	part := func(tokens int) []hermes.Part { return []hermes.Part{{Text: text(tokens)}} }
	hidden := func(t string) hermes.Part { return hermes.Part{Text: t, Hidden: true} }
	recalled := recallblock.Wrap(text(10))
	surroundings := "[Around you now: git branch main, 2 changed files]"
	summary := "[SUMMARY OF EARLIER TURNS. It is a record, not a new request: what it lists as done is done. Go on from the messages below it.]"
	fill := func(text string, tokens int) string {
		return text + strings.Repeat("\n", 4*tokens-utf8.RuneCountInString(text))
	}
	return session.State{
		Row: hermes.Session{
			Model: "p:m", System: text(300),
			Layers: []hermes.PromptLayer{
				{Name: "identity", Bytes: 200, Tokens: 50}, {Name: "working", Bytes: 120, Tokens: 30}, {Name: "environment", Bytes: 80, Tokens: 20},
				{Name: "skills", Bytes: 400, Tokens: 100, Was: 9100, Why: "the window of p:m is 8K"}, {Name: "project", Bytes: 240, Tokens: 60},
				{Name: "memory", Bytes: 160, Tokens: 40},
			},
		},
		Tools: []hermes.Spec{{Name: "tool", Description: text(184)}}, // and 15 for its frame
		Transcript: []hermes.Message{
			{Role: hermes.RoleUser, Turn: 1, Synthetic: true, Parts: []hermes.Part{{Text: fill(summary, 50)}}},
			{Role: hermes.RoleUser, Turn: 2, Parts: []hermes.Part{hidden(fill(recalled, 100)), {Text: text(80)}, hidden(text(50)), hidden(fill(surroundings, 20))}},
			{Role: hermes.RoleAssistant, Turn: 2, Parts: part(50), Reasoning: []hermes.Reasoning{{Text: text(30)}}, Calls: []hermes.ToolCall{{Name: "tool", Arguments: text(11)}}, Usage: &hermes.Usage{Input: 900, Calls: 1}, Model: "p:m"},
			{Role: hermes.RoleTool, Turn: 2, ToolName: "tool", Parts: part(50)},
			{Role: hermes.RoleUser, Turn: 2, Synthetic: true, Parts: part(50)},
			{Role: hermes.RoleAssistant, Turn: 2, Parts: part(25), Usage: &hermes.Usage{Input: 1, Calls: 1}, Model: "p:m"},
			{Role: hermes.RoleUser, Turn: 3, Parts: part(75)},
		},
		Last:   hermes.Usage{Input: 400, CacheRead: 600, Output: 100, Calls: 1},
		Window: 10_000,
	}
}

// metered knows the prices of p:m, p:free and p:half.
func metered() *spend.Governor {
	return spend.New(spend.Config{Price: func(ref string) (hermes.Price, bool) {
		switch ref {
		case "p:m":
			return hermes.Price{Input: hermes.USD(10), Output: hermes.USD(20), CacheRead: hermes.USD(1), CacheWrite: hermes.USD(12.5)}, true
		case "p:free":
			return hermes.Price{}, true
		case "p:half":
			return hermes.Price{Input: hermes.USD(10), Output: hermes.USD(20), CacheRead: -1, CacheWrite: -1}, true
		}
		return hermes.Price{}, false
	}})
}

func contextOf(t *testing.T, st session.State, line string) string {
	t.Helper()
	r, err := command.Run(t.Context(), line, command.Call{Session: &fake{state: st}, Where: command.Terminal, Spend: metered()})
	if err != nil {
		t.Fatal(err)
	}
	return r.Text
}

// TestContextShowsEachSection: tokens, share of the window, cached share and
// cost of each layer and each kind of message.
func TestContextShowsEachSection(t *testing.T) {
	t.Parallel()
	got := contextOf(t, layeredState(), "/context")
	wantIn(t, got,
		"1.1k of 10.0k tokens (11 %)",
		"| part | tokens | % | cached | cost |\n| --- | ---: | ---: | ---: | ---: |\n",
		"| tools (1) | 200 | 2 | 100 % | $0.0002 |",
		"| identity | 50 | <1 | 100 % | $0.00005 |",
		"| rules | 50 | <1 | 100 % | $0.00005 |",
		"| skills index | 100 | 1 | 100 % | $0.0001 |",
		"| project files | 60 | <1 | 100 % |", "| notes | 40 | <1 | 100 % |",
		"| summaries (1) | 50 |", "| recalled (1) | 100 |",
		"| your messages (2) | 155 | 1 | no | $0.0016 |", // 80 sent and 75 new, at the uncached price
		"| attached (1) | 50 | <1 | no | $0.0005 |", "| surroundings (1) | 20 |", "| program notes (1) | 50 |",
		"| thinking (1) | 30 |", "| answers (2) | 75 |", "| calls (1) | 20 |", "| tool results (1) | 50 |",
		"| **total** | 1.1k | 11 | 60 % |",
		"600 read, 400 uncached (60 % cached)",
		"The last request cost $0.0066: the prompt $0.0046, the answer $0.002 (`p:m`).",
		"Shortened: skills index from 9.1 KB to 400 bytes, because the window of p:m is 8K.",
	)
	wantIn(t, contextOf(t, layeredState(), "/context all"), "| prompt `working` | 30 |", "| tool `tool` | 200 |", "| message 2, turn 2 | 250 |")
}

// TestCachedIsTheBeginning: the tokens read from the cache count from the start
// of the request, tools first.
func TestCachedIsTheBeginning(t *testing.T) {
	t.Parallel()
	st := layeredState()
	st.Last = hermes.Usage{Input: 100, CacheWrite: 650, CacheRead: 250, Output: 1}
	wantIn(t, contextOf(t, st, "/context"),
		"| tools (1) | 200 | 2 | 100 % |", "| identity | 50 | <1 | 100 % |", "| skills index | 100 | 1 | no | $0.0012 |",
		"250 read, 650 written, 100 uncached (25 % cached)")
	st.Last.CacheRead, st.Last.Input = 300, 50
	wantIn(t, contextOf(t, st, "/context"), "| rules | 50 | <1 | 100 % |", "| skills index | 100 | 1 | no |")
	st.Last.CacheRead, st.Last.CacheWrite = 350, 600
	wantIn(t, contextOf(t, st, "/context"), "| skills index | 100 | 1 | 50 % |")
}

func TestUnknownPricesAreReported(t *testing.T) {
	t.Parallel()
	st := layeredState()
	for model, says := range map[string]string{
		"p:other": "The prices of `p:other` are unknown.", "p:free": "`p:free` is free.", "p:half": "Some prices of `p:half` are unknown.",
	} {
		st.Row.Model = model
		for i := range st.Transcript {
			st.Transcript[i].Model = ""
		}
		got := contextOf(t, st, "/context")
		wantIn(t, got, says)
		if money := strings.Contains(got, "| cost |"); money != (model == "p:half") {
			t.Errorf("%s: %s", model, got)
		}
	}
}

// TestBeforeTheFirstAnswerAllIsEstimated: tokens and costs are estimates for the
// first request.
func TestBeforeTheFirstAnswerAllIsEstimated(t *testing.T) {
	t.Parallel()
	st := layeredState()
	st.Transcript, st.Last = nil, hermes.Usage{}
	got := contextOf(t, st, "/context")
	wantIn(t, got, "about 500 of 10.0k tokens (5 %)", "| tools (1) | 200 | 2 | – | $0.002 |", "Nothing sent yet")
	if strings.Contains(got, "Cache in") {
		t.Errorf("a cache is shown: %s", got)
	}
	wantIn(t, contextOf(t, session.State{}, "/context"), "nothing sent yet")
}

// TestSystemPromptWithoutLayersIsOnePart: imported sessions have no layers, or layers
// that do not match the prompt.
func TestSystemPromptWithoutLayersIsOnePart(t *testing.T) {
	t.Parallel()
	st := layeredState()
	st.Row.System += "!"
	wantIn(t, contextOf(t, st, "/context"), "| system prompt | 301 |")
}

func TestContextShowsWhatBrokeTheCache(t *testing.T) {
	t.Parallel()
	st := layeredState()
	st.Threshold = 7500
	st.Broken, st.Breaks = &hermes.PrefixBreak{At: time.Unix(0, 0), Request: 3, Section: "message 2 (answer)", From: 4, To: 9, Kept: 404, Lost: 96, Cause: "compression"}, 2
	wantIn(t, contextOf(t, st, "/context"), "; compresses at 7.5k",
		"with request 3, because of compression: message 2 (answer), bytes 4 to 9 changed. 404 bytes before it are still cached, 96 had to be sent again (2 times in total)")
}
