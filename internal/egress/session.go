package egress

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"hermes"
	"hermes/internal/accept"
)

// SessionConfig is what one sandboxed session may do.
type SessionConfig struct {
	Name    string  // of the session, for records
	Allow   []Rule  // Session.Allow adds to them
	Deny    []Rule  // win over Allow; one without a port covers every port
	Swapper Swapper // nil is none
	// Open takes clients without a token, for a program that cannot send one. Whoever can reach a
	// listener of the session may do then what the session may.
	Open bool
}

// Session is the way out of one sandboxed session. It may be used concurrently.
type Session struct {
	proxy  *Proxy
	config SessionConfig
	token  hermes.Secret
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup // connections and questions

	mu        sync.Mutex
	closed    bool
	allow     []Rule
	conns     map[*conn]struct{}
	listeners map[net.Listener]struct{}
	asking    map[target]*question
	live      map[target]int // connections that were made and have not ended
	ruled     map[*conn]held // connections of clients that a rule allowed
	refusals  refusals
	quiet     quiet // of refusals
	noise     quiet // of what else a process can cause
}

// errClosed is returned by Serve after Close.
var errClosed = errors.New("the session of the proxy is closed")

// Serve accepts connections until the listener or the session is closed, and closes the
// listener. The listener may belong to another network namespace: only Accept is called. It
// may be called for several listeners.
func (s *Session) Serve(l net.Listener) error {
	defer l.Close()
	if !s.begin(l) {
		return errClosed
	}
	defer s.work.Done()
	defer s.end(l)
	for {
		nc, err := accept.Next(s.ctx, l)
		if err != nil {
			if s.ctx.Err() != nil {
				return errClosed
			}
			return err
		}
		if c := s.admit(nc); c != nil {
			s.work.Go(func() { s.handle(c) })
		}
	}
}

func (s *Session) begin(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.work.Add(1)
	s.listeners[l] = struct{}{}
	return true
}

func (s *Session) end(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}

// admit counts a connection, or closes it if there are too many.
func (s *Session) admit(nc net.Conn) *conn {
	c := &conn{Conn: nc, session: s}
	s.mu.Lock()
	full := s.closed || len(s.conns) >= s.proxy.config.Limits.Conns
	if !full {
		select {
		case s.proxy.slots <- struct{}{}:
			s.conns[c] = struct{}{}
		default:
			full = true
		}
	}
	s.mu.Unlock()
	if full {
		s.notice("egress: too many connections")
		_ = nc.Close()
		return nil
	}
	return c
}

// drop ends the count of a connection.
func (s *Session) drop(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.conns[c]; ok {
		delete(s.conns, c)
		<-s.proxy.slots
	}
}

// handle serves one connection. The first byte says what it speaks.
func (s *Session) handle(c *conn) {
	defer c.Close()
	stop := context.AfterFunc(s.ctx, func() { _ = c.Close() })
	defer stop()
	total := time.AfterFunc(s.proxy.config.Limits.Total, func() { _ = c.Close() })
	defer total.Stop()
	_ = c.SetReadDeadline(time.Now().Add(s.proxy.config.Limits.Handshake))
	first, err := c.peek(1)
	if err != nil {
		return
	}
	switch b := first[0]; {
	case b == socksVersion:
		s.socks(c)
	case b >= 'A' && b <= 'Z':
		_ = c.SetReadDeadline(time.Time{})
		s.web(c)
	default:
		s.record(slog.LevelDebug, "egress: neither HTTP nor SOCKS5")
	}
}

// authentic compares a token in constant time.
func (s *Session) authentic(token string) bool {
	return s.config.Open || subtle.ConstantTimeCompare([]byte(token), []byte(s.token.Reveal())) == 1
}

// Allow adds a rule. The function that it returns takes one such rule out again, and ends the
// connections that no other rule allows.
func (s *Session) Allow(r Rule) (revoke func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.allow = append(s.allow, r)
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if i := slices.Index(s.allow, r); i >= 0 {
			s.allow = slices.Delete(s.allow, i, i+1)
		}
		for c, h := range s.ruled {
			if !s.covers(h) {
				_ = c.Conn.Close() // its goroutine does the rest
			}
		}
	})
}

// held is what a connection of a client is used for.
type held struct {
	target target
	grant  grant
}

// covers reports whether a rule still allows a connection. Call it with the lock held.
func (s *Session) covers(h held) bool {
	return slices.ContainsFunc(s.allow, func(r Rule) bool {
		return r.allows(h.target) && (!h.grant.private || r.private())
	})
}

// hold ends a connection of a client when no rule allows its target any more, until the
// returned func is called. It fails if that is so already. What the user was asked about, and
// no rule allowed, goes on.
func (s *Session) hold(c *conn, t target, g grant) (over func(), err error) {
	if !g.ruled {
		return func() {}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := held{t, g}
	if !s.covers(h) {
		return nil, &refused{t, "no rule allows it any more", undecided}
	}
	s.ruled[c] = h
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.ruled, c)
	}, nil
}

// Connected lists the hosts, in their plain form, with which processes are connected on a
// port now, not counting requests and connections into which a Swapper looks.
func (s *Session) Connected(port uint16) (hosts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for t := range s.live {
		if t.port == port {
			hosts = append(hosts, t.host)
		}
	}
	slices.Sort(hosts)
	return hosts
}

// count counts a connection that was made, until the returned func is called.
func (s *Session) count(t target) (ended func()) {
	add := func(n int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.live[t] += n; s.live[t] == 0 {
			delete(s.live, t)
		}
	}
	add(1)
	return func() { add(-1) }
}

// Refused returns what was refused at a time or later, the newest last. Equal refusals are one
// with a count; of a flood the newest are kept.
func (s *Session) Refused(since time.Time) []Refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refusals.since(since)
}

// Close ends the connections of the session and its listeners, and waits for them. So it must
// not be called by Config.Decide or a Swapper.
func (s *Session) Close() {
	s.mu.Lock()
	s.closed = true
	for l := range s.listeners {
		_ = l.Close()
	}
	s.mu.Unlock()
	s.cancel()
	s.proxy.forget(s)
	s.work.Wait()
}

// refuse records a refusal.
func (s *Session) refuse(r *refused) {
	now := time.Now()
	s.mu.Lock()
	count := s.refusals.add(r, now)
	suppressed, speak := s.quiet.speak(now)
	s.mu.Unlock()
	if !speak {
		return
	}
	s.record(slog.LevelInfo, "egress: refused", "host", r.target.host, "port", r.target.port, "why", r.why, "count", count, "unwritten", suppressed)
}

// passed records a connection that was made.
func (s *Session) passed(t target, in, out int64) {
	s.record(slog.LevelDebug, "egress: allowed", "host", t.host, "port", t.port, "received", in, "sent", out)
}

// notice records what a process did that is no refusal. A flood of it could push everything
// else out of the log.
func (s *Session) notice(text string) {
	s.mu.Lock()
	suppressed, speak := s.noise.speak(time.Now())
	s.mu.Unlock()
	if speak {
		s.record(slog.LevelInfo, text, "unwritten", suppressed)
	}
}

func (s *Session) record(level slog.Level, text string, args ...any) {
	s.proxy.config.Log.Log(context.WithoutCancel(s.ctx), level, text, append(args, "session", s.config.Name)...)
}
