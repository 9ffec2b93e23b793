package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
)

// Prices of the model, in US dollars for a token. costConfig has them for a million.
const (
	inputPrice  = 10e-6
	outputPrice = 100e-6
	cachedPrice = 1e-6
)

const costConfig = crashConfig + `spend:
  session: {usd: %g}
  prices:
    %q: {input: 10, output: 100%s}
`

// reply is one answer of the service.
type reply struct {
	command bool           // call the terminal; else say "Done T1."
	text    string         // instead of that
	usage   map[string]any // as the protocol writes it; nil reports none
	finish  string         // empty: the usual one
	cut     bool           // break off before the end
	endless bool           // go on until max_tokens, or the client is gone
	charged float64        // US dollars; for an endless one it is counted
}

// costCase is a turn and what the service charges for it.
type costCase struct {
	name    string
	cap     float64 // US dollars; 0 is none
	priced  string  // the name that the price has; empty: that of the model
	cached  bool    // the price of cached input is known
	replies []reply // the last one is repeated
	refused bool    // the turn must end with the cap
	atLeast bool    // what is booked may be up to twice what is charged
}

func tokens(input, output int, more ...any) map[string]any {
	u := map[string]any{"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output}
	for i := 0; i+1 < len(more); i += 2 {
		u[more[i].(string)] = more[i+1]
	}
	return u
}

func charge(input, output int) float64 {
	return float64(input)*inputPrice + float64(output)*outputPrice
}

var costCases = []costCase{
	{name: "four calls", replies: []reply{
		{command: true, usage: tokens(5000, 50), charged: charge(5000, 50)}, {command: true, usage: tokens(5100, 50), charged: charge(5100, 50)},
		{command: true, usage: tokens(5200, 50), charged: charge(5200, 50)}, {usage: tokens(5300, 10), charged: charge(5300, 10)},
	}},
	{name: "a price by reference", priced: "box:torture", replies: []reply{{usage: tokens(5000, 10), charged: charge(5000, 10)}}},
	{name: "cached input with a price", cached: true, replies: []reply{
		{usage: tokens(9000, 10, "prompt_tokens_details", map[string]any{"cached_tokens": 8000}), charged: 8000*cachedPrice + charge(1000, 10)},
	}},
	{name: "cached input without a price", atLeast: true, replies: []reply{
		{usage: tokens(9000, 10, "prompt_tokens_details", map[string]any{"cached_tokens": 1000}), charged: charge(8000, 10)},
	}},
	{name: "thinking that is counted apart", replies: []reply{
		{usage: tokens(5000, 10, "total_tokens", 5510, "completion_tokens_details", map[string]any{"reasoning_tokens": 500}), charged: charge(5000, 510)},
	}},
	{name: "the service names its cost", priced: "another-model", replies: []reply{{usage: tokens(5000, 10, "cost", 0.1234), charged: 0.1234}}},
	{name: "an empty answer, asked again", replies: []reply{
		{text: " ", usage: tokens(5000, 1), charged: charge(5000, 1)}, {usage: tokens(5000, 10), charged: charge(5000, 10)},
	}},
	{name: "two answers that break off", atLeast: true, replies: []reply{
		{cut: true, charged: charge(3000, 8)}, {cut: true, charged: charge(3000, 8)}, {usage: tokens(5000, 10), charged: charge(5000, 10)},
	}},
	{name: "an answer that goes on after the limit", replies: []reply{
		{text: "Done", finish: "length", usage: tokens(5000, 100), charged: charge(5000, 100)}, {text: " T1.", usage: tokens(5100, 10), charged: charge(5100, 10)},
	}},
	{name: "a cap and endless calls", cap: 0.5, refused: true, replies: []reply{{command: true, usage: tokens(8000, 200), charged: charge(8000, 200)}}},
	{name: "a cap and one endless answer", cap: 0.5, refused: true, atLeast: true, replies: []reply{{endless: true}}},
	{name: "usage that cannot be", atLeast: true, replies: []reply{{usage: tokens(5000, -7, "prompt_tokens_details", map[string]any{"cached_tokens": -9_000_000}), charged: charge(3500, 0)}}}, // what was sent
}

// overshoot is how much more than the cap the service may have charged: one call's worth.
const overshoot = 1.25

// cost lets the service count in various ways and compares that with what was booked.
func cost(ctx context.Context, o options) (table, []finding, error) {
	rows := table{{"what", "cap", "requests", "booked calls", "charged", "booked", "agrees"}}
	type outcome struct {
		row    []string
		broken []string
		err    error
	}
	outcomes := make([]outcome, len(costCases))
	sideBySide(len(costCases), o.parallel, func(i int) {
		if o.wants(costCases[i].name) && ctx.Err() == nil {
			row, broken, err := costCases[i].run(ctx, o, filepath.Join(o.scratch, fmt.Sprintf("cost-%d", i)))
			outcomes[i] = outcome{row, broken, err}
		}
	})
	var found []finding
	for i, c := range costCases {
		if outcomes[i].err != nil {
			return rows, found, fmt.Errorf("%s: %w", c.name, outcomes[i].err)
		}
		if outcomes[i].row != nil {
			rows = append(rows, outcomes[i].row)
		}
		for _, b := range outcomes[i].broken {
			found = append(found, finding{"cost", c.name, b})
		}
	}
	return rows, found, nil
}

func (c costCase) run(ctx context.Context, o options, dir string) ([]string, []string, error) {
	service := &counting{replies: c.replies}
	server := httptest.NewServer(service)
	defer server.Close()
	more := ""
	if c.cached {
		more = ", cache_read: 1"
	}
	who, err := newMachine(o.hermes, dir, fmt.Sprintf(costConfig, server.URL+"/v1", c.cap, cmp.Or(c.priced, "torture"), more))
	if err != nil {
		return nil, nil, err
	}
	var broken []string
	e, err := who.run(ctx, "-z", "Do the task.")
	if err != nil {
		return nil, nil, err
	}
	if ok := e.status == 0 && e.out == "Done T1."; ok == c.refused {
		broken = append(broken, fmt.Sprintf("the turn ended with status %d and %.80q: %s", e.status, e.out, e.complaint()))
	}
	kept, err := who.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	requests, charged := service.count()
	booked := kept.spent.Money.Dollars()
	low, high := 0.99*charged, 1.01*charged
	if c.atLeast {
		high = 2 * charged
	}
	if kept.spent.Calls < int64(requests) {
		broken = append(broken, fmt.Sprintf("%d calls are booked, the service saw %d", kept.spent.Calls, requests))
	}
	if booked < low || booked > high {
		broken = append(broken, fmt.Sprintf("$%.4f is booked, the service charged $%.4f", booked, charged))
	}
	if c.cap > 0 && charged > overshoot*c.cap {
		broken = append(broken, fmt.Sprintf("the service charged $%.2f under a cap of $%.2f", charged, c.cap))
	}
	row := []string{c.name, "–", fmt.Sprint(requests), fmt.Sprint(kept.spent.Calls), fmt.Sprintf("$%.4f", charged), fmt.Sprintf("$%.4f", booked), "yes"}
	if c.cap > 0 {
		row[1] = fmt.Sprintf("$%.2f", c.cap)
	}
	if len(broken) > 0 {
		row[6] = "**no**"
	}
	return row, broken, ctx.Err()
}

// counting is a service over Chat Completions that adds up what it charges.
type counting struct {
	replies []reply
	mu      sync.Mutex
	n       int
	charged float64
}

func (s *counting) count() (requests int, charged float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n, s.charged
}

func (s *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	answer := s.replies[min(s.n, len(s.replies)-1)]
	s.n++
	number := s.n
	s.charged += answer.charged
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(event map[string]any) bool {
		text, err := json.Marshal(event)
		if err != nil {
			return false
		}
		_, err = fmt.Fprintf(w, "data: %s\n\n", text)
		return err == nil && http.NewResponseController(w).Flush() == nil
	}
	choice := func(delta map[string]any, finish any) map[string]any {
		return map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}}
	}
	if answer.endless {
		s.goOn(r.Context(), raw, send, choice)
		return
	}
	finish := "stop"
	switch {
	case answer.command:
		finish = "tool_calls"
		command := fmt.Sprintf(`{"command":"echo step-%d"}`, number)
		send(choice(map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"index": 0, "id": fmt.Sprint("call_", number), "type": "function", "function": map[string]any{"name": "terminal", "arguments": command}}}}, nil))
	case answer.text != "":
		send(choice(map[string]any{"role": "assistant", "content": answer.text}, nil))
	default:
		send(choice(map[string]any{"role": "assistant", "content": "Done T1."}, nil))
	}
	if answer.cut {
		panic(http.ErrAbortHandler)
	}
	if answer.finish != "" {
		finish = answer.finish
	}
	send(choice(map[string]any{}, finish))
	if answer.usage != nil {
		send(map[string]any{"choices": []any{}, "usage": answer.usage})
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// goOn streams up to the limit that the request names, or a model's usual largest answer,
// and charges for each token until the client is gone.
func (s *counting) goOn(ctx context.Context, request []byte, send func(map[string]any) bool, choice func(map[string]any, any) map[string]any) {
	var limits struct {
		Old int `json:"max_tokens"`
		New int `json:"max_completion_tokens"`
	}
	_ = json.Unmarshal(request, &limits) // without a limit it is zero
	limit := max(limits.Old, limits.New)
	if limit == 0 {
		limit = 128_000
	}
	input, output := len(request)/4, 0
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.charged += charge(input, output)
	}()
	const piece = 10 // tokens
	for output < limit {
		if ctx.Err() != nil || !send(choice(map[string]any{"content": fmt.Sprintf("%40d", output)}, nil)) {
			return
		}
		output += piece
	}
	send(choice(map[string]any{}, "length"))
	send(map[string]any{"choices": []any{}, "usage": tokens(input, output)})
}
