package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/chatserver"
	"hermes/internal/websearch/websearchtest"
)

// example is a call in a page of docs/, and the result that the page shows.
type example struct {
	tool        string
	call, shown json.RawMessage
	line        int
}

// examplesOf reads the examples of a page: blocks of text with a call, which begins with "→ " and the name of a
// tool, and its result, which begins with "←". Both are JSON.
func examplesOf(t *testing.T, page string) (all []example) {
	t.Helper()
	raw, err := os.ReadFile("../../docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Split(string(raw), "\n")
	for i := 0; i < len(text); i++ {
		tool, begins := strings.CutPrefix(text[i], "→ ")
		if !begins {
			continue
		}
		one, in := example{tool: tool, line: i + 1}, &[]byte{}
		call := in
		for i++; i < len(text) && text[i] != "```" && !strings.HasPrefix(text[i], "→ "); i++ {
			if text[i] == "←" {
				in = new([]byte)
				continue
			}
			*in = append(*in, text[i]+"\n"...)
		}
		i--
		one.call, one.shown = *call, *in
		if !json.Valid(one.call) || !json.Valid(one.shown) || in == call {
			t.Fatalf("docs/%s:%d: a call and its result must be JSON", page, one.line)
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		t.Fatalf("docs/%s has no examples", page)
	}
	return all
}

// fits says where a result differs from the one that is shown: it has the same keys and the same texts, in which … is
// for what is not always the same. So are all numbers.
func fits(at string, shown, got any) error {
	switch want := shown.(type) {
	case map[string]any:
		has, ok := got.(map[string]any)
		if keys := slices.Sorted(maps.Keys(want)); !ok || !slices.Equal(keys, slices.Sorted(maps.Keys(has))) {
			return fmt.Errorf("%s has the keys %q, shown are %q", at, slices.Sorted(maps.Keys(has)), keys)
		}
		for key, value := range want {
			if err := fits(at+"."+key, value, has[key]); err != nil {
				return err
			}
		}
		return nil
	case []any:
		has, ok := got.([]any)
		if !ok || len(has) != len(want) {
			return fmt.Errorf("%s has %d entries, shown are %d", at, len(has), len(want))
		}
		for i := range want {
			if err := fits(fmt.Sprintf("%s[%d]", at, i), want[i], has[i]); err != nil {
				return err
			}
		}
		return nil
	case string:
		has, ok := got.(string)
		parts := strings.Split(want, "…")
		rest, begins := strings.CutPrefix(has, parts[0])
		ok = ok && begins
		for _, part := range parts[1:] {
			var found bool
			_, rest, found = strings.Cut(rest, part)
			ok = ok && found
		}
		if last := parts[len(parts)-1]; !ok || last != "" && rest != "" {
			return fmt.Errorf("%s is %q, shown is %q", at, got, want)
		}
		return nil
	case float64:
		if _, ok := got.(float64); ok {
			return nil
		}
	}
	if shown != got {
		return fmt.Errorf("%s is %v, shown is %v", at, got, shown)
	}
	return nil
}

// manualReader is a model that makes the calls of a page's examples, one after the other. Its children say what is written
// for their goals.
type manualReader struct {
	children map[string][]chatserver.Answer

	mu    sync.Mutex
	calls []example
	made  int
	got   []string // results
}

func (m *manualReader) decide(r *chatserver.Request) (chatserver.Answer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for goal, answers := range m.children {
		if slices.ContainsFunc(r.Messages, func(one chatserver.Message) bool { return one.Role == "user" && strings.Contains(one.Text(), goal) }) && len(r.Tools) > 0 {
			if len(answers) == 0 {
				return chatserver.Answer{}, fmt.Errorf("nothing is written for %q", goal)
			}
			m.children[goal] = answers[1:]
			return answers[0], nil
		}
	}
	if last := r.Messages[len(r.Messages)-1]; last.Role == "tool" {
		m.got = append(m.got, last.Text())
	}
	if len(r.Tools) == 0 || m.made == len(m.calls) {
		return chatserver.Answer{Text: "Done."}, nil
	}
	m.made++
	one := m.calls[m.made-1]
	return chatserver.Answer{Calls: []chatserver.Call{{ID: fmt.Sprintf("c%d", m.made), Type: "function", Function: chatserver.Function{Name: one.tool, Arguments: string(one.call)}}}}, nil
}

// runExamples makes the calls of a page in a session, and compares what comes with what the page shows.
func (s *scene) runExamples(page, said string, children map[string][]chatserver.Answer) {
	s.t.Helper()
	m := &manualReader{children: children, calls: examplesOf(s.t, page)}
	server := httptest.NewServer(&chatserver.Handler{Model: "m", Decide: m.decide})
	s.t.Cleanup(server.Close)
	s.url, s.evidence = server.URL+"/v1", "false"
	s.say(said)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.got) != len(m.calls) {
		s.t.Fatalf("docs/%s has %d examples, of which %d have a result: %q", page, len(m.calls), len(m.got), m.got)
	}
	for i, one := range m.calls {
		var shown, got any
		if err := json.Unmarshal(one.shown, &shown); err != nil {
			s.t.Fatal(err)
		}
		err := json.Unmarshal([]byte(m.got[i]), &got)
		if err == nil {
			err = fits("the result", shown, got)
		}
		if err != nil {
			s.t.Errorf("docs/%s:%d: %v\n%s", page, one.line, err, m.got[i])
		}
	}
}

// TestTheExamplesOfDelegationRun: what docs/delegation.md shows is what comes.
func TestTheExamplesOfDelegationRun(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.Deny)
	s.write("a.go", "package a\n\n// TODO: close it\nfunc Open() {}\n\nfunc Close() {}\n")
	s.write("a_test.go", "package a\n\nfunc TestOpen(t *testing.T) { Open() }\n")
	call := func(name, arguments string) chatserver.Answer {
		return chatserver.Answer{Calls: []chatserver.Call{{ID: "d1", Type: "function", Function: chatserver.Function{Name: name, Arguments: arguments}}}}
	}
	s.runExamples("delegation.md", "What is left to do?", map[string][]chatserver.Answer{
		"List the exported functions": {call("read_file", `{"path":"a.go"}`), {Text: "No test calls Close."}},
		"Count the TODO comments":     {call("search_files", `{"pattern":"TODO"}`), {Text: `{"count": 1}`}},
		"Write the missing test":      {call("write_file", `{"path":"close_test.go","content":"package a\n"}`), {Text: "I wrote close_test.go."}},
	})
}

// TestTheExamplesOfTheWebRun: what docs/web.md shows is what comes.
func TestTheExamplesOfTheWebRun(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.Deny)
	w := onWeb(t, s)
	w.services.Hits = func(string) []websearchtest.Hit {
		return []websearchtest.Hit{
			{Title: "Swimming pools in Reykjavik", URL: "http://pools.example/reykjavik", Text: "All pools with their opening hours."},
			{Title: "Laugardalslaug", URL: "http://baths.example/laugardalslaug", Text: "The largest pool of the town."},
		}
	}
	w.pages["pools.example/reykjavik"] = "<title>Swimming pools in Reykjavik</title><h1>Opening hours</h1><p>Laugardalslaug opens at 6:30."
	s.runExamples("web.md", "When do the pools in Reykjavik open?", nil)
}

// TestTheExamplesOfTheBrowserRun: what docs/browser.md shows is what comes.
func TestTheExamplesOfTheBrowserRun(t *testing.T) {
	t.Parallel()
	n := newInternet(t, `<title>Hats</title><h1>Hats</h1><form onsubmit="document.body.innerHTML='<h1>Thank you, '+who.value+'</h1>';return false"><label>Name <input id=who required></label><button>Buy</button></form>`, "")
	n.names["hats.example"] = "93.184.216.34"
	w := newWeb(t, page(""))
	n.on(w)
	w.runExamples("browser.md", "Buy a hat for Ann at http://hats.example", nil)
}
