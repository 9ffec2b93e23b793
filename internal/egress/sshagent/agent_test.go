package sshagent_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"

	"hermes/internal/accept/accepttest"
	"hermes/internal/egress/sshagent"
)

const host = "git.example.org:22"

// bench is a filter before an agent with one key, and a host that its user knows.
type bench struct {
	t       *testing.T
	client  agent.ExtendedAgent
	key     ssh.PublicKey
	host    ssh.Signer
	other   ssh.Signer // of a host that is not known
	keyring agent.Agent
	allowed []string

	mu      sync.Mutex
	refused []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, host: mustSigner(t), other: mustSigner(t), keyring: agent.NewKeyring(), allowed: []string{host}}
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.keyring.Add(agent.AddedKey{PrivateKey: private, Comment: "mine"}); err != nil {
		t.Fatal(err)
	}
	list, err := b.keyring.List()
	if err != nil {
		t.Fatal(err)
	}
	b.key = list[0]
	known := filepath.Join(t.TempDir(), "known_hosts")
	line := knownhosts.Line([]string{knownhosts.HashHostname("git.example.org")}, b.host.PublicKey())
	if err := os.WriteFile(known, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := sshagent.New(sshagent.Config{
		Upstream: func() (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() { _ = agent.ServeAgent(b.keyring, theirs) }()
			return ours, nil
		},
		Allowed: func() []string { return b.allowed }, KnownHosts: []string{known, "/nonexistent/known_hosts"},
		Refused: func(why string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.refused = append(b.refused, why)
		},
	})
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() { _ = a.Serve(l); close(served) }()
	t.Cleanup(func() { l.Close(); <-served; a.Close() })
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	b.client = agent.NewClient(conn)
	return b
}

func mustSigner(t *testing.T) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bind binds the connection to a session, which a host has signed.
func (b *bench) bind(shown ssh.PublicKey, signer ssh.Signer, session string, forwarding bool) error {
	b.t.Helper()
	signature, err := signer.Sign(rand.Reader, []byte(session))
	if err != nil {
		b.t.Fatal(err)
	}
	_, err = b.client.Extension("session-bind@openssh.com", ssh.Marshal(struct {
		HostKey, Session, Signature []byte
		Forwarding                  bool
	}{shown.Marshal(), []byte(session), ssh.Marshal(signature), forwarding}))
	return err
}

// login is what ssh has signed when it logs in.
type login struct {
	Session   []byte
	Number    byte
	User      string
	Service   string
	Method    string
	HasSigned bool
	Algorithm string
	Key       []byte
}

func (b *bench) login(session string) login {
	return login{[]byte(session), 50, "git", "ssh-connection", "publickey", true, b.key.Type(), b.key.Marshal()}
}

func (b *bench) sign(data any) error {
	_, err := b.client.Sign(b.key, ssh.Marshal(data))
	return err
}

func TestSignsALogin(t *testing.T) {
	b := newBench(t)
	if err := b.bind(b.host.PublicKey(), b.host, "s1", false); err != nil {
		t.Fatal(err)
	}
	if err := b.sign(b.login("s1")); err != nil {
		t.Fatal(err, b.refused)
	}
	bound := struct {
		login
		HostKey []byte
	}{b.login("s1"), b.host.PublicKey().Marshal()}
	bound.Method = "publickey-hostbound-v00@openssh.com"
	flat := append(ssh.Marshal(bound.login), ssh.Marshal(struct{ K []byte }{bound.HostKey})...)
	if _, err := b.client.Sign(b.key, flat); err != nil {
		t.Error("a login that names the host:", err, b.refused)
	}
	if list, err := b.client.List(); err != nil || len(list) != 1 || list[0].Comment != "mine" {
		t.Errorf("the list is %v %v", list, err)
	}
}

func TestSignsNothingElse(t *testing.T) {
	good := func(b *bench) error { return b.bind(b.host.PublicKey(), b.host, "s1", false) }
	for name, c := range map[string]struct {
		bind func(*bench) error
		data func(*bench) any
		why  string
	}{
		"unbound":           {nil, func(b *bench) any { return b.login("s1") }, "outside of a login"},
		"a commit":          {good, func(*bench) any { return struct{ Text string }{"SSHSIG git"} }, "something else than a login"},
		"another session":   {good, func(b *bench) any { return b.login("s2") }, "another session"},
		"another service":   {good, func(b *bench) any { l := b.login("s1"); l.Service = "sudo"; return l }, "something else than a login"},
		"another method":    {good, func(b *bench) any { l := b.login("s1"); l.Method = "hostbased"; return l }, "unknown kind"},
		"another key":       {good, func(b *bench) any { l := b.login("s1"); l.Key = []byte("x"); return l }, "another session"},
		"trailing bytes":    {good, func(b *bench) any { return struct{ A, B []byte }{[]byte("s1"), nil} }, "something else than a login"},
		"nothing allowed":   {func(b *bench) error { b.allowed = nil; return good(b) }, func(b *bench) any { return b.login("s1") }, "only by a command"},
		"not for this host": {func(b *bench) error { b.allowed = []string{"other.example.org:22"}; return good(b) }, func(b *bench) any { return b.login("s1") }, "not in the user's known_hosts"},
		"an unknown host":   {func(b *bench) error { return b.bind(b.other.PublicKey(), b.other, "s1", false) }, func(b *bench) any { return b.login("s1") }, "not in the user's known_hosts"},
		"a forged binding":  {func(b *bench) error { _ = b.bind(b.host.PublicKey(), b.other, "s1", false); return nil }, func(b *bench) any { return b.login("s1") }, "bound to more than one session, or wrongly"},
		"forwarded":         {func(b *bench) error { _ = b.bind(b.host.PublicKey(), b.host, "s1", true); return nil }, func(b *bench) any { return b.login("s1") }, "bound to more than one session, or wrongly"},
		"bound twice": {func(b *bench) error {
			_ = b.bind(b.host.PublicKey(), b.host, "s1", false)
			_ = b.bind(b.host.PublicKey(), b.host, "s2", false)
			return nil
		}, func(b *bench) any { return b.login("s2") }, "bound to more than one session, or wrongly"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if c.bind != nil {
				if err := c.bind(b); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.sign(c.data(b)); err == nil {
				t.Error("it was signed")
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			if len(b.refused) == 0 || !strings.Contains(b.refused[len(b.refused)-1], c.why) {
				t.Errorf("refused because of %q, want %q", b.refused, c.why)
			}
		})
	}
}

func TestKeysAreNotChanged(t *testing.T) {
	b := newBench(t)
	_, private, _ := ed25519.GenerateKey(rand.Reader)
	for name, err := range map[string]error{
		"add": b.client.Add(agent.AddedKey{PrivateKey: private}), "remove": b.client.Remove(b.key), "remove all": b.client.RemoveAll(),
		"lock": b.client.Lock([]byte("x")), "unlock": b.client.Unlock([]byte("x")),
	} {
		if err == nil {
			t.Errorf("%s was passed on", name)
		}
	}
	if _, err := b.client.Extension("query", nil); err == nil {
		t.Error("another extension was passed on")
	}
	if list, err := b.keyring.List(); err != nil || len(list) != 1 {
		t.Errorf("the user's agent has %v %v", list, err)
	}
}

// TestServeOutlastsErrorsThatPass, such as too many open files.
func TestServeOutlastsErrorsThatPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := sshagent.New(sshagent.Config{Upstream: func() (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() { _ = agent.ServeAgent(agent.NewKeyring(), theirs) }()
			return ours, nil
		}})
		l, served := accepttest.New(100), make(chan error, 1)
		go func() { served <- a.Serve(l) }()
		ours, theirs := net.Pipe()
		select {
		case l.Conns() <- theirs:
		case err := <-served:
			t.Fatal("it serves no more:", err)
		}
		if list, err := agent.NewClient(ours).List(); len(list) != 0 || err != nil {
			t.Errorf("the list is %v, %v", list, err)
		}
		l.Close()
		if err := <-served; !errors.Is(err, net.ErrClosed) {
			t.Errorf("Serve has ended with %v", err)
		}
		a.Close()
	})
}

func FuzzServe(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 11})
	f.Add([]byte{0, 0, 0, 9, 27, 0, 0, 0, 1, 'x', 0, 0, 0})
	f.Add([]byte{0, 0, 0, 13, 13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, sent []byte) {
		passed := make(chan byte, 64)
		a := sshagent.New(sshagent.Config{Allowed: func() []string { return []string{host} }, Upstream: func() (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				defer theirs.Close()
				head := make([]byte, 5)
				if _, err := io.ReadFull(theirs, head); err == nil {
					passed <- head[4]
				}
			}()
			return ours, nil
		}})
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Skip(err)
		}
		go func() { _ = a.Serve(l) }()
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Skip(err)
		}
		_, _ = conn.Write(sent)
		_ = conn.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, conn)
		conn.Close()
		l.Close()
		a.Close()
		for len(passed) > 0 {
			if n := <-passed; n == 13 {
				t.Fatalf("a request to sign was passed on: %q", sent)
			}
		}
	})
}
