package sshagent

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// session is the ssh session that a connection to the agent was bound to.
type session struct {
	id      []byte
	hostKey ssh.PublicKey
	broken  string // why nothing is signed for it; "" is fine
}

// readSession reads and verifies a binding: whoever holds the host's key has signed the
// session's id. Only the two ends of a session can make its id, so a login that names the
// id is of no use to another host.
func readSession(rest []byte) (*session, error) {
	var m struct {
		HostKey    []byte
		ID         []byte
		Signature  []byte
		Forwarding bool
	}
	if err := ssh.Unmarshal(rest, &m); err != nil {
		return nil, err
	}
	if m.Forwarding {
		return nil, errors.New("the agent is not forwarded")
	}
	key, err := ssh.ParsePublicKey(m.HostKey)
	if err != nil {
		return nil, err
	}
	var signature ssh.Signature
	if err := ssh.Unmarshal(m.Signature, &signature); err != nil {
		return nil, err
	}
	if err := key.Verify(m.ID, &signature); err != nil {
		return nil, fmt.Errorf("the host did not sign the session: %w", err)
	}
	return &session{id: m.ID, hostKey: key}, nil
}

// maySign reports why a signature is refused.
func (c *client) maySign(request []byte) error {
	var m struct {
		Key   []byte `sshtype:"13"`
		Data  []byte
		Flags uint32
	}
	if ssh.Unmarshal(request, &m) != nil {
		return errors.New("a request to the ssh agent cannot be read")
	}
	switch {
	case c.bound == nil:
		return errors.New("a command asked for a signature outside of a login; ssh before 8.9, and other programs than ssh, cannot use the keys")
	case c.bound.broken != "":
		return errors.New(c.bound.broken)
	}
	if err := isLogin(m.Data, m.Key, c.bound); err != nil {
		return err
	}
	return c.agent.allowed(c.bound.hostKey)
}

// isLogin checks that what is to be signed is a login with a key in a session, and nothing
// else (RFC 4252, section 7, and the form of OpenSSH that names the host's key).
func isLogin(data, key []byte, s *session) error {
	var m struct {
		Session   []byte
		Number    byte
		User      string
		Service   string
		Method    string
		HasSigned bool
		Algorithm string
		Key       []byte
		HostKey   []byte `ssh:"rest"`
	}
	if ssh.Unmarshal(data, &m) != nil || m.Number != loginRequest || m.Service != "ssh-connection" || !m.HasSigned {
		return errors.New("a command asked the ssh agent to sign something else than a login")
	}
	if !bytes.Equal(m.Session, s.id) || !bytes.Equal(m.Key, key) {
		return errors.New("a command asked for the login of another session than the one that it has shown")
	}
	switch {
	case m.Method == "publickey" && len(m.HostKey) == 0:
	case m.Method == "publickey-hostbound-v00@openssh.com" && bytes.Equal(m.HostKey, ssh.Marshal(struct{ K []byte }{s.hostKey.Marshal()})):
	default:
		return errors.New("a command asked the ssh agent to sign a login of an unknown kind")
	}
	return nil
}

// allowed reports why a host's key is not that of a host that is allowed.
func (a *Agent) allowed(key ssh.PublicKey) error {
	hosts := a.config.Allowed()
	if len(hosts) == 0 {
		return errors.New("an ssh key is used only by a command for which the user has allowed the host")
	}
	var files []string
	for _, f := range a.config.KnownHosts {
		if info, err := os.Stat(f); err == nil && info.Mode().IsRegular() {
			files = append(files, f)
		}
	}
	known, err := knownhosts.New(files...)
	if err != nil {
		return fmt.Errorf("the list of known hosts cannot be read, so no key is used: %w", err)
	}
	for _, host := range hosts {
		if known(host, portOf(host), key) == nil {
			return nil
		}
	}
	return errors.New("the server's key is not in the user's known_hosts for an allowed host, so no key is used")
}

// portOf is an address that no list of known hosts has: only the name counts.
func portOf(host string) net.Addr {
	_, text, _ := net.SplitHostPort(host)
	port, _ := strconv.Atoi(text)
	return &net.TCPAddr{IP: net.IPv4zero, Port: port}
}
