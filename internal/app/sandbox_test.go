package app_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/isolation"
)

// TestStrictNeedsWalls: with terminal.sandbox strict commands do not run on a host without
// layer A. A misspelt value counts as strict.
func TestStrictNeedsWalls(t *testing.T) {
	t.Parallel()
	for setting, refused := range map[string]bool{"": false, "auto": false, "off": false, "strict": true, "strickt": true} {
		s := newScene(t, hermes.Deny)
		if setting != "" {
			s.config = "terminal: {sandbox: " + setting + "}\n"
		}
		s.say("CALL terminal " + `{"command":"echo x > ran.txt"}`)
		if _, err := os.Stat(filepath.Join(s.dir, "ran.txt")); (err != nil) != refused {
			t.Errorf("sandbox %q: the command left %v", setting, err)
		}
	}
}

func TestSandboxLine(t *testing.T) {
	t.Parallel()
	for layer, want := range map[string]string{"A": "layer A", "B": "layer B", "": "No sandbox"} {
		a := app.New(app.Options{Home: t.TempDir(), Getenv: func(string) string { return "" }, HostWalls: func(context.Context) isolation.HostWalls {
			return isolation.HostWalls{Layer: layer}
		}})
		if got := a.Sandbox(t.Context()); !strings.Contains(got, want) {
			t.Errorf("layer %q: %q, want %q", layer, got, want)
		}
	}
}
