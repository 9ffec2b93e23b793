package ssh_test

import (
	"os"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/environment/remote"
	"hermes/internal/environment/ssh"
)

// mustEnvironment is the environment over a runner, in an empty folder.
func mustEnvironment(t *testing.T, c ssh.Config) hermes.Environment {
	t.Helper()
	r, err := ssh.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return remote.New(remote.Config{Runner: r, Dir: t.TempDir(), Env: []string{"HOME=" + os.TempDir()}})
}

func TestContract(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, library bool) {
		s := newServer(t)
		hermestest.RunEnvironment(t, func(t *testing.T) hermes.Environment { return mustEnvironment(t, config(t, s, library)) })
	})
}

// TestContractWithoutSftp: a server may offer no files.
func TestContractWithoutSftp(t *testing.T) {
	t.Parallel()
	s := newServer(t, "Subsystem sftp /bin/false")
	hermestest.RunEnvironment(t, func(t *testing.T) hermes.Environment { return mustEnvironment(t, config(t, s, false)) })
}
