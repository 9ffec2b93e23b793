// Package cloudbrowsertest is a server for tests that speaks the APIs of Browserbase (below /bb) and Browser Use
// (below /bu), as their own clients do, and lends the same local browser to both.
//
// It accepts the key [Key], and refuses requests with a field that the service does not know, or without one that
// it needs. Start at New.
package cloudbrowsertest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Key is the key that the services accept, Signing the one in the addresses of their browsers.
const (
	Key     = "key-canary-4711-cloudbrowser"
	Signing = "signing-canary-4712"
)

// Request is one request that came for a session.
type Request struct {
	Method, Path, Key string
	Body              map[string]any
}

// Server speaks the APIs. Its fields may be changed before the first request.
type Server struct {
	*httptest.Server
	// Browser is the address where a local browser is debugged, such as http://127.0.0.1:9222.
	Browser string
	// Refuse returns the status and body of an answer to a request; status 0 answers as usual. Nil does.
	Refuse func(r Request) (status int, body string)

	mu       sync.Mutex
	made     int
	open     map[string]bool // ids
	requests []Request
}

// New starts a server. Close it at the end.
func New() *Server {
	s := &Server{open: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /bb/v1/sessions", s.api("X-BB-API-Key", http.StatusCreated, s.openBrowserbase))
	mux.HandleFunc("POST /bb/v1/sessions/{id}", s.api("X-BB-API-Key", http.StatusOK, s.endBrowserbase))
	mux.HandleFunc("POST /bu/browsers", s.api("X-Browser-Use-API-Key", http.StatusCreated, s.openBrowserUse))
	mux.HandleFunc("PATCH /bu/browsers/{id}", s.api("X-Browser-Use-API-Key", http.StatusOK, s.endBrowserUse))
	mux.HandleFunc("GET /bb/v1/sessions/{id}", s.api("X-BB-API-Key", http.StatusOK, func(r Request) (any, *fault) {
		return s.browserbase(last(r.Path), s.status(last(r.Path), "RUNNING", "COMPLETED"), nil), nil
	}))
	mux.HandleFunc("GET /bu/browsers/{id}", s.api("X-Browser-Use-API-Key", http.StatusOK, func(r Request) (any, *fault) {
		return s.browserUse(last(r.Path), s.status(last(r.Path), "active", "stopped"), nil), nil
	}))
	mux.HandleFunc("GET /connect", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("signingKey") != Signing {
			http.Error(w, "wrong signing key", http.StatusUnauthorized)
			return
		}
		s.lend(w, r, r.FormValue("sessionId"))
	})
	mux.HandleFunc("GET /cdp/{id}/{secret}/json/version", func(w http.ResponseWriter, r *http.Request) {
		// As behind a tunnel: the host is one that cannot be reached.
		answer(w, http.StatusOK, map[string]any{"webSocketDebuggerUrl": "ws://10.9.8.7:1/lent/" + r.PathValue("id") + "/" + Signing})
	})
	mux.HandleFunc("GET /lent/{id}/{secret}", func(w http.ResponseWriter, r *http.Request) { s.lend(w, r, r.PathValue("id")) })
	s.Server = httptest.NewServer(mux)
	return s
}

// Requests lists what came for sessions.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Open lists the ids of the browsers that are not released, in order.
func (s *Server) Open() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.open))
}

// fault is a request that the service does not accept.
type fault struct {
	status int
	text   string
}

// api checks what all requests have in common.
func (s *Server) api(header string, status int, do func(r Request) (any, *fault)) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		raw, err := io.ReadAll(io.LimitReader(hr.Body, 1<<20))
		r := Request{Method: hr.Method, Path: hr.URL.Path, Key: hr.Header.Get(header)}
		if r.Method == http.MethodGet && len(raw) > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil || r.Method != http.MethodGet && (json.Unmarshal(raw, &r.Body) != nil || !strings.HasPrefix(hr.Header.Get("Content-Type"), "application/json")) {
			answer(w, http.StatusBadRequest, map[string]any{"message": "the body is not a JSON object"})
			return
		}
		s.mu.Lock()
		s.requests = append(s.requests, r)
		s.mu.Unlock()
		if s.Refuse != nil {
			if status, body := s.Refuse(r); status != 0 {
				if status/100 == 3 {
					w.Header().Set("Location", body)
				}
				w.WriteHeader(status)
				_, _ = io.WriteString(w, body) // the client may be gone
				return
			}
		}
		if r.Key != Key {
			answer(w, http.StatusUnauthorized, map[string]any{"message": "the key " + r.Key + " is wrong"})
			return
		}
		said, wrong := do(r)
		if wrong != nil {
			answer(w, wrong.status, map[string]any{"message": wrong.text})
			return
		}
		answer(w, status, said)
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// fields refuses fields that are not known, and values of another kind.
func fields(body map[string]any, known map[string]func(v any) bool) *fault {
	for name, v := range body {
		if fits := known[name]; fits == nil || !fits(v) {
			return &fault{http.StatusUnprocessableEntity, fmt.Sprintf("the field %s = %v is not accepted", name, v)}
		}
	}
	return nil
}

func number(least, most float64) func(any) bool {
	return func(v any) bool { n, ok := v.(float64); return ok && n >= least && n <= most && n == float64(int64(n)) }
}

func boolean(v any) bool { _, ok := v.(bool); return ok }
func str(v any) bool     { _, ok := v.(string); return ok }

func (s *Server) begin(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	id := fmt.Sprintf("%s-4000-8000-00000000%04d", prefix, s.made)
	s.open[id] = true
	return id
}

func last(path string) string { return path[strings.LastIndex(path, "/")+1:] }

func (s *Server) status(id, runs, ended string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[id] {
		return runs
	}
	return ended
}

// end ends a session; false if it has ended.
func (s *Server) end(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.open[id]
	delete(s.open, id)
	return was
}

const moment = "2026-01-02T03:04:05Z"

func (s *Server) openBrowserbase(r Request) (any, *fault) {
	if wrong := fields(r.Body, map[string]func(any) bool{"projectId": str, "keepAlive": boolean, "proxies": boolean, "timeout": number(60, 21600)}); wrong != nil {
		return nil, wrong
	}
	id := s.begin("bbbbbbbb-0000")
	connect := strings.Replace(s.URL, "http:", "ws:", 1) + "/connect?signingKey=" + Signing + "&sessionId=" + id
	return s.browserbase(id, "RUNNING", map[string]any{"connectUrl": connect, "seleniumRemoteUrl": s.URL + "/selenium", "signingKey": Signing}), nil
}

func (s *Server) browserbase(id, status string, more map[string]any) map[string]any {
	all := map[string]any{"id": id, "createdAt": moment, "updatedAt": moment, "startedAt": moment, "expiresAt": moment, "projectId": "p",
		"status": status, "proxyBytes": 0, "keepAlive": false, "region": "us-west-2"}
	maps.Copy(all, more)
	return all
}

func (s *Server) endBrowserbase(r Request) (any, *fault) {
	if wrong := fields(r.Body, map[string]func(any) bool{"projectId": str, "status": func(v any) bool { return v == "REQUEST_RELEASE" }}); wrong != nil {
		return nil, wrong
	}
	id := last(r.Path)
	if r.Body["status"] == nil {
		return nil, &fault{http.StatusUnprocessableEntity, "status is missing"}
	}
	if !s.end(id) {
		return nil, &fault{http.StatusConflict, "the session has ended"}
	}
	return s.browserbase(id, "COMPLETED", nil), nil
}

func (s *Server) openBrowserUse(r Request) (any, *fault) {
	country := func(v any) bool { return v == nil || str(v) }
	if wrong := fields(r.Body, map[string]func(any) bool{"timeout": number(1, 240), "proxyCountryCode": country}); wrong != nil {
		return nil, wrong
	}
	id := s.begin("cccccccc-0000")
	return s.browserUse(id, "active", map[string]any{"cdpUrl": s.URL + "/cdp/" + id + "/" + Signing, "liveUrl": s.URL + "/live"}), nil
}

func (s *Server) browserUse(id, status string, more map[string]any) map[string]any {
	all := map[string]any{"id": id, "status": status, "timeoutAt": moment, "startedAt": moment, "proxyUsedMb": "0", "proxyCost": "0", "browserCost": "0"}
	maps.Copy(all, more)
	return all
}

func (s *Server) endBrowserUse(r Request) (any, *fault) {
	if wrong := fields(r.Body, map[string]func(any) bool{"action": func(v any) bool { return v == "stop" }}); wrong != nil {
		return nil, wrong
	}
	id := last(r.Path)
	if r.Body["action"] == nil {
		return nil, &fault{http.StatusUnprocessableEntity, "action is missing"}
	}
	if !s.end(id) {
		return nil, &fault{http.StatusBadRequest, "the browser has stopped"}
	}
	return s.browserUse(id, "stopped", nil), nil
}

// lend passes a connection on to the local browser, if its session is open.
func (s *Server) lend(w http.ResponseWriter, r *http.Request, id string) {
	s.mu.Lock()
	open := s.open[id]
	s.mu.Unlock()
	if !open {
		http.Error(w, "the session has ended", http.StatusGone)
		return
	}
	resp, err := s.Client().Get(s.Browser + "/json/version")
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	var version struct {
		URL string `json:"webSocketDebuggerUrl"`
	}
	socket, to := (*url.URL)(nil), (*url.URL)(nil)
	if err = json.NewDecoder(resp.Body).Decode(&version); err == nil {
		socket, err = url.Parse(version.URL)
	}
	if err == nil {
		to, err = url.Parse(s.Browser)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	proxy := httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.Out.URL.Scheme, p.Out.URL.Host, p.Out.URL.Path, p.Out.URL.RawQuery = "http", to.Host, socket.Path, ""
		p.Out.Host = to.Host
	}}
	proxy.ServeHTTP(w, r)
}
