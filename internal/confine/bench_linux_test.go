//go:build amd64 || arm64

package confine_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"hermes"
	"hermes/internal/environment"
	"hermes/internal/sandbox"
)

// BenchmarkCommand runs a command with all that the walls add around it: plan, git guard,
// ports, what was refused.
func BenchmarkCommand(b *testing.B) {
	for _, l := range []sandbox.Layer{sandbox.None, sandbox.B, sandbox.A} {
		b.Run(l.String(), func(b *testing.B) {
			var local *environment.Local
			if l == sandbox.None {
				dir, err := filepath.EvalSymlinks(b.TempDir())
				if err != nil {
					b.Fatal(err)
				}
				local, err = environment.NewLocal(environment.LocalConfig{Dir: dir, Home: dir, Env: []string{"PATH=/usr/bin:/bin", "HOME=" + dir}})
				if err != nil {
					b.Fatal(err)
				}
				defer local.Close()
			} else {
				local = newScene(b, l).Local
			}
			for b.Loop() {
				var out bytes.Buffer
				if _, err := local.Exec(b.Context(), hermes.Command{Line: "true", Stdout: &out, Stderr: &out}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
