package app_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// narrow is a service that refuses requests over a number of bytes. Its model
// reads three files, one after another, and then answers.
type narrow struct {
	most    int    // of the messages
	refusal string // the error body

	mu       sync.Mutex
	refused  int
	accepted []int // sizes, in the order of the requests
}

func (n *narrow) serve(t *testing.T) *httptest.Server {
	h := &chatserver.Handler{Model: "m", Decide: n.decide}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, messages, _ := bytes.Cut(body, []byte(`"messages":`))
		n.mu.Lock()
		long := r.Method == http.MethodPost && len(messages) > n.most
		switch {
		case long:
			n.refused++
		case r.Method == http.MethodPost:
			n.accepted = append(n.accepted, len(messages))
		}
		n.mu.Unlock()
		if long {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, n.refusal)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (n *narrow) decide(r *chatserver.Request) (chatserver.Answer, error) {
	if strings.Contains(string(r.Body), "The turns to summarize") {
		return chatserver.Answer{Text: "## Goal\nThe files were read."}, nil
	}
	read := 0
	for _, m := range r.Messages {
		if m.Role == "tool" {
			read++
		}
	}
	if read < 3 && !strings.Contains(string(r.Body), "The files were read.") {
		arguments := fmt.Sprintf(`{"path":"file%d.txt"}`, read)
		return chatserver.Answer{Calls: []chatserver.Call{{ID: fmt.Sprint("c", read), Type: "function", Function: chatserver.Function{Name: "read_file", Arguments: arguments}}}}, nil
	}
	return chatserver.Answer{Text: "read them all"}, nil
}

// TestTooLongAfterThreeCalls: a service refuses the request in the middle of a
// turn, after three tool calls, in each of the ways in which services say so. The
// conversation is made shorter, as often as that helps, and the turn goes on.
func TestTooLongAfterThreeCalls(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, refusal, config string
		most, file            int
	}{
		{"no number", `{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error"}}`, "", 36_000, 12_000},
		{"a limit in the text", `{"error":{"message":"This model's maximum context length is 12000 tokens. However, your messages resulted in 15000 tokens.","code":"context_length_exceeded"}}`, "", 36_000, 12_000},
		{"a limit in a field", `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":15000,"n_ctx":12000}}`, "", 36_000, 12_000},
		{"much less than is known", `{"error":{"message":"prompt is too long"}}`, "32000", 50_000, 20_000},
		{"much narrower than guessed", `{"error":{"message":"prompt is too long"}}`, "", 12_000, 14_000},
		{"tokens of the answer too", `{"error":{"message":"Input validation error: inputs tokens + max_new_tokens must be <= 12000. Given: 15000 inputs tokens"}}`, "", 36_000, 14_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := &narrow{most: tt.most, refusal: tt.refusal}
			url := n.serve(t).URL
			home, dir := t.TempDir(), t.TempDir()
			config := "model: {default: m, provider: custom, base_url: \"" + url + "/v1\""
			if tt.config != "" {
				config += ", context_length: " + tt.config
			}
			writeFile(t, filepath.Join(home, "config.yaml"), config+"}\nauxiliary: {title_generation: {enabled: false}, background_review: {enabled: false}}\n")
			for i := range 3 {
				writeFile(t, filepath.Join(dir, fmt.Sprintf("file%d.txt", i)), strings.Repeat(fmt.Sprintf("a line of the file %d with some words in it\n", i), tt.file/45))
			}
			a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
			defer a.Close()
			live := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: dir}}, From: hermes.From{Attends: true}})
			for e := range mustSay(t, live, "read the three files") {
				done, ok := e.(hermes.TurnDone)
				if !ok {
					continue
				}
				n.mu.Lock()
				if done.Failure != nil || done.Text != "read them all" || n.refused == 0 {
					t.Errorf("the turn ended with %q, %v after %d refusals; accepted sizes %v", done.Text, done.Err(), n.refused, n.accepted)
				}
				n.mu.Unlock()
				break
			}
		})
	}
}
