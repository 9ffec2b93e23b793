package cmd_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// messagesServer speaks the Anthropic Messages protocol as a stream: first a
// call, then, when its result has come, words.
func messagesServer(t *testing.T, call, arguments, words string) (url string, bodies *[]string) {
	t.Helper()
	bodies = new([]string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("X-Api-Key") != "k" || r.Header.Get("Anthropic-Version") == "" {
			http.Error(w, `{"type":"error","error":{"type":"authentication_error","message":"bad request"}}`, http.StatusUnauthorized)
			return
		}
		*bodies = append(*bodies, string(raw))
		var in struct{ Stream bool }
		if json.Unmarshal(raw, &in) != nil || !in.Stream {
			http.Error(w, "want a stream", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(kind, data string) { fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data) }
		send("message_start", `{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":1}}}`)
		stop := "end_turn"
		if strings.Contains(string(raw), `"tool_result"`) {
			send("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
			send("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`+quote(words)+`}}`)
		} else {
			stop = "tool_use"
			send("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"`+call+`","input":{}}}`)
			half := len(arguments) / 2
			for _, part := range []string{arguments[:half], arguments[half:]} {
				send("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":`+quote(part)+`}}`)
			}
		}
		send("content_block_stop", `{"type":"content_block_stop","index":0}`)
		send("message_delta", `{"type":"message_delta","delta":{"stop_reason":"`+stop+`"},"usage":{"output_tokens":7}}`)
		send("message_stop", `{"type":"message_stop"}`)
	}))
	t.Cleanup(s.Close)
	return s.URL, bodies
}

func quote(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

func TestOneShotOverTheMessagesProtocol(t *testing.T) {
	t.Parallel()
	url, bodies := messagesServer(t, "write_file", `{"path":"a.txt","content":"from claude"}`, "Written.")
	p := newUser(t, "ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL="+url)
	if err := os.WriteFile(filepath.Join(p.home, "config.yaml"), []byte("evidence: {check: off}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(p.dir, "usage.json")
	out, errs, status := p.run("-z", "write a.txt", "-m", "anthropic:claude-sonnet-4-5", "--usage-file", report)
	if status != 0 || out != "Written.\n" {
		t.Fatalf("status %d: %q %q", status, out, errs)
	}
	if text, err := os.ReadFile(filepath.Join(p.dir, "a.txt")); err != nil || string(text) != "from claude" {
		t.Errorf("file %q, %v", text, err)
	}
	if len(*bodies) != 2 || !strings.Contains((*bodies)[0], `"cache_control"`) {
		t.Errorf("%d requests, or no cache marks", len(*bodies))
	}
	var u struct {
		Input     int `json:"input_tokens"`
		CacheRead int `json:"cache_read_tokens"`
	}
	raw, err := os.ReadFile(report)
	if err != nil || json.Unmarshal(raw, &u) != nil || u.Input != 20 || u.CacheRead != 180 {
		t.Errorf("usage %s, %v", raw, err)
	}
}
