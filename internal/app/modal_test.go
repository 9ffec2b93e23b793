package app_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/app"
)

// modalAPI speaks as much of Modal's API as an order needs, and refuses that.
type modalAPI struct {
	mu    sync.Mutex
	calls map[string][]byte // the newest message of each method
	wrong []string
}

func (m *modalAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	method := path.Base(r.URL.Path)
	if r.Header.Get("x-modal-token-id") != "the-id-1" || r.Header.Get("x-modal-token-secret") != "the-secret-1" || strings.HasPrefix(method, "Sandbox") && r.Header.Get("x-modal-auth-token") != "the-token-of-this-hour" {
		m.wrong = append(m.wrong, method)
	}
	body, _ := io.ReadAll(r.Body)
	m.calls[method] = body[min(5, len(body)):]
	w.Header().Set("Content-Type", "application/grpc+proto")
	w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
	text := func(n byte, s string) []byte { return append([]byte{n<<3 | 2, byte(len(s))}, s...) }
	answer, status := []byte(nil), "0"
	switch method {
	case "AuthTokenGet":
		answer = text(1, "the-token-of-this-hour")
	case "AppGetOrCreate":
		answer = text(1, "ap-1")
	case "EnvironmentGetOrCreate":
		answer = append(text(1, "en-1"), text(2, string(append(text(1, "main"), text(2, string(append(text(1, "main"), text(2, "2025.06")...)))...)))...)
	case "ImageGetOrCreate":
		answer = text(1, "im-1")
	case "ImageJoinStreaming":
		answer = append(text(1, "\x08\x01"), 4<<3, 1) // it is built
	case "SandboxCreateV2":
		status = "9"
		w.Header().Set("Grpc-Message", "no%20credit%20is%20left")
	}
	if status == "0" {
		_, _ = w.Write(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(answer))), answer...))
	}
	w.Header().Set("Grpc-Status", status)
}

// TestModalGetsItsSettings: the keys go to the address that the user names, and the order has image, size and owner. That it is
// refused is an error of the session.
func TestModalGetsItsSettings(t *testing.T) {
	t.Parallel()
	api := &modalAPI{calls: map[string][]byte{}}
	server := httptest.NewServer(api)
	defer server.Close()
	s := newScene(t, hermes.AllowOnce)
	s.config = "terminal: {backend: modal, modal_image: 'python:3', container_cpu: 2, container_memory: 3072}\n"
	s.options = func(o *app.Options) {
		o.Getenv = func(name string) string {
			return map[string]string{"MODAL_SERVER_URL": server.URL, "MODAL_TOKEN_ID": "the-id-1", "MODAL_TOKEN_SECRET": "the-secret-1"}[name]
		}
	}
	s.enter()
	err := s.live.Do(t.Context(), hermes.From{}, saying("hello"))
	for err == nil {
		if done, ok := (<-s.events).(hermes.TurnDone); ok {
			if err = done.Err(); err == nil {
				t.Fatal("the turn was done")
			}
		}
	}
	if !strings.Contains(err.Error(), "no credit is left") || !strings.Contains(err.Error(), "modal") {
		t.Errorf("the session: %v", err)
	}
	if name, err := s.app.CheckBackend(t.Context()); name != "modal" || err != nil {
		t.Errorf("doctor: %s, %v", name, err)
	}
	s.quit()
	api.mu.Lock()
	defer api.mu.Unlock()
	if len(api.wrong) > 0 {
		t.Errorf("wrong keys for %q", api.wrong)
	}
	size := []byte{2 << 3, 0x80, 0x18, 3 << 3, 0xd0, 0x0f} // 3072 MB, 2000 thousandths
	for method, want := range map[string][]byte{"ImageGetOrCreate": []byte("FROM python:3"), "SandboxCreateV2": size, "SandboxListV2": []byte("hermes-session")} {
		if got := api.calls[method]; !bytes.Contains(got, want) {
			t.Errorf("%s has no %q: %q", method, want, got)
		}
	}
	if got := api.calls["SandboxCreateV2"]; !bytes.Contains(got, []byte("im-1")) || !bytes.Contains(got, []byte("hermes-home")) || bytes.Contains(got, []byte(s.home)) {
		t.Errorf("the order is %q", got)
	}
}
