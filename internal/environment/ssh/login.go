package ssh

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"
)

// maxJumps bounds the hosts on the way.
const maxJumps = 8

// login connects and logs in, through jump hosts if there are any. The first client is that
// of the machine; all of them are closed together.
func (l *library) login(ctx context.Context) ([]*ssh.Client, error) {
	settings, err := readSettings(l.config)
	if err != nil {
		return nil, err
	}
	hop, err := settings.host(l.config)
	if err != nil {
		return nil, err
	}
	hops, err := settings.jumps(hop, l.config)
	if err != nil {
		return nil, err
	}
	var clients []*ssh.Client
	for _, h := range hops {
		var via *ssh.Client
		if len(clients) > 0 {
			via = clients[0]
		}
		c, err := l.hop(ctx, via, h)
		if err != nil {
			for _, open := range clients {
				open.Close()
			}
			return nil, err
		}
		clients = append([]*ssh.Client{c}, clients...)
	}
	return clients, nil
}

// hop logs in at one host.
func (l *library) hop(ctx context.Context, via *ssh.Client, h host) (*ssh.Client, error) {
	address := net.JoinHostPort(h.name, strconv.Itoa(h.port))
	config, bad, err := l.clientConfig(h)
	if err != nil {
		return nil, err
	}
	defer config.free()
	conn, err := dialTCP(ctx, via, address)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to %s: %w", h.name, err)
	}
	_ = conn.SetDeadline(time.Now().Add(connectWait)) // for the keys, not for the login
	config.keys = func() { _ = conn.SetDeadline(time.Time{}) }
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	c, channels, requests, err := ssh.NewClientConn(conn, h.address(), &config.ClientConfig)
	if !stop() && err == nil {
		c.Close()
		err = context.Cause(ctx)
	}
	if err == nil {
		return ssh.NewClient(c, channels, requests), nil
	}
	conn.Close()
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("no login at %s: %w", h.name, context.Cause(ctx))
	case bad.err != nil:
		return nil, bad.err
	case strings.Contains(err.Error(), "unable to authenticate"):
		text := fmt.Sprintf("%s refused the keys offered", h.name)
		if len(config.problems) > 0 {
			text += ": " + strings.Join(config.problems, "; ")
		}
		return nil, fmt.Errorf("%w by %s for %s: %s. No password is asked for: set terminal.ssh_key, or add the key to your agent, and check terminal.ssh_user", ErrLogin, h.alias, h.user, text)
	}
	return nil, fmt.Errorf("cannot connect to %s: %w", h.name, err)
}

// clientConfig is an [ssh.ClientConfig] with what its making found.
type clientConfig struct {
	ssh.ClientConfig
	keys     func()   // called when the host has shown its key
	problems []string // why keys are not offered
	agent    net.Conn
}

func (c *clientConfig) free() {
	if c.agent != nil {
		c.agent.Close()
	}
}

// refusal is why a key of a host was refused.
type refusal struct{ err error }

func (l *library) clientConfig(h host) (*clientConfig, *refusal, error) {
	c, bad := &clientConfig{}, &refusal{}
	var files []string
	for _, f := range h.known {
		if _, err := os.Stat(f); err == nil {
			files = append(files, f)
		}
	}
	check, err := knownhosts.New(files...)
	if err != nil {
		return nil, nil, fmt.Errorf("read the known hosts: %w", err)
	}
	c.User, c.Timeout = h.user, connectWait
	c.HostKeyCallback = func(name string, address net.Addr, key ssh.PublicKey) error {
		err := check(name, address, key)
		c.keys()
		if err != nil {
			bad.err = hostKeyError(err, h, key, l.config.target())
		}
		return err
	}
	c.HostKeyAlgorithms = algorithmsOf(check, h)
	c.Auth = []ssh.AuthMethod{ssh.PublicKeysCallback(func() ([]ssh.Signer, error) { return l.signers(c, h), nil })}
	return c, bad, nil
}

func hostKeyError(err error, h host, key ssh.PublicKey, connect string) error {
	var unknown *knownhosts.KeyError
	if !errors.As(err, &unknown) {
		return fmt.Errorf("the key of %s was refused: %w", h.alias, err)
	}
	kind := strings.ToUpper(strings.TrimPrefix(strings.TrimPrefix(key.Type(), "sk-"), "ssh-"))
	return &HostKeyError{Host: knownhosts.Normalize(h.address()), Fingerprint: kind + " " + ssh.FingerprintSHA256(key), Changed: len(unknown.Want) > 0, Connect: connect}
}

// algorithmsOf are the kinds of keys that are known of a host: of several keys that it has, it
// must show one of these. Nil are all.
func algorithmsOf(check ssh.HostKeyCallback, h host) []string {
	var unknown *knownhosts.KeyError
	if !errors.As(check(h.address(), &net.TCPAddr{}, noKey{}), &unknown) {
		return nil
	}
	var all []string
	for _, k := range unknown.Want {
		if t := k.Key.Type(); t == ssh.KeyAlgoRSA {
			all = append(all, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		} else {
			all = append(all, t)
		}
	}
	return all
}

// noKey is a key that no host has.
type noKey struct{ ssh.PublicKey }

func (noKey) Type() string    { return "none" }
func (noKey) Marshal() []byte { return nil }

// signers are the keys to offer: those of the files that the agent has, those of the files,
// and the others of the agent.
func (l *library) signers(c *clientConfig, h host) []ssh.Signer {
	var all, others []ssh.Signer
	wanted := map[string]bool{}
	for _, file := range h.keys {
		if b, err := os.ReadFile(file + ".pub"); err == nil {
			if key, _, _, _, err := ssh.ParseAuthorizedKey(b); err == nil {
				wanted[string(key.Marshal())] = true
			}
		}
	}
	if conn, err := dialAgent(h.agent); err == nil {
		c.agent = conn
		held, err := agent.NewClient(conn).Signers()
		if err != nil {
			c.problems = append(c.problems, "the agent: "+err.Error())
		}
		for _, s := range held {
			if wanted[string(s.PublicKey().Marshal())] {
				all = append(all, s)
				delete(wanted, string(s.PublicKey().Marshal()))
			} else if !h.only {
				others = append(others, s)
			}
		}
	}
	for _, file := range h.keys {
		b, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var s ssh.Signer
		if err == nil {
			s, err = ssh.ParsePrivateKey(b)
		}
		var locked *ssh.PassphraseMissingError
		switch {
		case errors.As(err, &locked):
			c.problems = append(c.problems, filepath.Base(file)+" has a passphrase: add it to your agent")
		case err != nil:
			c.problems = append(c.problems, filepath.Base(file)+": "+err.Error())
		default:
			all = append(all, s)
		}
	}
	return append(all, others...)
}
