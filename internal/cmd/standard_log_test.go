package cmd_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/chatserver"
)

// talkative answers as another server does, and sends a text after each answer.
func talkative(next http.Handler, text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprintf(conn, "HTTP/1.1 %d OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s%s",
			answer.Code, answer.Header().Get("Content-Type"), answer.Body.Len(), answer.Body, text)
		_, _ = conn.Read(make([]byte, 1)) // until the client has closed it
	})
}

// TestStandardLogIsTheProgramsLog lets a server send more than it was asked for, which net/http
// writes with the standard logger.
func TestStandardLogIsTheProgramsLog(t *testing.T) {
	t.Parallel()
	model := &chatserver.Handler{Model: "played", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		if results(r) < 3 {
			return call("terminal", map[string]string{"command": "echo one"}), nil
		}
		return chatserver.Answer{Text: "done"}, nil
	}}
	s := httptest.NewServer(talkative(model, "unasked violet-anchor-canary \x1b[2J"))
	t.Cleanup(s.Close)
	p := newUser(t, "OPENAI_BASE_URL="+s.URL+"/v1", "OPENAI_API_KEY=k")
	p.configure("logging: {level: debug}\n")
	if err := os.WriteFile(filepath.Join(p.home, ".env"), []byte("SHOP_TOKEN=violet-anchor-canary\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, status := p.run("-z", "hello", "-m", "played")
	if status != 0 || strings.Contains(errs, "nsolicited") || strings.Contains(out+errs, "canary") || strings.Contains(out+errs, "\x1b[2J") {
		t.Errorf("status %d, out %q, errs %q", status, out, errs)
	}
	log, err := os.ReadFile(filepath.Join(p.home, "logs", "agent.log"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(log, []byte("nsolicited")) || bytes.Contains(log, []byte("canary")) || bytes.Contains(log, []byte("\x1b")) {
		t.Errorf("the log is %s", log)
	}
}
