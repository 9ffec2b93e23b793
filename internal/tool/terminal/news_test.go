//go:build unix

package terminal_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hermes/internal/tool/terminal"
)

// TestNewsOfBackgroundProcessesComeOnce: starts and ends, and nothing where
// nothing changed or the model knows already.
func TestNewsOfBackgroundProcessesComeOnce(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{})
	if got := b.set.News("s"); got != "" {
		t.Errorf("nothing was started: %q", got)
	}
	one := b.start("read x;  exit 3", nil).ID
	if got, want := b.set.News("s"), "running in the background: "+one+" (read x; exit 3)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := b.set.News("s"); got != "" {
		t.Errorf("reported twice: %q", got)
	}
	two := b.start("sleep 300", nil).ID
	if got := b.set.News("s"); !strings.Contains(got, one) || !strings.Contains(got, two+" (sleep 300)") || strings.Contains(got, "ended") {
		t.Errorf("got %q", got)
	}
	b.process("submit", one, map[string]any{"data": "go"})
	news := ""
	for news == "" {
		<-time.After(5 * time.Millisecond)
		news = b.set.News("s") // until it has ended
	}
	if want := "ended in the background: " + one + " (read x; exit 3, exit code 3); running in the background: " + two + " (sleep 300)"; news != want {
		t.Errorf("got %q, want %q", news, want)
	}
	b.process("kill", two, nil)
	if got := b.set.News("s"); got != "nothing runs in the background any more" {
		t.Errorf("the caller that killed it is notified: %q", got)
	}
	if got := b.set.News("s"); got != "" {
		t.Errorf("reported twice: %q", got)
	}
}

func TestNewsAreShort(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{})
	for range 12 {
		b.start("sleep 300 # "+strings.Repeat("ä long comment\n# ", 200), nil)
	}
	got := b.set.News("s")
	if n := utf8.RuneCountInString(got); n > 600 || !strings.HasSuffix(got, "and 7 more") || strings.Contains(got, "\n") {
		t.Errorf("%d characters: %q", n, got)
	}
}
