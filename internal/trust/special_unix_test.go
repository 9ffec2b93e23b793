//go:build unix

package trust_test

import (
	"path/filepath"
	"syscall"
	"testing"
)

func TestAPipeIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	if err := syscall.Mkfifo(filepath.Join(g.repo, ".mcp.json"), 0o644); err != nil {
		t.Skip(err)
	}
	if p, err := g.finder.Look(g.repo); err == nil || p.Hash != "" {
		t.Errorf("hash %q, %v", p.Hash, err)
	}
}
