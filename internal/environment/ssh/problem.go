package ssh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"hermes/internal/proc"
)

// HostKeyError means that the key of the host is not the known one. Nothing was sent to it.
type HostKeyError struct {
	// Host is the name under which the key is looked up.
	Host string
	// Fingerprint is that of the key which the host has, such as "ED25519 SHA256:…"; "" if
	// it is not known.
	Fingerprint string
	// Changed says that another key is known for the host.
	Changed bool
	// Connect is how to reach the host by hand.
	Connect string
}

func (e *HostKeyError) Error() string {
	key := "its key"
	if e.Fingerprint != "" {
		key += " (" + e.Fingerprint + ")"
	}
	if e.Changed {
		return fmt.Sprintf("the key of %s has changed: %s is not the known one, and another machine may be in its place; nothing was sent. If you know why, remove the old key with ssh-keygen -R '%s' and connect once with ssh %s", e.Host, key, e.Host, e.Connect)
	}
	return fmt.Sprintf("the host %s is not known: compare %s with what the host's owner says, and connect once with ssh %s to remember it", e.Host, key, e.Connect)
}

// ErrLogin means that the host refused the login.
var ErrLogin = errors.New("the login was refused")

var (
	changedKey  = regexp.MustCompile(`key sent by the remote host is\s*\n(\S+?)\.?\r?\n`)
	changedKind = regexp.MustCompile(`The fingerprint for the (\S+) key`)
	askedKey    = regexp.MustCompile(`Server host key: (?:ssh-|sk-ssh-)?(\S+) (SHA256:\S+)`)
	askedName   = regexp.MustCompile(`host key is known for (\S+) and`)
	changedName = regexp.MustCompile(`(?:Host|host) key for (\S+) has changed`)
)

// explain turns what ssh said about a connection that it could not make into an error.
func (s *system) explain(said string) error {
	c := s.config
	switch {
	case strings.Contains(said, "IDENTIFICATION HAS CHANGED"):
		kind, print := first(changedKind, said), first(changedKey, said)
		return &HostKeyError{Host: cmp.Or(first(changedName, said), c.Host), Fingerprint: strings.TrimSpace(kind + " " + print), Changed: true, Connect: c.target()}
	case strings.Contains(said, "host key is known for"):
		return &HostKeyError{Host: cmp.Or(first(askedName, said), c.Host), Fingerprint: s.fingerprint(), Connect: c.target()}
	case strings.Contains(said, "Host key verification failed"):
		return fmt.Errorf("the key of %s could not be checked: %s", c.Host, lines(said))
	case strings.Contains(said, "Permission denied (") || strings.Contains(said, "Too many authentication failures"):
		return fmt.Errorf("%w by %s: %s. No password is asked for: set terminal.ssh_key, or add the key to your agent with ssh-add, and check terminal.ssh_user", ErrLogin, c.Host, lines(said))
	}
	return fmt.Errorf("cannot connect to %s: %s", c.Host, cmp.Or(lines(said), "ssh gave no reason"))
}

// fingerprint asks for the key of a host that is not known. ssh says it only on request.
func (s *system) fingerprint() string {
	var said recent
	args := append(s.options("none", false), "-o", "LogLevel=DEBUG1", "-T", "--", s.config.Host, "exit 1")
	ctx, cancel := context.WithTimeout(s.life, loginWait)
	defer cancel()
	_, _ = proc.Run(ctx, proc.Command{Path: s.program, Args: args, Env: s.environment(false), Stderr: &said, Files: nil, Guard: s.config.Guard})
	m := askedKey.FindStringSubmatch(said.String())
	if m == nil {
		return ""
	}
	return strings.ToUpper(m[1]) + " " + m[2]
}

func first(pattern *regexp.Regexp, text string) string {
	if m := pattern.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// lines are the last things that ssh said, on one line.
func lines(text string) string {
	all := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.TrimSuffix(strings.Join(all[max(0, len(all)-3):], "; "), ".")
}
