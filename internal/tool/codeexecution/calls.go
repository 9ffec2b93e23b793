package codeexecution

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"hermes"
)

// callable are the tools that scripts may call, if the session has them.
var callable = [...]string{
	"browser_act", "browser_back", "browser_click", "browser_get_images", "browser_navigate", "browser_press", "browser_scroll", "browser_snapshot", "browser_tabs", "browser_type",
	"patch", "read_file", "search_files", "terminal", "web_extract", "web_search", "write_file",
}

// foreground are arguments of the tool terminal that scripts cannot use.
var foreground = [...]string{"background", "notify_on_complete", "pty", "watch_patterns"}

// calls are the tool calls of one script. Its methods may be called concurrently.
type calls struct {
	host hermes.Host
	most int

	mu     sync.Mutex
	begun  int
	done   int
	closed bool
	active sync.WaitGroup
}

func newCalls(h hermes.Host, most int) *calls { return &calls{host: h, most: most} }

// counts returns how many calls have ended and how many have begun.
func (s *calls) counts() (done, begun int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done, s.begun
}

// close refuses further calls and returns when those that run have ended. Their context must
// have ended, or end by itself.
func (s *calls) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.active.Wait()
}

// begin counts a call, or says why it is refused.
func (s *calls) begin() (refused string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return "the script has ended; no more tools run for it"
	case s.begun >= s.most:
		return fmt.Sprintf("the limit of %d tool calls per script is reached; no more tools run in it. Print what you have, and go on in another script", s.most)
	}
	s.begun++
	s.active.Add(1)
	return ""
}

func (s *calls) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done++
	s.active.Done()
}

// call runs a tool for a script and returns its result as JSON. What goes wrong is an
// object with the key error.
func (s *calls) call(ctx context.Context, tool string, args json.RawMessage) json.RawMessage {
	if why := s.refuse(tool, args); why != "" {
		return problem(why)
	}
	if why := s.begin(); why != "" {
		return problem(why)
	}
	defer s.end()
	r, err := s.host.Invoke(ctx, tool, args)
	if err != nil {
		return problem(err.Error())
	}
	return parsed(r)
}

// refuse says why a script cannot make a call, "" if it can.
func (s *calls) refuse(tool string, args json.RawMessage) string {
	if why := unavailable(tool, s.host); why != "" {
		return why
	}
	if tool != "terminal" {
		return ""
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil {
		return "" // the tool refuses it
	}
	for _, name := range foreground {
		if v, ok := given[name]; ok && !empty(v) {
			return fmt.Sprintf("scripts run commands in the foreground only: call terminal without %s, or use it as a normal tool call instead", name)
		}
	}
	return ""
}

func empty(v json.RawMessage) bool {
	return slices.Contains([]string{"null", "false", "[]", `""`, "0"}, string(bytes.TrimSpace(v)))
}

// unavailable says why scripts cannot call a tool, "" if they can.
func unavailable(tool string, h hermes.Host) string {
	has := sessionTools(h)
	known := slices.ContainsFunc(has, func(s hermes.Spec) bool { return s.Name == tool })
	switch {
	case known && slices.Contains(callable[:], tool):
		return ""
	case known:
		return fmt.Sprintf("%s cannot be called from a script: use it as a normal tool call instead", tool)
	}
	var names []string
	for _, s := range scriptTools(h) {
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return fmt.Sprintf("unknown tool %q: this session has no tools that scripts can call", tool)
	}
	return fmt.Sprintf("unknown tool %q: scripts can call %s", tool, strings.Join(names, ", "))
}

func sessionTools(h hermes.Host) []hermes.Spec {
	if l, ok := h.(hermes.ToolLister); ok {
		return l.Tools()
	}
	return nil
}

// scriptTools returns the tools of the session that scripts can call, sorted by name.
func scriptTools(h hermes.Host) []hermes.Spec {
	return slices.DeleteFunc(slices.Clone(sessionTools(h)), func(s hermes.Spec) bool { return !slices.Contains(callable[:], s.Name) })
}

// parsed returns the JSON value with which a result begins. What follows it, such as a
// warning, is for the model. A result that is text becomes an object.
func parsed(r hermes.Result) json.RawMessage {
	var value json.RawMessage
	if err := json.NewDecoder(strings.NewReader(r.Text)).Decode(&value); err == nil {
		return value
	}
	if r.Failed {
		return problem(r.Text)
	}
	out, err := json.Marshal(map[string]string{"output": r.Text})
	if err != nil { // a map of strings always has a JSON form
		return problem(err.Error())
	}
	return out
}

func problem(why string) json.RawMessage {
	return json.RawMessage(hermes.ErrorResult(why).Text)
}
