// Package oauthserver is a small local login service for tests: the code flow
// with PKCE, the device flow, and refresh tokens that, as with strict services,
// can be used only once.
//
// It must not know any client. Tests control it with the fields of Server and
// read its counters, so that a test can say "exactly one refresh reached the
// service". Start reading at New; the grants are in grants.go.
package oauthserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
)

// Server is the service. Its counters may be read at any time through Counts.
type Server struct {
	// URL is where it listens.
	URL string
	// Lifetime is what expires_in says, in seconds; 0 leaves it out.
	Lifetime int
	// Reuse keeps a refresh token valid after its use.
	Reuse bool
	// Hold, if set, is called in each refresh before the answer.
	Hold func()

	http *httptest.Server

	mu      sync.Mutex
	serial  int
	device  []string // answers to polls that come before the token
	codes   map[string]grant
	refresh map[string]bool // valid refresh tokens
	spent   map[string]bool
	counts  Counts
	access  map[string]bool
}

// grant is a code that was issued.
type grant struct{ challenge, redirect string }

// Counts says how often something was requested.
type Counts struct {
	Refreshes int // requests with the refresh grant
	Replays   int // those with a token that was already spent
	Polls     int
	Codes     int
}

// New starts the service on 127.0.0.1; Close ends it.
func New() *Server {
	s := &Server{Lifetime: 3600, codes: map[string]grant{}, refresh: map[string]bool{}, spent: map[string]bool{}, access: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /authorize", s.authorize)
	mux.HandleFunc("POST /token", s.token)
	mux.HandleFunc("POST /device", s.startDevice)
	mux.HandleFunc("POST /keys", s.key)
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL
	return s
}

// Close ends the service.
func (s *Server) Close() { s.http.Close() }

// Counts returns the counters.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// Device sets the answers to polls of a device code before the token comes:
// error codes of RFC 8628, or "500".
func (s *Server) Device(answers ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.device = answers
}

// Issue issues a pair of tokens without a login.
func (s *Server) Issue() (access, refresh string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.issue()
}

// Valid reports whether an access token is the newest of its chain.
func (s *Server) Valid(access string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.access[access]
}

// Revoke invalidates every token that was issued.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.refresh)
	clear(s.access)
}

// issue must be called with the lock held.
func (s *Server) issue() (access, refresh string) {
	s.serial++
	access, refresh = fmt.Sprintf("canary-access-%04d", s.serial), fmt.Sprintf("canary-refresh-%04d", s.serial)
	s.access[access], s.refresh[refresh] = true, true
	return access, refresh
}

func (s *Server) give(w http.ResponseWriter) {
	access, refresh := s.issue()
	out := map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "scope": "all"}
	if s.Lifetime > 0 {
		out["expires_in"] = s.Lifetime
	}
	reply(w, http.StatusOK, out)
}

func refuse(w http.ResponseWriter, code, words string) {
	reply(w, http.StatusBadRequest, map[string]any{"error": code, "error_description": words})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that is gone does not matter
}
