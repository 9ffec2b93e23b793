package egress

import (
	"context"
	"errors"

	"hermes/internal/netguard"
)

// Request is a connection that no rule covers.
type Request struct {
	Session string // SessionConfig.Name
	Host    string // in its plain form
	Port    uint16
	// Private is set if the text of the host shows that it is on this machine or its network.
	Private bool
}

// Verdict is the answer to a Request. The zero value refuses. It holds for the connections
// that waited for it; Session.Allow makes it last.
type Verdict struct {
	Allow    bool
	Private  bool     // as in Rule
	Protocol Protocol // as in Rule
	Why      string   // why it is refused, as the end of "example.org:443 is refused: "
}

// grant is what a connection may do.
type grant struct {
	protocol Protocol
	private  bool
	ruled    bool // a rule allows it
}

// judge decides about a target by its text alone.
func (s *Session) judge(ctx context.Context, t target) (grant, error) {
	class, what := netguard.ClassifyName(t.host)
	if a, ok := t.address(); ok {
		class, what = netguard.ClassifyOn(a, s.proxy.config.Networks())
	}
	if class == netguard.Metadata || class == netguard.Unusable {
		return grant{}, &refused{t, "it is " + what, final}
	}
	if err := s.denied(t, t); err != nil {
		return grant{}, err
	}
	g, err := s.allowed(t)
	if err != errUndecided {
		return s.local(t, g, err, class, what)
	}
	v, err := s.decide(ctx, Request{Session: s.config.Name, Host: t.host, Port: t.port, Private: class == netguard.Private})
	if err != nil {
		return grant{}, err
	}
	return s.local(t, grant{protocol: v.Protocol.on(t.port), private: v.Private}, nil, class, what)
}

// local refuses a host whose text shows a private address, without a rule that allows that.
func (s *Session) local(t target, g grant, err error, class netguard.Class, what string) (grant, error) {
	if err == nil && class == netguard.Private && !g.private {
		return grant{}, &refused{t, "it is " + what, private}
	}
	return g, err
}

var errUndecided = errors.New("no rule covers the host")

// denied asks the rules that forbid about a target, or about an address that it leads to.
func (s *Session) denied(t, leadsTo target) error {
	if s.proxy.config.Deny != nil {
		if rule, denied := s.proxy.config.Deny(leadsTo.host, leadsTo.port); denied {
			return &refused{t, "the rule " + rule + " of the user forbids it", final}
		}
	}
	for _, r := range s.config.Deny {
		if r.Pattern.Match(leadsTo.host, leadsTo.port) {
			return &refused{t, "the rule " + r.String() + " forbids it", final}
		}
	}
	return nil
}

// allowed asks the rules that allow. Each adds what it permits, but a protocol that is declared
// counts before the usual one of the port.
func (s *Session) allowed(t target) (grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, err := grant{}, errUndecided
	for _, r := range s.allow {
		if !r.allows(t) {
			continue
		}
		g.ruled = true
		if err = nil; r.Protocol != ByPort {
			g.protocol = r.Protocol
		}
		g.private = g.private || r.private()
	}
	g.protocol = g.protocol.on(t.port)
	return g, err
}

// question is an undecided host that is being asked about.
type question struct {
	done    chan struct{}
	verdict Verdict
}

// decide asks Config.Decide, once for connections that arrive together.
func (s *Session) decide(ctx context.Context, r Request) (Verdict, error) {
	t := target{r.Host, r.Port}
	if s.proxy.config.Decide == nil {
		return Verdict{}, &refused{t, "no rule allows it", undecided}
	}
	s.mu.Lock()
	q, waits := s.asking[t]
	if !waits && len(s.asking) >= s.proxy.config.Limits.Asking {
		s.mu.Unlock()
		return Verdict{}, &refused{t, "no rule allows it, and several other hosts wait for a decision", undecided}
	}
	if !waits {
		q = &question{done: make(chan struct{})}
		s.asking[t] = q
		s.work.Go(func() { s.ask(r, q) })
	}
	s.mu.Unlock()
	select {
	case <-q.done:
	case <-ctx.Done():
		return Verdict{}, ctx.Err()
	}
	if q.verdict.Allow {
		return q.verdict, nil
	}
	why := "it was not allowed"
	if q.verdict.Why != "" {
		why = q.verdict.Why
	}
	return Verdict{}, &refused{t, why, undecided}
}

func (s *Session) ask(r Request, q *question) {
	ctx, cancel := context.WithTimeout(s.ctx, s.proxy.config.Limits.Decide)
	defer cancel()
	q.verdict = s.proxy.config.Decide(ctx, r)
	s.mu.Lock()
	delete(s.asking, target{r.Host, r.Port})
	s.mu.Unlock()
	close(q.done)
}
