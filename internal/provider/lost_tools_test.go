package provider_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/provider"
)

// toolServer answers with some prompt tokens. It has /props if that is not empty.
func toolServer(t *testing.T, prompt int, props, chunk string) (url string, asked *int) {
	t.Helper()
	asked = new(int)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/props":
			*asked++
			if r.Header.Get("Authorization") != "Bearer k" {
				t.Error("no key was sent")
			}
			if props == "" {
				http.NotFound(w, r)
				return
			}
			fmt.Fprint(w, props)
		case strings.HasSuffix(r.URL.Path, "/chat/completions"):
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"choices\":[%s]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n", chunk, prompt)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1", asked
}

func toolRequest() *hermes.Request {
	return &hermes.Request{
		System: strings.Repeat("You help with programs. ", 100), Messages: []hermes.Message{hermes.UserText("hi")},
		Tools: []hermes.Spec{{Name: "look", Description: strings.Repeat("Looks at things in a folder. ", 200), Schema: json.RawMessage(`{"type":"object"}`)}},
	}
}

// TestLostToolsAreNoticed: a chat template without tools is reported once for each
// model, and never if the server has the tools.
func TestLostToolsAreNoticed(t *testing.T) {
	t.Parallel()
	const (
		words = `{"delta":{"content":"ok"},"finish_reason":"stop"}`
		call  = `{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"{}"}}]},"finish_reason":"tool_calls"}`
		no    = `{"chat_template":"{{ messages }}","chat_template_caps":{"supports_tools":false,"supports_tool_calls":false}}`
		yes   = `{"chat_template":"{{ messages }}","chat_template_caps":{"supports_tools":true}}`
	)
	for _, tt := range []struct {
		name         string
		prompt       int
		props, chunk string
		without      bool // the request has no tools
		says         string
		asked        int
	}{
		{"the template has none", 610, no, words, false, "the chat template of its server leaves them out", 1},
		{"an older server", 610, `{"chat_template":"{{ messages }}"}`, words, false, "leaves them out", 1},
		{"the template has tools", 610, yes, words, false, "", 1},
		{"an older server with tools", 610, `{"chat_template":"{% if tools %}"}`, words, false, "", 1},
		{"another server", 610, "", words, false, "its server counted 610 tokens for a request of about 2057", 1},
		{"another server, not certain", 900, "", words, false, "", 1},
		{"enough tokens", 1800, no, words, false, "", 0},
		{"a call", 610, no, call, false, "", 0},
		{"no usage", 0, no, words, false, "", 0},
		{"no tools", 37, no, words, true, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			url, asked := toolServer(t, tt.prompt, tt.props, tt.chunk)
			c, _ := patient(t, url, nil)
			m, err := c.Model(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			r := toolRequest()
			if tt.without {
				r.Tools = nil
			}
			var warnings []string
			for range 3 {
				for d, err := range m.Stream(t.Context(), r) {
					if err != nil {
						t.Fatal(err)
					}
					if d.Warning != "" {
						warnings = append(warnings, d.Warning)
					}
				}
			}
			if (len(warnings) == 1) != (tt.says != "") || len(warnings) > 1 || !strings.Contains(strings.Join(warnings, ""), tt.says) || *asked != tt.asked {
				t.Errorf("warned %q, asked for the template %d times", warnings, *asked)
			}
		})
	}
}

// TestAKeyWithAnAddressAsksForNoTemplateElsewhere: the server of the entry gets neither
// the key nor a question.
func TestAKeyWithAnAddressAsksForNoTemplateElsewhere(t *testing.T) {
	t.Parallel()
	portal, _ := toolServer(t, 610, "", `{"delta":{"content":"ok"},"finish_reason":"stop"}`)
	box := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("asked for %s with %q", r.URL, r.Header.Get("Authorization"))
	}))
	t.Cleanup(box.Close)
	key := hermes.Key{Secret: "k", BaseURL: portal}
	c := mustNew(t, provider.Config{
		Custom:      map[string]provider.Custom{"box": {BaseURL: box.URL + "/v1"}},
		Credentials: provider.Credentials{Keys: func(string, []hermes.Key) hermes.Keys { return &joined{keys: []hermes.Key{key, key}} }},
	})
	m, err := c.Model(t.Context(), "box:m")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hermes.Collect(m.Stream(t.Context(), toolRequest())); err != nil {
		t.Fatal(err)
	}
}
