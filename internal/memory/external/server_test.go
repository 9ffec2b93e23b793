package external_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// service is a local server with the API of one of the services. It finds what
// it has stored by words.
type service struct {
	*httptest.Server
	mu       sync.Mutex
	said     []string
	requests []request
	// answer, if set, replaces the API's answer.
	answer func(w http.ResponseWriter, r *http.Request) bool
}

type request struct {
	line, auth string
	body       map[string]any
}

func newService(t *testing.T, api func(s *service, mux *http.ServeMux)) *service {
	t.Helper()
	s := &service{}
	mux := http.NewServeMux()
	api(s, mux)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if r.Body != nil {
			_ = json.NewDecoder(r.Body).Decode(&body)
		}
		s.mu.Lock()
		s.requests = append(s.requests, request{r.Method + " " + r.URL.RequestURI(), r.Header.Get("Authorization"), body})
		answer := s.answer
		s.mu.Unlock()
		if answer != nil && answer(w, r) {
			return
		}
		mux.ServeHTTP(w, r.WithContext(withBody(r.Context(), body)))
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *service) keep(texts ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, texts...)
}

// find returns the stored texts that share a long word with a question.
func (s *service) find(question string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, text := range s.said {
		for _, w := range strings.Fields(strings.ToLower(question)) {
			if w = strings.Trim(w, "?.,!"); len(w) > 4 && strings.Contains(strings.ToLower(text), w) {
				out = append(out, text)
				break
			}
		}
	}
	return out
}

func (s *service) seen() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]request(nil), s.requests...)
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
