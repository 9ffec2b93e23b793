//go:build unix

package remote_test

import (
	"testing"

	"hermes"
	"hermes/internal/environment/remote"
)

// BenchmarkExec is a command in a place beside the same script over the Runner alone.
func BenchmarkExec(b *testing.B) {
	for _, shell := range []string{"bash", "dash"} {
		b.Run(shell+"/runner", func(b *testing.B) {
			h := newHost(b, shell)
			for b.Loop() {
				if _, err := h.Exec(b.Context(), remote.Script{Text: "true"}); err != nil {
					b.Fatal(err)
				}
			}
		})
		for _, keep := range []bool{false, true} {
			b.Run(shell+map[bool]string{true: "/kept", false: "/plain"}[keep], func(b *testing.B) {
				e, _ := place(b, shell)
				for b.Loop() {
					if _, err := e.Exec(b.Context(), hermes.Command{Line: "true", Keep: keep}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
