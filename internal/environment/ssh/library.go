package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"hermes/internal/environment/remote"
)

// library reaches the machine with golang.org/x/crypto/ssh over one shared connection.
type library struct {
	config Config
	life   context.Context

	mu      sync.Mutex
	current *dialed
	dials   sync.WaitGroup
}

// dialed is a connection from the start of its making on.
type dialed struct {
	ready  chan struct{} // closed when it works or has failed
	err    error
	client *ssh.Client
	gone   chan struct{} // closed when the connection has ended
	why    error         // valid then
}

func newLibrary(life context.Context, c Config) *library { return &library{config: c, life: life} }

// connection returns the shared connection, which it makes if there is none. What one caller
// began goes on for the others if its context ends.
func (l *library) connection(ctx context.Context) (*dialed, error) {
	l.mu.Lock()
	d := l.current
	if d == nil || d.over() {
		if l.life.Err() != nil {
			l.mu.Unlock()
			return nil, fmt.Errorf("%w: %w", remote.ErrNotRun, errClosed)
		}
		d = l.dial()
		l.current = d
	}
	l.mu.Unlock()
	return d, d.wait(ctx)
}

func (d *dialed) wait(ctx context.Context) error {
	select {
	case <-d.ready:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", remote.ErrNotRun, context.Cause(ctx))
	}
	if d.err != nil {
		return fmt.Errorf("%w: %w", remote.ErrNotRun, d.err)
	}
	return nil
}

func (d *dialed) over() bool {
	select {
	case <-d.gone:
		return true
	default:
		return false
	}
}

// dial begins a connection.
func (l *library) dial() *dialed {
	d := &dialed{ready: make(chan struct{}), gone: make(chan struct{})}
	l.dials.Go(func() { // ends with the connection, at the latest with life
		defer close(d.gone)
		ctx, cancel := context.WithTimeout(l.life, loginWait)
		var clients []*ssh.Client
		defer cancel()
		clients, d.err = l.login(ctx)
		defer func() {
			for _, c := range clients {
				c.Close()
			}
		}()
		if d.err == nil {
			d.client = clients[0]
			stop := context.AfterFunc(ctx, func() { d.client.Close() })
			d.err = checkShell(d.client, l.config.Host)
			stop()
		}
		close(d.ready)
		if d.err != nil {
			return
		}
		stop := context.AfterFunc(l.life, func() { d.client.Close() })
		defer stop()
		ended := make(chan struct{})
		go func() { // ends with the connection
			defer close(ended)
			d.why = d.client.Wait()
		}()
		if lost := d.keepAlive(l.config.Alive, ended); lost != nil {
			d.client.Close()
			<-ended
			d.why = lost
		}
	})
	return d
}

// keepAlive asks the other side for a sign of life until the connection has ended. It returns
// an error if none came.
func (d *dialed) keepAlive(every time.Duration, ended <-chan struct{}) error {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	answer := make(chan struct{}, 1)
	for missed, asked := 0, false; ; {
		select {
		case <-ended:
			return nil
		case <-answer:
			missed, asked = 0, false
		case <-ticks.C:
			if asked {
				if missed++; missed >= aliveCount {
					return errors.New("it gave no sign of life")
				}
				continue
			}
			asked = true
			go func() { // ends with the answer or the connection
				if _, _, err := d.client.SendRequest("keepalive@openssh.com", true, nil); err == nil {
					answer <- struct{}{}
				}
			}()
		}
	}
}

// checkShell runs the lead, whose input is empty, and says what is wrong if it does not answer.
func checkShell(c *ssh.Client, host string) error {
	s, err := c.NewSession()
	if err != nil {
		return fmt.Errorf("%s logs in but opens no session: %w", host, err)
	}
	defer s.Close()
	mark := newMark()
	var said recent
	hello := newTail(mark, &said)
	s.Stdout, s.Stderr = hello, &said
	err = s.Run(leadLine(mark))
	hello.finish()
	select {
	case <-hello.seen:
		return nil
	default:
	}
	if text := lastLine(said.String()); text != "" {
		err = errors.New(text)
	}
	return fmt.Errorf("%s logs in but runs no /bin/sh: %w", host, err)
}

// open opens a session. A server that accepts no more on the shared connection gets another
// connection, which ends with the session.
func (l *library) open(ctx context.Context) (*ssh.Session, *dialed, error) {
	for again := false; ; again = true {
		d, err := l.connection(ctx)
		if err != nil {
			return nil, nil, err
		}
		begin := time.Now()
		s, err := d.session(ctx)
		if err == nil {
			return s, d, nil
		}
		var refused *ssh.OpenChannelError
		switch {
		case errors.As(err, &refused):
			return l.openAlone(ctx)
		case again || time.Since(begin) > l.config.Alive || ctx.Err() != nil || l.life.Err() != nil:
			return nil, nil, fmt.Errorf("%w: no connection to %s: %w", remote.ErrNotRun, l.config.Host, err)
		}
		select { // the connection was lost before without notice: make another one
		case <-d.gone:
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("%w: %w", remote.ErrNotRun, context.Cause(ctx))
		}
	}
}

// session opens a session, which may wait as long as the connection lives.
func (d *dialed) session(ctx context.Context) (*ssh.Session, error) {
	type result struct {
		s   *ssh.Session
		err error
	}
	opened := make(chan result, 1)
	go func() { // ends with the answer or the connection
		s, err := d.client.NewSession()
		opened <- result{s, err}
	}()
	select {
	case r := <-opened:
		return r.s, r.err
	case <-ctx.Done():
		go func() { // the same
			if r := <-opened; r.s != nil {
				r.s.Close()
			}
		}()
		return nil, context.Cause(ctx)
	}
}

func (l *library) openAlone(ctx context.Context) (*ssh.Session, *dialed, error) {
	d := l.dial()
	err := d.wait(ctx)
	var s *ssh.Session
	if err == nil {
		s, err = d.session(ctx)
	}
	if err != nil {
		go func() { // ends with the login
			if <-d.ready; d.client != nil {
				d.client.Close()
			}
		}()
		return nil, nil, fmt.Errorf("%w: %s accepts no more sessions: %w", remote.ErrNotRun, l.config.Host, err)
	}
	return s, d, nil
}

func (l *library) start(ctx context.Context, c call) (session, error) {
	s, d, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	s.Stdout, s.Stderr = c.out, c.errs
	in, err := s.StdinPipe()
	if err == nil && c.terminal {
		err = s.RequestPty("xterm-256color", c.rows, c.columns, ssh.TerminalModes{ssh.ECHO: 0})
	}
	if err == nil {
		err = s.Start(c.line)
	}
	if err != nil { // without its input the script cannot have run
		l.drop(s, d)
		return nil, fmt.Errorf("%w: %w", remote.ErrNotRun, err)
	}
	c.in.to = in
	go c.in.run() // ends with the input; stop ends it
	return newStarted(s, d, l.shared(d)), nil
}

// shared reports whether a connection is for all sessions.
func (l *library) shared(d *dialed) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current == d
}

// drop closes a session that has not started.
func (l *library) drop(s *ssh.Session, d *dialed) {
	(&started{session: s, connection: d, shared: l.shared(d)}).close()
}

// started is one session.
type started struct {
	session    *ssh.Session
	connection *dialed
	shared     bool
	ended      chan struct{}
	err        error // valid then
}

func newStarted(s *ssh.Session, d *dialed, shared bool) *started {
	p := &started{session: s, connection: d, shared: shared, ended: make(chan struct{})}
	go func() { // ends with the session or the connection
		p.err = s.Wait()
		close(p.ended)
	}()
	return p
}

func (p *started) done() <-chan struct{} { return p.ended }

func (p *started) close() {
	go func() { // a dead connection may take long
		p.session.Close()
		if !p.shared {
			p.connection.client.Close()
		}
	}()
}

func (p *started) problem() string {
	select {
	case <-p.connection.gone:
		if p.connection.why != nil && !errors.Is(p.connection.why, io.EOF) {
			return p.connection.why.Error()
		}
		return "the other side closed it"
	case <-time.After(leftWait):
	}
	if p.err != nil {
		return p.err.Error()
	}
	return "the session ended early"
}

func (l *library) sftp(ctx context.Context) (io.ReadWriteCloser, error) {
	s, d, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	out, err := s.StdoutPipe()
	if err != nil {
		l.drop(s, d)
		return nil, err
	}
	in, err := s.StdinPipe()
	if err == nil {
		err = s.RequestSubsystem("sftp")
	}
	if err != nil {
		l.drop(s, d)
		return nil, err
	}
	return &subsystem{Reader: out, WriteCloser: in, started: &started{session: s, connection: d, shared: l.shared(d)}}, nil
}

// subsystem is both directions of one.
type subsystem struct {
	io.Reader
	io.WriteCloser
	started *started
}

func (s *subsystem) Close() error {
	s.started.close()
	return nil
}

func (l *library) close() error {
	l.dials.Wait()
	return nil
}

// dialTCP is how a host is reached; via is the connection through which, if not nil.
func dialTCP(ctx context.Context, via *ssh.Client, address string) (net.Conn, error) {
	if via != nil {
		return via.DialContext(ctx, "tcp", address)
	}
	return (&net.Dialer{Timeout: connectWait}).DialContext(ctx, "tcp", address)
}
