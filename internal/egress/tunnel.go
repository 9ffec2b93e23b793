package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"syscall"
	"time"

	"hermes/internal/netguard"
)

// tunnel serves a client that asked for a connection to a target, by CONNECT or SOCKS5. reply
// is called once, with nil if the client may go on; it is called before anything else is sent.
func (s *Session) tunnel(c *conn, t target, reply func(error) error) {
	g, err := s.judge(s.ctx, t)
	over := func() {}
	if err == nil {
		over, err = s.hold(c, t, g)
	}
	if err != nil {
		s.fail(err)
		_ = reply(err)
		return
	}
	defer over()
	swapper := s.config.Swapper
	switch {
	case swapper != nil && g.protocol != HTTP && g.protocol != SSH && swapper.Handles(t.host, t.port):
		if reply(nil) == nil {
			s.swap(c, t, g)
		}
	case g.protocol == HTTP: // each request is judged; a connection is made for each
		if reply(nil) == nil {
			s.fixed(c, t, g)
		}
	default:
		s.direct(c, t, g, reply)
	}
}

// fail records an error of a connection.
func (s *Session) fail(err error) {
	if r, ok := errors.AsType[*refused](err); ok {
		s.refuse(r)
		return
	}
	s.record(slog.LevelDebug, "egress: failed", "error", err.Error())
}

// direct connects the client with the target.
func (s *Session) direct(c *conn, t target, g grant, reply func(error) error) {
	server, err := s.dial(s.ctx, t, g)
	if err != nil {
		s.fail(err)
		_ = reply(err)
		return
	}
	defer server.Close()
	stop := context.AfterFunc(s.ctx, func() { _ = server.Close() })
	defer stop()
	defer s.count(t)()
	if reply(nil) != nil {
		return
	}
	first := func() error { // what it refuses is recorded before the client sees the end
		err := s.begins(c, t, g.protocol)
		if err != nil {
			s.fail(err)
		}
		return err
	}
	if g.protocol == TLS { // a server of TLS has nothing to say before the client
		if first() != nil {
			return
		}
		first = func() error { return nil }
	}
	received, sent, err := relay(c, server, s.proxy.config.Limits.Idle, first)
	if _, ok := errors.AsType[*refused](err); !ok {
		s.passed(t, received, sent)
	}
}

// swap hands a connection to the swapper after its first message was judged.
func (s *Session) swap(c *conn, t target, g grant) {
	if err := s.begins(c, t, TLS); err != nil {
		s.fail(err)
		return
	}
	dial := func(ctx context.Context) (net.Conn, error) {
		server, err := s.dial(ctx, t, g)
		if err != nil {
			s.fail(err)
		}
		return server, err
	}
	if err := s.config.Swapper.Serve(s.ctx, c, t.host, t.port, dial); err != nil {
		s.record(slog.LevelDebug, "egress: swapped connection failed", "host", t.host, "port", t.port, "error", err.Error())
		return
	}
	s.record(slog.LevelDebug, "egress: swapped", "host", t.host, "port", t.port)
}

// errSilent is of a client that closed its connection again without a byte: it changed its
// mind, as one does that cannot read its certificates. Nothing was refused.
var errSilent = errors.New("the client sent nothing")

// begins judges the first bytes of a client, which stay to be read. Where the protocol is not
// declared, a client that waits for the server first may take as long as it likes.
func (s *Session) begins(c *conn, t target, p Protocol) error {
	switch p {
	case TLS:
		_ = c.SetReadDeadline(time.Now().Add(s.proxy.config.Limits.Handshake))
	case SSH:
		_ = c.SetReadDeadline(time.Now().Add(s.proxy.config.Limits.Handshake))
		if first, err := c.peek(4); err != nil || string(first) != "SSH-" {
			return &refused{t, "the connection does not begin like SSH; another protocol must be declared in the rule", misused}
		}
		return c.SetReadDeadline(time.Time{})
	case Any:
		return nil
	default:
		_ = c.SetReadDeadline(time.Now().Add(s.proxy.config.Limits.Idle))
		first, err := c.peek(1)
		if err != nil || first[0] != 22 {
			return nil // the copying sees the error, too
		}
		_ = c.SetReadDeadline(time.Now().Add(s.proxy.config.Limits.Handshake))
	}
	if _, err := c.peek(1); errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return errSilent
	}
	h, err := readHello(c.peek)
	if err != nil {
		return &refused{t, err.Error(), misused}
	}
	if why := misnamed(h, t); why != "" {
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = c.Write([]byte{21, 3, 1, 0, 2, 2, 112}) // alert: unrecognized_name
		return &refused{t, why, misused}
	}
	return c.SetReadDeadline(time.Time{})
}

// misnamed says why the name in the first message is not the host's. With an encrypted
// ClientHello the outer name is meant, the only one that can be seen.
func misnamed(h hello, t target) string {
	_, isAddress := t.address()
	if !h.named {
		if isAddress {
			return ""
		}
		return "its TLS names no server (no SNI)"
	}
	if name, err := netguard.Canonical(h.name); err == nil && name == t.host {
		return ""
	} else if err == nil {
		return fmt.Sprintf("its TLS is for another host, %s", name)
	}
	return "its TLS is for a server whose name is not valid"
}
