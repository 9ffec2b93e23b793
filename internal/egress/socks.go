package egress

import (
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"time"
)

// SOCKS5, RFC 1928 and 1929.
const (
	socksVersion = 5

	socksPassword = 2 // the one method of authentication

	socksDone        = 0
	socksFailure     = 1
	socksRefused     = 2
	socksUnreachable = 4
	socksNoCommand   = 7
	socksNoAddress   = 8
)

// socksError is a handshake that fails with a reply.
type socksError struct {
	reply byte // 0 is none
	why   string
}

func (e *socksError) Error() string { return "socks: " + e.why }

// socks serves a client of SOCKS5. Its read deadline is set for the handshake.
func (s *Session) socks(c *conn) {
	t, err := readSocks(c, s.authentic)
	_ = c.SetDeadline(time.Time{})
	if e, ok := errors.AsType[*socksError](err); ok {
		s.record(slog.LevelDebug, "egress: handshake of SOCKS5 failed", "why", e.why)
		if e.reply != 0 {
			_ = socksReply(c, e.reply)
		}
		return
	}
	if r, ok := errors.AsType[*refused](err); ok {
		s.refuse(r)
		_ = socksReply(c, socksRefused)
		return
	}
	if err != nil {
		return
	}
	s.tunnel(c, t, func(err error) error {
		_, isRefused := errors.AsType[*refused](err)
		_, isUnreachable := errors.AsType[*unreachable](err)
		switch {
		case err == nil:
			return socksReply(c, socksDone)
		case isRefused:
			return socksReply(c, socksRefused)
		case isUnreachable:
			return socksReply(c, socksUnreachable)
		}
		return socksReply(c, socksFailure)
	})
}

func socksReply(w io.Writer, code byte) error {
	_, err := w.Write([]byte{socksVersion, code, 0, 1, 0, 0, 0, 0, 0, 0})
	return err
}

// readSocks does the handshake up to the request and returns its target.
func readSocks(rw io.ReadWriter, authentic func(string) bool) (target, error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(rw, head); err != nil {
		return target{}, err
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(rw, methods); err != nil {
		return target{}, err
	}
	offered := false
	for _, m := range methods {
		offered = offered || m == socksPassword
	}
	if head[0] != socksVersion || !offered {
		_, _ = rw.Write([]byte{socksVersion, 0xff})
		return target{}, &socksError{0, "no user and password are offered"}
	}
	if _, err := rw.Write([]byte{socksVersion, socksPassword}); err != nil {
		return target{}, err
	}
	if err := socksLogin(rw, authentic); err != nil {
		return target{}, err
	}
	return socksRequest(rw)
}

func socksLogin(rw io.ReadWriter, authentic func(string) bool) error {
	version := make([]byte, 1)
	if _, err := io.ReadFull(rw, version); err != nil {
		return err
	}
	if _, err := shortText(rw); err != nil { // the user is of no account
		return err
	}
	password, err := shortText(rw)
	if err != nil {
		return err
	}
	if version[0] != 1 || !authentic(password) {
		_, _ = rw.Write([]byte{1, 1})
		return &socksError{0, "the password is not the token of the session"}
	}
	_, err = rw.Write([]byte{1, 0})
	return err
}

// shortText reads text that follows its length of one byte.
func shortText(r io.Reader) (string, error) {
	size := make([]byte, 1)
	if _, err := io.ReadFull(r, size); err != nil {
		return "", err
	}
	text := make([]byte, size[0])
	_, err := io.ReadFull(r, text)
	return string(text), err
}

func socksRequest(r io.Reader) (target, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		return target{}, err
	}
	if head[0] != socksVersion || head[2] != 0 {
		return target{}, &socksError{socksFailure, "the request is not valid"}
	}
	host, err := socksHost(r, head[3])
	if err != nil {
		return target{}, err
	}
	port := make([]byte, 2)
	if _, err := io.ReadFull(r, port); err != nil {
		return target{}, err
	}
	if head[1] != 1 {
		return target{}, &socksError{socksNoCommand, "only CONNECT is offered"}
	}
	t, err := newTarget(host, binary.BigEndian.Uint16(port))
	if err != nil {
		return target{}, badTarget(host, err)
	}
	return t, nil
}

func socksHost(r io.Reader, kind byte) (string, error) {
	size := map[byte]int{1: 4, 4: 16}[kind]
	if kind == 3 {
		return shortText(r)
	}
	if size == 0 {
		return "", &socksError{socksNoAddress, "unknown type of address"}
	}
	raw := make([]byte, size)
	if _, err := io.ReadFull(r, raw); err != nil {
		return "", err
	}
	a, _ := netip.AddrFromSlice(raw)
	return a.String(), nil
}
