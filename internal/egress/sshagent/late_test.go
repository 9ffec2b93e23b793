package sshagent_test

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"hermes/internal/accept/accepttest"
	"hermes/internal/egress/sshagent"
)

// TestALateAnswerIsNoAnswerToTheNextRequest: a user who touches the key after the deadline
// answers a request that has failed, whose connection is not used again.
func TestALateAnswerIsNoAnswerToTheNextRequest(t *testing.T) {
	host := mustSigner(t)
	signature, err := host.Sign(nil, []byte("s1"))
	if err != nil {
		t.Fatal(err)
	}
	bind := ssh.Marshal(struct {
		HostKey, Session, Signature []byte
		Forwarding                  bool
	}{host.PublicKey().Marshal(), []byte("s1"), ssh.Marshal(signature), false})
	for name, first := range map[string]func(agent.ExtendedAgent) error{
		"a list":    func(c agent.ExtendedAgent) error { _, err := c.List(); return err },
		"a binding": func(c agent.ExtendedAgent) error { _, err := c.Extension("session-bind@openssh.com", bind); return err },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var refused []string
				a := sshagent.New(sshagent.Config{
					Upstream: func() (net.Conn, error) { ours, theirs := net.Pipe(); go late(theirs); return ours, nil },
					Allowed:  func() []string { return nil }, Refused: func(why string) { refused = append(refused, why) },
				})
				ours, theirs := net.Pipe()
				l := accepttest.New(0)
				go func() { _ = a.Serve(l) }()
				l.Conns() <- theirs
				c := agent.NewClient(ours)
				if err := first(c); err == nil {
					t.Error("the first request was answered after the deadline")
				}
				if list, err := c.List(); err == nil {
					t.Errorf("the next request got the late answer %v", list)
				}
				l.Close()
				a.Close()
				if len(refused) != 1 {
					t.Errorf("refused because of %q, want one error of the user's agent", refused)
				}
			})
		})
	}
}

// late answers the first request with an empty list of keys, three minutes later, and no
// other.
func late(conn net.Conn) {
	defer conn.Close()
	answer := time.AfterFunc(3*time.Minute, func() {
		_, _ = conn.Write(append(binary.BigEndian.AppendUint32(nil, 5), 12, 0, 0, 0, 0))
	})
	defer answer.Stop()
	_, _ = io.Copy(io.Discard, conn)
}
