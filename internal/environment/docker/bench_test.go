package docker_test

import (
	"testing"

	"hermes"
	"hermes/internal/environment/docker"
	"hermes/internal/environment/enginetest"
	"hermes/internal/environment/remote"
)

// BenchmarkCommand compares a command with a plain exec of the client, in the same run.
func BenchmarkCommand(b *testing.B) {
	for name, s := range map[string]*enginetest.Shared{"docker": dockerEngine, "podman": podmanEngine} {
		e := s.Get(b)
		c := docker.Config{Program: e.Program, Environ: e.Env, Home: b.TempDir(), Session: b.Name(), Image: enginetest.Image}
		r := mustNew(b, c)
		env := remote.New(remote.Config{Runner: r})
		run(b, r, "true")
		b.Run(name+"/plain exec", func(b *testing.B) {
			for b.Loop() {
				if _, err := e.Run(b.Context(), "exec", r.Name(), "/bin/sh", "-c", "true"); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/script", func(b *testing.B) {
			for b.Loop() {
				run(b, r, "true")
			}
		})
		b.Run(name+"/command", func(b *testing.B) {
			for b.Loop() {
				if _, err := env.Exec(b.Context(), hermes.Command{Line: "true", Keep: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
		if err := env.Close(); err != nil {
			b.Error(err)
		}
	}
}
