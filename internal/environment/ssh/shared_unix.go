//go:build unix

package ssh

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"hermes/internal/environment/remote"
)

// The messages between a master of OpenSSH and those that share its connection (PROTOCOL.mux of
// OpenSSH, version 4).
const (
	muxVersion       = 4
	muxHello         = 0x00000001
	muxNewSession    = 0x10000002
	muxDenied        = 0x80000002
	muxFailure       = 0x80000003
	muxSessionOpened = 0x80000006
	muxNoEscape      = 0xffffffff
	muxLongest       = 256 << 10 // bytes of a message
)

const (
	// openWait is how long a master may take to open a session.
	openWait = 15 * time.Second
	// endWait is how long a master that hangs up may take to end.
	endWait = 5 * time.Second
)

// shared is a session that a master opened for this process, without a program of its own for
// each. It gets the ends of three pipes, and reads and writes them itself.
type shared struct {
	connection *attempt
	conn       *net.UnixConn
	out, errs  *os.File // the ends that are read here
	ended      chan struct{}
	closing    sync.Once
}

// share asks the master of a connection for a session. Without errNotShared, an error means that
// the script may run.
func (s *system) share(ctx context.Context, a *attempt, c call, in *os.File) (session, error) {
	to, err := net.Dial("unix", a.socket)
	if err != nil {
		return nil, errNotShared
	}
	p := &shared{connection: a, conn: to.(*net.UnixConn), ended: make(chan struct{})}
	_ = p.conn.SetDeadline(time.Now().Add(openWait))
	stop := context.AfterFunc(ctx, func() { _ = p.conn.SetDeadline(time.Unix(1, 0)) })
	err = p.open(s.environment(false), c.line, in)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		_ = p.conn.SetDeadline(time.Time{})
		go c.in.run()   // ends with the input; stop ends it
		go p.deliver(c) // ends with the session; close ends it
		return p, nil
	}
	p.close()
	if errors.Is(err, errNotShared) {
		return nil, err
	}
	defer c.in.stop()
	why := "no session was opened"
	if errors.Is(err, os.ErrDeadlineExceeded) {
		why += fmt.Sprintf(" within %v", openWait)
	} else {
		a.ends(ctx) // the next session must not find it
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case c.in.unread():
		return nil, fmt.Errorf("%w: %s: %s", remote.ErrNotRun, s.config.Host, a.problem(why))
	}
	return nil, lost(s.config.Host, a.problem(why))
}

// ends waits for the end of a master that has hung up, but not for long.
func (a *attempt) ends(ctx context.Context) {
	select {
	case <-a.process.Done():
	case <-ctx.Done():
	case <-time.After(endWait):
	}
}

// open says hello, asks for the session, hands over the pipes and waits for the answer. Once the
// first pipe is handed over, only a refusal of the master is errNotShared: the script may run.
func (p *shared) open(env []string, line string, in *os.File) (err error) {
	var out, errs *os.File
	if p.out, out, err = os.Pipe(); err != nil {
		return errNotShared
	}
	defer out.Close()
	if p.errs, errs, err = os.Pipe(); err != nil {
		return errNotShared
	}
	defer errs.Close()
	if !p.greet() || !p.ask(env, line) {
		return errNotShared
	}
	for _, f := range []*os.File{in, out, errs} {
		if err := p.hand(f); err != nil {
			return err
		}
	}
	kind, _, err := p.receive()
	switch {
	case err != nil:
		return err
	case kind == muxSessionOpened:
		return nil
	case kind == muxFailure || kind == muxDenied: // as when there are too many
		return errNotShared
	}
	return errors.New("the master of the connection gave an answer that makes no sense")
}

// greet says hello, and reports whether the master speaks the same protocol.
func (p *shared) greet() bool {
	if p.send(muxHello, muxVersion) != nil {
		return false
	}
	kind, body, err := p.receive()
	return err == nil && kind == muxHello && len(body) >= 4 && binary.BigEndian.Uint32(body) == muxVersion
}

// ask asks for a session: the request's id; a reserved text; no terminal, no X11, no agent, no
// subsystem; no escape character; the kind of terminal; the command line; and the variables, of
// which the master sends those that the user's configuration names.
func (p *shared) ask(env []string, line string) bool {
	request := []any{0, "", 0, 0, 0, 0, uint32(muxNoEscape), "", line}
	for _, v := range env {
		request = append(request, v)
	}
	return p.send(muxNewSession, request...) == nil
}

// send sends a message of numbers and texts.
func (p *shared) send(kind uint32, parts ...any) error {
	b := binary.BigEndian.AppendUint32(make([]byte, 4, 512), kind)
	for _, part := range parts {
		switch v := part.(type) {
		case int:
			b = binary.BigEndian.AppendUint32(b, uint32(v))
		case uint32:
			b = binary.BigEndian.AppendUint32(b, v)
		case string:
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...)
		}
	}
	if len(b) > muxLongest {
		return errors.New("the request for a session is too long")
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	_, err := p.conn.Write(b)
	return err
}

// receive reads one message.
func (p *shared) receive() (kind uint32, body []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(p.conn, head[:]); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length < 4 || length > muxLongest {
		return 0, nil, errors.New("the master of the connection sent a message that makes no sense")
	}
	body = make([]byte, length-4)
	_, err = io.ReadFull(p.conn, body)
	return binary.BigEndian.Uint32(head[4:]), body, err
}

// hand gives the master an open file.
func (p *shared) hand(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = raw.Control(func(fd uintptr) {
		_, _, sent = p.conn.WriteMsgUnix([]byte{0}, syscall.UnixRights(int(fd)), nil)
	})
	return errors.Join(err, sent)
}

// deliver passes on the output until the master has closed it and the session.
func (p *shared) deliver(c call) {
	defer close(p.ended)
	var streams sync.WaitGroup
	streams.Go(func() { _, _ = io.Copy(c.out, p.out) })
	streams.Go(func() { _, _ = io.Copy(c.errs, p.errs) })
	for { // how the session ended says the script itself
		if _, _, err := p.receive(); err != nil {
			break
		}
	}
	streams.Wait()
}

func (p *shared) done() <-chan struct{} { return p.ended }

func (p *shared) close() {
	p.closing.Do(func() {
		p.conn.Close()
		for _, f := range []*os.File{p.out, p.errs} {
			if f != nil {
				f.Close()
			}
		}
	})
}

// problem says why the connection ended, which its master knows.
func (p *shared) problem() string { return p.connection.problem("the session ended without an answer") }
