package ssh_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hermes/internal/environment/remote"
	"hermes/internal/environment/ssh"
	"hermes/internal/environment/sshdtest"
)

// refusal is the error of a first script, which must not have run.
func refusal(t *testing.T, s *sshdtest.Server, c ssh.Config) error {
	t.Helper()
	r := mustNew(t, c)
	ran := filepath.Join(s.Dir, "ran")
	_, err := r.Exec(t.Context(), remote.Script{Text: "echo x >" + ran})
	if !errors.Is(err, remote.ErrNotRun) {
		t.Errorf("error %v, want ErrNotRun", err)
	}
	if _, statErr := os.Stat(ran); statErr == nil {
		t.Error("the script ran, here or there")
	}
	return err
}

func says(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("%v does not say %q", err, w)
		}
	}
}

func TestHostKeys(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, library bool) {
		s := newServer(t)
		print := s.Fingerprint(t, "host")
		var key *ssh.HostKeyError

		s.Write(t, "known_hosts", "")
		err := refusal(t, s, config(t, s, library))
		if !errors.As(err, &key) || key.Changed || key.Host != "box" || key.Fingerprint != "ED25519 "+print {
			t.Errorf("an unknown key: %+v, %v", key, err)
		}
		says(t, err, "not known", print, "ssh box")
		if b, _ := os.ReadFile(s.Known); len(b) != 0 {
			t.Errorf("the key was remembered: %s", b)
		}

		s.Keygen(t, "other")
		s.Trust(t, "other")
		err = refusal(t, s, config(t, s, library))
		if !errors.As(err, &key) || !key.Changed || key.Fingerprint != "ED25519 "+print {
			t.Errorf("a changed key: %+v, %v", key, err)
		}
		says(t, err, "has changed", print, "ssh-keygen -R 'box'")

		s.Trust(t, "host")
		run(t, mustNew(t, config(t, s, library)), "true", "")
	})
}

func TestLoginsThatAreRefused(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, library bool) {
		s := newServer(t)
		s.Keygen(t, "wrong")
		s.Write(t, "config", strings.Replace(s.ClientConfig(s.Port), s.Key, filepath.Join(s.Dir, "wrong"), 1))
		c := config(t, s, library)
		err := refusal(t, s, c)
		if !errors.Is(err, ssh.ErrLogin) {
			t.Errorf("a wrong key: %v", err)
		}
		says(t, err, "box", "terminal.ssh_key")

		s.Write(t, "config", s.ClientConfig(s.Port))
		c = config(t, s, library)
		c.User = "no-such-user"
		if err := refusal(t, s, c); !errors.Is(err, ssh.ErrLogin) {
			t.Errorf("another user: %v", err)
		}

		c = config(t, s, library)
		c.Key, c.File = s.Key, os.DevNull // all from the settings
		c.Host, c.User, c.Port = "127.0.0.1", s.User, s.Port
		var key *ssh.HostKeyError
		if err := refusal(t, s, c); !errors.As(err, &key) || key.Changed || key.Host != "[127.0.0.1]:"+strconv.Itoa(s.Port) {
			t.Errorf("a host without a configuration: %+v, %v", key, err)
		}
		says(t, key, "ssh -p "+strconv.Itoa(s.Port)+" "+s.User+"@127.0.0.1")

		locked := newServer(t, "ForceCommand echo This account is not available; exit 1")
		says(t, refusal(t, locked, config(t, locked, library)), "runs no /bin/sh", "This account is not available")
	})
}

func TestHostsThatAreDown(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, library bool) {
		s := newServer(t)
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		s.Write(t, "config", s.ClientConfig(port))
		says(t, refusal(t, s, config(t, s, library)), "cannot connect", "refused")
		s.Stop()
		s.Write(t, "config", s.ClientConfig(s.Port))
		says(t, refusal(t, s, config(t, s, library)), "cannot connect to")
	})
}

func TestSettingsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []ssh.Config{
		{}, {Host: "-oProxyCommand=touch x"}, {Host: "a b"}, {Host: "a;b"}, {Host: "u@a"}, {Host: "a\nb"}, {Host: "$(x)"},
		{Host: "a", User: "-l"}, {Host: "a", User: "a b"}, {Host: "a", User: "`x`"}, {Host: "a", Port: 70000}, {Host: "a", Port: -1},
		{Host: "a", Key: filepath.Join(t.TempDir(), "none")},
	} {
		if r, err := ssh.New(c); err == nil {
			r.Close()
			t.Errorf("%+v is accepted", c)
		}
	}
	for _, host := range []string{"box", "box.example.org", "127.0.0.1", "::1", "fe80::1%eth0", "my_box-2"} {
		r, err := ssh.New(ssh.Config{Host: host})
		if err != nil {
			t.Errorf("%s: %v", host, err)
			continue
		}
		r.Close()
	}
}

// TestJumpHosts goes to the machine through another one.
func TestJumpHosts(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, library bool) {
		s, jump := newServer(t), newServer(t)
		jumped := strings.Replace(jump.ClientConfig(jump.Port), "Host box", "Host gate", 1)
		jumped = strings.Replace(jumped, "HostKeyAlias box", "HostKeyAlias gate", 1)
		public, err := os.ReadFile(filepath.Join(jump.Dir, "host.pub"))
		if err != nil {
			t.Fatal(err)
		}
		jump.Write(t, "known_hosts", "gate "+string(public))
		s.Write(t, "config", s.ClientConfig(s.Port)+"  ProxyJump gate\n"+jumped)
		out, _, _ := run(t, mustNew(t, config(t, s, library)), "echo there", "")
		if out != "there\n" || jump.Accepted() != 1 || s.Accepted() != 1 {
			t.Errorf("%q, %d and %d connections", out, jump.Accepted(), s.Accepted())
		}
	})
}

// TestNothingIsForwarded also if the user has configured it.
func TestNothingIsForwarded(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, library bool) {
		s := newServer(t)
		touched := filepath.Join(s.Dir, "touched")
		s.Write(t, "config", s.ClientConfig(s.Port)+"  ForwardAgent yes\n  PermitLocalCommand yes\n  LocalCommand touch "+touched+
			"\n  RemoteForward "+filepath.Join(s.Dir, "back")+" 127.0.0.1:1\n  RequestTTY force\n  RemoteCommand echo instead\n  ControlMaster auto\n  ControlPath "+filepath.Join(s.Dir, "own")+"\n  StrictHostKeyChecking no\n")
		r := mustNew(t, config(t, s, library))
		if out, _, _ := run(t, r, "echo \"${SSH_AUTH_SOCK-none}\"", ""); out != "none\n" {
			t.Errorf("%q", out)
		}
		for _, name := range []string{"touched", "back", "own"} {
			if _, err := os.Stat(filepath.Join(s.Dir, name)); err == nil {
				t.Errorf("%s was made", name)
			}
		}
		s.Write(t, "known_hosts", "")
		var key *ssh.HostKeyError
		if err := refusal(t, s, config(t, s, library)); !errors.As(err, &key) {
			t.Errorf("an unknown key, which the configuration accepts: %v", err)
		}
	})
}
