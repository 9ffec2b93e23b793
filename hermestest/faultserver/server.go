// Package faultserver is a fake model service that fails on demand or at
// random, in the ways in which real services fail: refusals, answers that break
// off, garbage, floods, slow answers, silence, and network errors.
//
// It serves Chat Completions (paths that end in /chat/completions) and Messages
// (paths that end in /messages), streaming only. It counts the tokens that it
// reports, so that tests can compare them with the client's ledger. Use it
// through Client, because some faults are on the network path; a program of its
// own reaches it at URL, and those faults through NewFront. Only faults marked
// Slow take time: they last until the client gives up.
//
// Start reading at Server; the faults are in fault.go.
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

// Answer is what the server answers when it does not fail.
type Answer struct {
	Text          string
	Calls         []Call
	Input, Output int64 // tokens
}

// Count is what the server did so far. Tokens are those that it reported.
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

	refused int64 // the size that was refused as too long
	until   int   // shorter requests are accepted up to this request
}

// New starts a server on this machine. decide returns its answer to a request
// body and may be called concurrently. The caller must call Close.
func New(decide func(body []byte) Answer) *Server {
	s := &Server{decide: decide, net: newNetwork(), closed: make(chan struct{}), count: Count{Faults: map[string]int{}}}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	return s
}

// Close ends the server and all its answers.
func (s *Server) Close() {
	close(s.closed)
	s.http.CloseClientConnections()
	s.http.Close()
	s.net.close()
}

// Plan makes the next requests fail, each with the next of these faults; the
// request of a None is answered. After that the server answers.
func (s *Server) Plan(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan = append(s.plan, faults...)
}

// Randomly makes a share of the requests fail with these faults. The same seed
// gives the same faults for the same requests.
func (s *Server) Randomly(seed uint64, share float64, among []Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.random, s.share, s.among = rand.New(rand.NewPCG(seed, 1)), share, slices.Clone(among)
}

// Count returns what the server did so far.
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

// longRequest is the minimum size, in bytes, of a request that may be refused
// as too long at random.
const longRequest = 16 << 10

// next returns the fault for the next request, which has this size; nil means
// none.
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
	if f != nil && f.Name == "" {
		return nil
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

// Client returns a client for the server. For faults of the network path, its
// transport fails.
func (s *Server) Client() *http.Client {
	return &http.Client{Transport: &way{server: s, base: s.http.Client().Transport}}
}

// way is the transport of Client: it decides which fault a request gets.
type way struct {
	server *Server
	base   http.RoundTripper
}

func (w *way) RoundTrip(req *http.Request) (*http.Response, error) {
	f := w.server.next(req.ContentLength)
	if f != nil && f.way != nil {
		return f.way(w.server.net).RoundTrip(req)
	}
	req = req.Clone(req.Context())
	req.Header.Set(faultHeader, noFault)
	if f != nil {
		req.Header.Set(faultHeader, f.Name)
	}
	return w.base.RoundTrip(req)
}

// CloseIdleConnections lets http.Client close idle connections.
func (w *way) CloseIdleConnections() {
	if c, ok := w.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// faultHeader tells the server which fault the transport has chosen: the name
// of the fault, or noFault. The server chooses for requests without it.
const (
	faultHeader = "X-Test-Fault"
	noFault     = "none"
)

// ServeHTTP answers one request, or fails. It has no list of models: a request for it
// is not counted and takes no fault.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body) // a server must read the body to notice that its client has gone
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	e := &exchange{Server: s, ctx: ctx, w: w, request: body, answer: s.decide(body), protocol: protocolOf(r.URL.Path)}
	f, ok := byName(r.Header.Get(faultHeader))
	if r.Header.Get(faultHeader) == "" {
		if chosen := s.next(int64(len(body))); chosen != nil && chosen.serve != nil {
			f, ok = *chosen, true
		}
	}
	if ok {
		f.serve(e)
		return
	}
	e.answerWhole()
}
