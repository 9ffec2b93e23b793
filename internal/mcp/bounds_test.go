package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/internal/mcp"
	"hermes/internal/mcp/setting"
)

// inquisitor is a service that is written by hand, so that it can ask and answer without bounds. What it sends
// as events has its data on several lines.
type inquisitor struct {
	mu       sync.Mutex
	refusals []string      // that it got
	enough   chan struct{} // closed when there are as many as it expects
	missing  bool          // they did not come
}

// deeper is JSON with more levels than a message may have.
var deeper = strings.Repeat("[", 100) + strings.Repeat("]", 100)

const tooMuch = 24 // of the forty questions, beside the sixteen that may be open

func (q *inquisitor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		message
		Result json.RawMessage           `json:"result"`
		Error  *struct{ Message string } `json:"error"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	switch {
	case m.Error != nil && strings.Contains(m.Error.Message, "too many"):
		q.mu.Lock()
		if q.refusals = append(q.refusals, m.Error.Message); len(q.refusals) == tooMuch+1 {
			close(q.enough)
		}
		q.mu.Unlock()
		fallthrough
	case m.Method == "" || m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(data string) {
		fmt.Fprintf(w, "event: message\ndata: %s\n\n", strings.ReplaceAll(data, `,"`, ",\ndata:  \""))
		w.(http.Flusher).Flush()
	}
	result := results[m.Method]
	switch m.Method {
	case "server/discover":
		send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID))
		return
	case "tools/call":
		if m.Params.Name == "add" {
			result = `{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":` + deeper + `}}`
			break
		}
		for i := range 40 {
			send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}`, i))
		}
		send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":` + deeper + `}}`)
		send(`{"jsonrpc":"2.0","id":"deep","method":"roots/list","params":{"a":` + deeper + `}}`)
		select {
		case <-q.enough:
		case <-r.Context().Done():
		case <-time.After(20 * time.Second):
			q.mu.Lock()
			q.missing = true
			q.mu.Unlock()
		}
	}
	send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result))
}

// TestBoundsHoldForServices: as for programs, sixteen questions are open at a time and the others are refused,
// and what has too many levels is not read; the connection goes on.
func TestBoundsHoldForServices(t *testing.T) {
	t.Parallel()
	q := &inquisitor{enough: make(chan struct{})}
	f := startHTTP(t, listening(t, q).URL, func(s *setting.Server, _ *mcp.Config) { s.Protocol = setting.ProtocolLegacy })
	f.ready(t)
	r, _, err := f.call(t.Context(), &host{session: "s", slow: true}, "write", `{}`, false)
	if err != nil || r.Text != "done" {
		t.Errorf("%+v, %v", r, err)
	}
	q.mu.Lock()
	many, deep := 0, 0
	for _, why := range q.refusals {
		switch {
		case strings.Contains(why, "at the same time"):
			many++
		case strings.Contains(why, "levels"):
			deep++
		}
	}
	if q.missing || many != tooMuch || deep != 1 {
		t.Errorf("%d refusals because of their number and %d because of their depth: %q", many, deep, q.refusals)
	}
	q.mu.Unlock()
	if _, _, err := f.call(t.Context(), &host{session: "s"}, "add", `{}`, false); err == nil || !strings.Contains(err.Error(), "too many levels") {
		t.Errorf("a deep answer: %v", err)
	}
	if _, _, err := f.call(t.Context(), &host{session: "s"}, "add", `{}`, false); err == nil || !strings.Contains(err.Error(), "too many levels") {
		t.Errorf("after it: %v", err)
	}
}

// TestARefusalEndsNoQuestion: a server gains no room by a request that is refused and has the id of a question
// that is open.
func TestARefusalEndsNoQuestion(t *testing.T) {
	t.Parallel()
	f := start(t, "hostile:reuses@tools/call", func(s *setting.Server, _ *mcp.Config) { s.Times.Call = 20 * time.Second })
	f.ready(t)
	r, _, err := f.call(t.Context(), &host{session: "s", slow: true}, "write", `{}`, false)
	if err != nil || !strings.Contains(r.Text, "levels") || !strings.Contains(r.Text, "at the same time") {
		t.Errorf("refused: %q, %v", r.Text, err)
	}
}
