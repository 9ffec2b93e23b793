package app_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/environment/remote"
	"hermes/internal/environment/ssh"
	"hermes/internal/environment/sshdtest"
)

// TestASessionWorksOverSSH: commands, files and background processes are on the machine of a real sshd, dangerous
// commands ask as here, and a server that is gone is an error.
func TestASessionWorksOverSSH(t *testing.T) {
	t.Parallel()
	server := sshdtest.New(t, os.Getenv("CI") == "true")
	there := t.TempDir()
	s := newScene(t, hermes.Deny)
	s.config = "terminal: {backend: ssh, ssh_host: box, cwd: '" + there + "', env_passthrough: [NAMED]}\n"
	s.options = func(o *app.Options) {
		o.Environ = func() []string { return append(os.Environ(), "NAMED=by-the-user", "PLAIN=host-canary") }
		o.Runner = func(string, string) (remote.Runner, error) {
			return ssh.New(ssh.Config{Host: "box", File: server.Config, Home: s.home, Run: filepath.Join(server.Dir, "run"), Env: sshdtest.Env})
		}
	}
	s.say(`CALL terminal {"command":"pwd; echo $NAMED $PLAIN ${SSH_CONNECTION:+over-ssh}; echo one > a.txt"}`, `CALL read_file {"path":"a.txt"}`,
		`CALL terminal {"command":"mkdir sub; rm -rf sub"}`, `CALL terminal {"command":"sleep 300","background":true}`)
	got := s.model.results()
	if !strings.Contains(got, there) || !strings.Contains(got, "by-the-user over-ssh") || strings.Contains(got, "host-canary") || len(s.asked) != 1 {
		t.Errorf("asked %d; got %s", len(s.asked), got)
	}
	if system := s.system(); !strings.Contains(system, "inside a ssh environment") || !strings.Contains(system, "Working folder: "+there) {
		t.Errorf("the prompt says %s", system)
	}
	if got, err := os.ReadFile(filepath.Join(there, "a.txt")); err != nil || string(got) != "one\n" {
		t.Errorf("%q, %v", got, err)
	}
	server.Stop()
	witness := filepath.Join(there, "witness")
	s.say(`CALL terminal {"command":"touch ` + witness + `"}`)
	if _, err := os.Stat(witness); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it ran without the server: %v", err)
	}
	server.Go()
}

// TestAnUnknownHostIsRefused: the settings name the machine, its key is not known, and nothing runs.
func TestAnUnknownHostIsRefused(t *testing.T) {
	t.Parallel()
	server := sshdtest.New(t, os.Getenv("CI") == "true")
	for config, want := range map[string]string{
		"": "set terminal.ssh_host",
		fmt.Sprintf(", ssh_host: 127.0.0.1, ssh_port: %d, ssh_user: '%s', ssh_key: '%s'", server.Port, server.User, server.Key): fmt.Sprintf("-p %d %s@127.0.0.1", server.Port, server.User),
		", ssh_host: box, ssh_key: /no/such/key": "terminal.ssh_key",
	} {
		s := newScene(t, hermes.AllowOnce)
		s.config = "terminal: {backend: ssh" + config + "}\n"
		s.enter()
		err := s.live.Do(t.Context(), hermes.From{}, saying("hello"))
		for err == nil {
			if done, ok := (<-s.events).(hermes.TurnDone); ok {
				if err = done.Err(); err == nil {
					t.Fatal("the turn was done")
				}
			}
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", config, err, want)
		}
		if name, err := s.app.CheckBackend(t.Context()); name != "ssh" || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("doctor: %s, %v", name, err)
		}
		s.quit()
	}
}
