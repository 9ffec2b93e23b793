package chatserver

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
	"unicode/utf8"
)

// header begins every object that is sent for one answer.
type header struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"`
}

// completion is an answer that is not streamed.
type completion struct {
	header
	Choices []wholeChoice `json:"choices"`
	Usage   usage         `json:"usage"`
}

type wholeChoice struct {
	Index   int     `json:"index"`
	Message message `json:"message"`
	Finish  string  `json:"finish_reason"`
}

type message struct {
	Role      string  `json:"role"`
	Content   *string `json:"content"`
	Reasoning string  `json:"reasoning_content,omitempty"`
	Calls     []Call  `json:"tool_calls,omitempty"`
}

func whole(head header, r *Request, a Answer) completion {
	head.Object = "chat.completion"
	m := message{Role: "assistant", Reasoning: a.Reasoning, Calls: a.Calls}
	if a.Text != "" || len(a.Calls) == 0 {
		m.Content = &a.Text
	}
	return completion{
		header:  head,
		Choices: []wholeChoice{{Message: m, Finish: a.finish()}},
		Usage:   count(r, a),
	}
}

// chunk is one event of a stream.
type chunk struct {
	header
	Choices []chunkChoice `json:"choices"`
	Usage   *usage        `json:"usage,omitempty"`
}

type chunkChoice struct {
	Index  int     `json:"index"`
	Delta  delta   `json:"delta"`
	Finish *string `json:"finish_reason"`
}

type delta struct {
	Role      string      `json:"role,omitempty"`
	Content   string      `json:"content,omitempty"`
	Reasoning string      `json:"reasoning_content,omitempty"`
	Calls     []callDelta `json:"tool_calls,omitempty"`
}

type callDelta struct {
	Index    int           `json:"index"`
	ID       string        `json:"id,omitempty"`
	Type     string        `json:"type,omitempty"`
	Function functionDelta `json:"function"`
}

type functionDelta struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// stream writes one answer as server-sent events.
type stream struct {
	w    http.ResponseWriter
	head header
	pace time.Duration
}

func newStream(w http.ResponseWriter, head header, pace time.Duration) *stream {
	head.Object = "chat.completion.chunk"
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return &stream{w: w, head: head, pace: pace}
}

// send writes the whole answer; it returns early when the client goes away.
func (s *stream) send(ctx context.Context, r *Request, a Answer) error {
	deltas := []delta{{Role: "assistant"}}
	for _, piece := range words(a.Reasoning) {
		deltas = append(deltas, delta{Reasoning: piece})
	}
	for _, piece := range words(a.Text) {
		deltas = append(deltas, delta{Content: piece})
	}
	for i, c := range a.Calls {
		deltas = append(deltas, callDeltas(i, c)...)
	}
	for _, d := range deltas {
		if err := s.event(chunk{Choices: []chunkChoice{{Delta: d}}}); err != nil {
			return err
		}
		if err := s.pause(ctx); err != nil {
			return err
		}
	}
	finish := a.finish()
	if err := s.event(chunk{Choices: []chunkChoice{{Finish: &finish}}}); err != nil {
		return err
	}
	if r.StreamOptions.IncludeUsage {
		u := count(r, a)
		if err := s.event(chunk{Choices: []chunkChoice{}, Usage: &u}); err != nil {
			return err
		}
	}
	_, err := s.w.Write([]byte("data: [DONE]\n\n"))
	return err
}

func (s *stream) event(c chunk) error {
	c.header = s.head
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	_, err = s.w.Write(append(append([]byte("data: "), text...), '\n', '\n'))
	return err
}

// pause lets the user see the words arrive; without a pace the buffer decides when to send.
func (s *stream) pause(ctx context.Context) error {
	if s.pace <= 0 {
		return ctx.Err()
	}
	if err := http.NewResponseController(s.w).Flush(); err != nil {
		return err
	}
	timer := time.NewTimer(s.pace)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// callDeltas sends a call as services do: its name first, then its arguments in pieces.
func callDeltas(index int, c Call) []delta {
	first := callDelta{Index: index, ID: c.ID, Type: "function", Function: functionDelta{Name: c.Function.Name}}
	all := []delta{{Calls: []callDelta{first}}}
	for _, piece := range pieces(c.Function.Arguments, 24) {
		all = append(all, delta{Calls: []callDelta{{Index: index, Function: functionDelta{Arguments: piece}}}})
	}
	return all
}

// words cuts a text after each run of blanks.
func words(text string) []string {
	var all []string
	start := 0
	for i := 1; i < len(text); i++ {
		if blank(text[i-1]) && !blank(text[i]) {
			all = append(all, text[start:i])
			start = i
		}
	}
	if start < len(text) {
		all = append(all, text[start:])
	}
	return all
}

func blank(b byte) bool { return b == ' ' || b == '\n' }

// pieces cuts a text into parts of at most size bytes, between runes.
func pieces(text string, size int) []string {
	var all []string
	for len(text) > size {
		cut := size
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		if cut == 0 { // no text at all; cut anywhere
			cut = size
		}
		all = append(all, text[:cut])
		text = text[cut:]
	}
	if text != "" {
		all = append(all, text)
	}
	return all
}
