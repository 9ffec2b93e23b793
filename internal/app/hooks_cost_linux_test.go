package app_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes/internal/app"
	"hermes/internal/sandbox"
)

// TestWhatAHookCosts compares one run of a hook with `sh -c cat`, in turns with it. HOOK_COST says how often, such as 200.
func TestWhatAHookCosts(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("HOOK_COST"))
	if err != nil {
		t.Skip("set HOOK_COST to a number of runs to measure")
	}
	median := func(list []time.Duration) time.Duration {
		slices.Sort(list)
		return list[len(list)/2]
	}
	for _, tt := range []struct {
		name   string
		layer  sandbox.Layer
		keeper bool
		line   string
	}{
		{"no walls", sandbox.None, true, "cat"}, {"layer B", sandbox.B, true, "cat"}, {"layer A", sandbox.A, true, "cat"}, {"no walls, own shell", sandbox.None, true, "cat > /dev/null"},
	} {
		home, dir := t.TempDir(), t.TempDir()
		var rows strings.Builder
		for range n {
			fmt.Fprintf(&rows, "  - hooks: [{command: %q}]\n", tt.line)
		}
		settings := "hooks_auto_accept: true\nhooks:\n  PreToolUse:\n" + rows.String()
		if tt.keeper && tt.layer == sandbox.None {
			settings += "terminal: {sandbox: off}\n"
		}
		if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		a := app.New(app.Options{Home: home, Sandbox: app.Sandbox{Keeper: tt.keeper, Strongest: tt.layer}})
		var shell []time.Duration
		for range min(n, 200) {
			begun := time.Now()
			c := exec.Command("sh", "-c", "cat")
			c.Stdin, c.Dir = strings.NewReader("{}"), dir
			if err := c.Run(); err != nil {
				t.Fatal(err)
			}
			shell = append(shell, time.Since(begun))
		}
		ran, err := a.TryHooks(t.Context(), dir, "PreToolUse", "terminal")
		if err != nil {
			t.Fatal(err)
		}
		var took []time.Duration
		for _, r := range ran[1:] { // the first one builds the walls
			if r.Verdict.Failed != nil {
				t.Fatal(r.Verdict.Failed)
			}
			took = append(took, r.Took)
		}
		t.Logf("%-20s sh -c cat %v, a hook %v, the first %v", tt.name, median(shell), median(took), ran[0].Took)
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
