package docker_test

import (
	"testing"
	"time"

	"hermes"
	"hermes/internal/environment/docker"
	"hermes/internal/environment/enginetest"
	"hermes/internal/environment/remote"
)

// BenchmarkCommand compares scripts and commands with a plain exec of the client. They take turns,
// so that other work on the machine slows all of them.
func BenchmarkCommand(b *testing.B) {
	for name, s := range map[string]*enginetest.Shared{"docker": dockerEngine, "podman": podmanEngine} {
		b.Run(name, func(b *testing.B) {
			e := s.Get(b)
			r := mustNew(b, docker.Config{Program: e.Program, Environ: e.Env, Home: b.TempDir(), Session: b.Name(), Image: enginetest.Image})
			env := remote.New(remote.Config{Runner: r})
			var plain, script, command time.Duration
			took := func(sum *time.Duration, do func() error) {
				begun := time.Now()
				if err := do(); err != nil {
					b.Fatal(err)
				}
				*sum += time.Since(begun)
			}
			line := func() error {
				_, err := env.Exec(b.Context(), hermes.Command{Line: "true", Keep: true})
				return err
			}
			if err := line(); err != nil { // makes the container, and asks what it is
				b.Fatal(err)
			}
			for b.Loop() {
				took(&plain, func() error {
					_, err := e.Run(b.Context(), "exec", r.Name(), "/bin/sh", "-c", "true")
					return err
				})
				took(&script, func() error {
					_, err := r.Exec(b.Context(), remote.Script{Text: "true"})
					return err
				})
				took(&command, line)
			}
			b.ReportMetric(plain.Seconds()*1000/float64(b.N), "ms/plain")
			b.ReportMetric(float64(script)/float64(plain), "script/plain")
			b.ReportMetric(float64(command)/float64(plain), "command/plain")
			if err := env.Close(); err != nil {
				b.Error(err)
			}
		})
	}
}
