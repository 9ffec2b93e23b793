package audit_test

import (
	"path/filepath"
	"testing"

	"hermes/internal/audit"
)

// BenchmarkAppend is the two rows of a call.
func BenchmarkAppend(b *testing.B) {
	home := b.TempDir()
	l := audit.Open(audit.Options{Folder: filepath.Join(home, "audit"), Key: filepath.Join(home, "audit.key")})
	defer l.Close()
	hash := "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	call := audit.Row{Kind: audit.KindCall, Session: "20261124_163900_b1adb1", Turn: 1, Call: "call_terminal", Platform: "cli", Tool: "terminal", Subject: "go test ./internal/x", Arguments: hash}
	result := call
	result.Kind, result.Status, result.Result = audit.KindResult, "ok", hash
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range []audit.Row{call, result} {
			if err := l.Append(b.Context(), r); err != nil {
				b.Fatal(err)
			}
		}
	}
}
