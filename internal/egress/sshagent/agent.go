// Package sshagent lets sandboxed processes use the keys of the user's ssh agent for hosts
// that the user allowed, and for nothing else.
//
// It speaks the agent protocol with the processes and passes on two requests: the list of
// keys, and signatures. A signature is made only for a login at a host: the client must
// first bind the connection to an ssh session (session-bind@openssh.com), with a host key
// that the user's known_hosts has for an allowed host, and what is signed must be the login
// of that session. Adding, removing and locking keys, forwarding, and signatures of any
// other text, such as a commit, are refused.
//
// It must not know sessions, settings or who is asked: Config.Allowed says what the user
// allowed. Start reading at Agent.Serve; bind.go is the proof of the host.
package sshagent

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"hermes/internal/accept"
)

// Config is what an Agent is made from.
type Config struct {
	// Upstream connects to the user's own agent.
	Upstream func() (net.Conn, error)
	// Allowed lists the hosts, as host:port, for which keys may be used now. It is asked
	// before each signature and may be called concurrently.
	Allowed func() []string
	// KnownHosts are files in the format of ssh; those that are missing are passed over.
	KnownHosts []string
	// Refused is told why a signature was refused; it may be called concurrently. Nil
	// ignores it.
	Refused func(why string)
}

// Agent serves processes. It may be used concurrently.
type Agent struct {
	config Config
	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	work  sync.WaitGroup
}

// New returns an agent. It starts nothing.
func New(c Config) *Agent {
	a := &Agent{config: c, conns: map[net.Conn]struct{}{}}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	return a
}

// Limits of what a client may send and hold open.
const (
	maxMessage = 256 << 10 // as OpenSSH
	maxConns   = 32
	idleTime   = 10 * time.Minute
)

// Serve accepts connections until the listener is closed or Close is called, and closes the
// listener.
func (a *Agent) Serve(l net.Listener) error {
	defer l.Close()
	for {
		conn, err := accept.Next(a.ctx, l)
		if err != nil {
			return err
		}
		if !a.admit(conn) {
			conn.Close()
			continue
		}
		a.work.Go(func() {
			defer a.drop(conn)
			a.serve(conn)
		})
	}
}

// admit counts a connection.
func (a *Agent) admit(conn net.Conn) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ctx.Err() != nil || len(a.conns) >= maxConns {
		return false
	}
	a.conns[conn] = struct{}{}
	return true
}

func (a *Agent) drop(conn net.Conn) {
	conn.Close()
	a.mu.Lock()
	delete(a.conns, conn)
	a.mu.Unlock()
}

// Close ends all connections and waits for them. The caller closes the listener.
func (a *Agent) Close() {
	a.mu.Lock()
	a.cancel()
	for c := range a.conns {
		c.Close()
	}
	a.mu.Unlock()
	a.work.Wait()
}

// Numbers of the protocol (draft-miller-ssh-agent).
const (
	failure      = 5
	success      = 6
	requestList  = 11
	answerList   = 12
	requestSign  = 13
	answerSign   = 14
	extension    = 27
	bindSession  = "session-bind@openssh.com"
	loginRequest = 50 // SSH_MSG_USERAUTH_REQUEST
)

// client is one connection of a process, with its own connection to the user's agent, which
// may have rules of its own for the session.
type client struct {
	agent    *Agent
	upstream net.Conn
	bound    *session
}

// serve answers the requests of one connection, until it ends or that to the user's agent
// fails.
func (a *Agent) serve(conn net.Conn) {
	upstream, err := a.config.Upstream()
	if err != nil {
		a.refuse("the user's ssh agent does not answer: " + err.Error())
		return
	}
	defer upstream.Close()
	c := &client{agent: a, upstream: upstream}
	for {
		_ = conn.SetDeadline(time.Now().Add(idleTime))
		request, err := readMessage(conn)
		if err != nil {
			return
		}
		answer, err := c.answer(request)
		if err != nil {
			a.refuse(err.Error())
			answer = []byte{failure}
		}
		if writeMessage(conn, answer) != nil || errors.Is(err, errUpstream) {
			return
		}
	}
}

// errUpstream is an error of the connection to the user's agent. No other request may use
// that connection: it would read the late answer to this one.
var errUpstream = errors.New("ask the user's ssh agent")

// answer answers one request. An error refuses it.
func (c *client) answer(request []byte) ([]byte, error) {
	switch request[0] {
	case requestList:
		return c.pass([]byte{requestList}, answerList)
	case requestSign:
		if err := c.maySign(request); err != nil {
			return nil, err
		}
		return c.pass(request, answerSign)
	case extension:
		return c.extend(request)
	}
	return nil, fmt.Errorf("a command asked the ssh agent for something else than a login (request %d); keys cannot be added, removed or locked from inside", request[0])
}

// pass asks the user's agent, and passes only the answer that the request has. Its errors are
// errUpstream.
func (c *client) pass(request []byte, want byte) ([]byte, error) {
	// The user may have to touch a key or answer a question.
	_ = c.upstream.SetDeadline(time.Now().Add(2 * time.Minute))
	if err := writeMessage(c.upstream, request); err != nil {
		return nil, fmt.Errorf("%w: %w", errUpstream, err)
	}
	answer, err := readMessage(c.upstream)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUpstream, err)
	}
	if answer[0] != want {
		return []byte{failure}, nil
	}
	return answer, nil
}

// extend takes the binding to a session. There is no other extension.
func (c *client) extend(request []byte) ([]byte, error) {
	var m struct {
		Name string `sshtype:"27"`
		Rest []byte `ssh:"rest"`
	}
	if ssh.Unmarshal(request, &m) != nil || m.Name != bindSession {
		return []byte{failure}, nil
	}
	s, err := readSession(m.Rest)
	if err != nil || c.bound != nil {
		// A second binding is a forwarded agent; nothing is signed for one.
		c.bound = &session{broken: "the connection to the agent was bound to more than one session, or wrongly"}
		return []byte{failure}, nil
	}
	c.bound = s
	// Passed so that rules of the user's agent (ssh-add -h) hold. An agent may not know it.
	if _, err := c.pass(request, success); err != nil {
		return nil, err
	}
	return []byte{success}, nil
}

func (a *Agent) refuse(why string) {
	if a.config.Refused != nil {
		a.config.Refused(why)
	}
}

func readMessage(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || n > maxMessage {
		return nil, errors.New("a message of the agent protocol is too long")
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

func writeMessage(w io.Writer, b []byte) error {
	var out bytes.Buffer
	out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(b))))
	out.Write(b)
	_, err := w.Write(out.Bytes())
	return err
}
