//go:build unix

package remote_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"hermes/internal/environment/remote"
)

// TestNamesAreBounded, whole and of the folder in which the session began; odd ones are left out; and no script that could
// start the place is run for them.
func TestNamesAreBounded(t *testing.T) {
	t.Parallel()
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			e, h := place(t, shell)
			for i := range 30 {
				h.inHome(t, fmt.Sprintf("many/f%02d", i), "")
			}
			for _, name := range []string{"odd/a b", "odd/a'c", "odd/a\nd", "odd/-n", "odd/a\xff"} {
				h.inHome(t, name, "")
			}
			if got := e.Names(t.Context(), "~/odd/", 10); got != nil || h.count() != 0 {
				t.Errorf("before the place was used: %q", got)
			}
			output(t, e, "cd ~/odd; mkdir ../../work/sub")
			var startable atomic.Bool
			h.before = func(_ context.Context, s remote.Script) error {
				startable.Store(startable.Load() || !s.Running)
				return nil
			}
			for word, want := range map[string][]string{
				"~/odd/": {"~/odd/-n", "~/odd/a b", "~/odd/a'c"}, "~/odd/a'": {"~/odd/a'c"}, "s": {"sub/"}, "~/nothing/": nil, "~/odd/[a]": nil, "~/odd/-": {"~/odd/-n"},
			} {
				if got := e.Names(t.Context(), word, 10); !slices.Equal(got, want) {
					t.Errorf("%s: %q, want %q", word, got, want)
				}
			}
			if got := e.Names(t.Context(), "~/many/f", 7); len(got) != 7 {
				t.Errorf("%d names, more than 7", len(got))
			}
			if startable.Load() {
				t.Error("a script may start the place")
			}
			h.before = nil
		})
	}
}
