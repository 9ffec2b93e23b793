//go:build unix

package cmd

import (
	"errors"
	"os"
	"testing"

	"github.com/charmbracelet/x/xpty"

	"hermes/internal/app"
	"hermes/internal/cmd/chat"
	"hermes/internal/lineage"
)

// TestUserAtATerminalIsBelieved if the parents cannot be looked at.
func TestUserAtATerminalIsBelieved(t *testing.T) {
	t.Parallel()
	pty, err := xpty.NewUnixPty(80, 24)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no pseudo terminal: %v", err)
		}
		t.Skipf("no pseudo terminal: %v", err)
	}
	t.Cleanup(func() { pty.Close() })
	above := lineage.Above{Err: errors.New("no /proc")}
	w := &wall{process: Process{Stdin: pty.Slave(), Above: func() lineage.Above { return above }}, options: &chat.Options{Factory: newFactory(Process{})}}
	if err := w.refuse("hermes config set", "it changes Hermes itself"); err != nil {
		t.Error(err)
	}
	above.Signs = []string{"a sign"} // an agent can open a terminal, too
	home := t.TempDir()
	w.options.Global = app.Options{Home: home}
	if err := w.refuse("hermes config set", "it changes Hermes itself"); err == nil {
		t.Error("an agent with a terminal was believed")
	}
}
