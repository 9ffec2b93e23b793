// Package places keeps the environments of the sessions that do not work on this machine, by
// the id of the session. What a message of the user points at may be needed before the
// session has its runtime, and a child session works in the place of its parent.
//
// The package knows no particular backend. Start at Places.Of.
package places

import (
	"errors"
	"sync"

	"hermes"
	"hermes/internal/environment/remote"
)

// Places holds environments. The zero value holds none. Its methods may be called
// concurrently.
type Places struct {
	mu     sync.Mutex
	open   map[string]*remote.Environment
	closed bool
}

// Asked says whose environment is wanted.
type Asked struct {
	Session string
	// Parent is the session in whose place a child session works; "" is none. If it has no
	// environment now, the child gets one of its own.
	Parent string
	// Dir is the first folder of a child session.
	Dir string
}

// Of returns the environment of a session, and makes it if there is none. It is kept until
// Release or Close.
func (p *Places) Of(a Asked, make func() (*remote.Environment, error)) (*remote.Environment, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, hermes.ErrClosed
	}
	if e := p.open[a.Session]; e != nil {
		return e, nil
	}
	if above := p.open[a.Parent]; above != nil {
		return p.keep(a.Session, above.View(a.Dir)), nil
	}
	e, err := make()
	if err != nil {
		return nil, err
	}
	return p.keep(a.Session, e), nil
}

// keep remembers an environment. The caller holds mu.
func (p *Places) keep(session string, e *remote.Environment) *remote.Environment {
	if p.open == nil {
		p.open = map[string]*remote.Environment{}
	}
	p.open[session] = e
	return e
}

// Open returns the environment that a session has, nil if it has none. The caller does not close it.
func (p *Places) Open(session string) *remote.Environment {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open[session]
}

// Has reports whether a session has an environment here.
func (p *Places) Has(session string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open[session] != nil
}

// Release closes the environment of a session, if it has one.
func (p *Places) Release(session string) error {
	p.mu.Lock()
	e := p.open[session]
	delete(p.open, session)
	p.mu.Unlock()
	if e == nil {
		return nil
	}
	return e.Close()
}

// Close closes all environments.
func (p *Places) Close() error {
	p.mu.Lock()
	open := p.open
	p.open, p.closed = nil, true
	p.mu.Unlock()
	var errs []error
	for _, e := range open {
		errs = append(errs, e.Close())
	}
	return errors.Join(errs...)
}
