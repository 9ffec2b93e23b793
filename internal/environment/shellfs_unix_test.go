//go:build unix

package environment_test

import (
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/environment"
	"hermes/internal/environment/remote"
)

// shellOnly is a backend that has nothing but commands.
type shellOnly struct{ *environment.Local }

func (s shellOnly) Files() hermes.Files {
	return remote.ShellFiles{Run: s.Exec, Home: "/home/ada", Dir: func() string {
		dir, _ := s.Local.Files().Resolve(".")
		return dir
	}}
}

func TestFilesOutOfCommandsKeepTheContract(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "sh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			hermestest.RunEnvironment(t, func(t *testing.T) hermes.Environment {
				return shellOnly{mustLocal(t, environment.LocalConfig{Shell: shell})}
			})
		})
	}
}

func TestNamesWithLineEndsAreListed(t *testing.T) {
	t.Parallel()
	s := shellOnly{mustLocal(t, environment.LocalConfig{})}
	output(t, s.Local, "touch -- $'two\\nlines' '-n' 'b  c'")
	entries, err := s.Files().List(t.Context(), ".")
	if err != nil || len(entries) != 3 || entries[0].Name() != "-n" || entries[2].Name() != "two\nlines" {
		t.Errorf("listed %v, error %v", entries, err)
	}
}

func TestOpenFileMayBeClosedEarly(t *testing.T) {
	t.Parallel()
	s := shellOnly{mustLocal(t, environment.LocalConfig{})}
	r, err := s.Files().Open(t.Context(), "/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 10)); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
