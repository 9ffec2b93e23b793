// Package faultserver is a model service that fails on demand or at random, in
// every way in which services fail: refusals of each kind, answers that break
// off at any place, garbage, floods, drips, silence, and what lies below HTTP.
//
// It speaks Chat Completions (paths that end in /chat/completions) and Messages
// (paths that end in /messages), streaming, and counts the tokens that it told
// its clients, so that their books can be held against its own. Reach it
// through Client: some faults are those of the way to a server. Nothing in it
// waits for a clock but the faults that are marked Slow, which last until the
// client gives up.
//
// Start reading at Server; the faults stand in fault.go.
package faultserver

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
)

// Call is one tool call of an answer; Arguments is JSON.
type Call struct{ ID, Name, Arguments string }

// Answer is what the server says where it does not fail.
type Answer struct {
	Text          string
	Calls         []Call
	Input, Output int64 // tokens
}

// Count is what the server did so far. Tokens are those that it told.
type Count struct {
	Requests, Answered int
	Input, Output      int64
	Faults             map[string]int // by name
}

// Server is a service that fails. It may be used concurrently.
type Server struct {
	URL    string
	decide func(body []byte) Answer
	http   *httptest.Server
	net    *network

	mu     sync.Mutex
	plan   []Fault
	random *rand.Rand
	share  float64
	among  []Fault
	count  Count
	closed chan struct{}

	refused int64 // the size that was called too long
	until   int   // shorter ones are not, up to this request
}

// New starts a server on this machine. Decide says what it answers; it is
// called concurrently. Close must be called.
func New(decide func(body []byte) Answer) *Server {
	s := &Server{decide: decide, net: newNetwork(), closed: make(chan struct{}), count: Count{Faults: map[string]int{}}}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	return s
}

// Close ends the server and every answer that still drips.
func (s *Server) Close() {
	close(s.closed)
	s.http.CloseClientConnections()
	s.http.Close()
	s.net.close()
}

// Plan makes the next requests fail, each by the next of these faults. Then
// the server answers.
func (s *Server) Plan(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan = append(s.plan, faults...)
}

// Randomly makes a share of the requests fail, by these faults. The same seed
// gives the same faults to the same requests.
func (s *Server) Randomly(seed uint64, share float64, among []Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.random, s.share, s.among = rand.New(rand.NewPCG(seed, 1)), share, slices.Clone(among)
}

// Count returns what was done so far.
func (s *Server) Count() Count {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.count
	c.Faults = map[string]int{}
	for name, n := range s.count.Faults {
		c.Faults[name] = n
	}
	return c
}

// longRequest is the size from which a request may be called too long at
// random, in bytes.
const longRequest = 16 << 10

// next is the fault of the next request, which has this size; nil is none.
func (s *Server) next(size int64) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count.Requests++
	var f *Fault
	switch {
	case len(s.plan) > 0:
		f, s.plan = &s.plan[0], s.plan[1:]
	case s.random != nil && s.random.Float64() < s.share:
		f = &s.among[s.random.IntN(len(s.among))]
		if f.Shorter && (size < longRequest || size < s.refused && s.count.Requests < s.until) {
			f = nil
		}
	}
	if f != nil && f.Shorter {
		s.refused, s.until = size, s.count.Requests+100
	}
	if f != nil {
		s.count.Faults[f.Name]++
	}
	return f
}

func (s *Server) countUsage(input, output int64, whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count.Input += input
	s.count.Output += output
	if whole {
		s.count.Answered++
	}
}

// Client returns a client that reaches the server, over a way that fails where
// the fault is one of the way.
func (s *Server) Client() *http.Client {
	return &http.Client{Transport: &way{server: s, base: s.http.Client().Transport}}
}

// way decides which fault a request meets.
type way struct {
	server *Server
	base   http.RoundTripper
}

func (w *way) RoundTrip(req *http.Request) (*http.Response, error) {
	f := w.server.next(req.ContentLength)
	if f != nil && f.way != nil {
		return f.way(w.server.net).RoundTrip(req)
	}
	if f != nil {
		req = req.Clone(req.Context())
		req.Header.Set(faultHeader, f.Name)
	}
	return w.base.RoundTrip(req)
}

// CloseIdleConnections lets http.Client close what is kept for reuse.
func (w *way) CloseIdleConnections() {
	if c, ok := w.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// faultHeader tells the server which fault the way has chosen.
const faultHeader = "X-Test-Fault"

// ServeHTTP answers one request, or fails.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // only then a server notices that its client has gone
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	e := &exchange{Server: s, ctx: ctx, w: w, request: body, answer: s.decide(body), wire: wireOf(r.URL.Path)}
	if f, ok := byName(r.Header.Get(faultHeader)); ok {
		f.serve(e)
		return
	}
	e.answerWhole()
}
