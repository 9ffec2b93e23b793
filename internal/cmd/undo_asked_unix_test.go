//go:build unix

package cmd_test

import (
	"strings"
	"testing"
)

// TestAForcedUndoIsWhatWasShown: what changed while the question was open is not discarded.
func TestAForcedUndoIsWhatWasShown(t *testing.T) {
	t.Parallel()
	p := newWorker(t)
	p.must("config", "set", "agent.max_turns", "8")
	p.must("config", "set", "agent.max_turns", "9")
	s := p.sit("xterm-256color", "undo", "--force")
	s.shows("Undo 1 change?")
	p.configure("# by hand\n" + p.file("config.yaml"))
	byHand := p.file("config.yaml")
	s.press("y\r")
	s.shows("it would do something else now than was shown")
	s.left()
	if got := p.file("config.yaml"); got != byHand {
		t.Errorf("the settings are %q", got)
	}
	if out := p.must("undo", "--force", "--yes"); !strings.Contains(out, "has changed since") || p.file("config.yaml") == byHand {
		t.Errorf("shown and forced: %s", out)
	}
}
