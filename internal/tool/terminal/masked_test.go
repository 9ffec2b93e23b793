//go:build unix

package terminal_test

import (
	"strings"
	"testing"
	"time"

	"hermes/internal/redact"
	"hermes/internal/tool/terminal"
)

// TestWhatIsShownOfARunningCommandIsMasked prints a secret whole and in spaced
// form, in pieces that cut it.
func TestWhatIsShownOfARunningCommandIsMasked(t *testing.T) {
	t.Parallel()
	const secret = "Tr0ub4dor-zebra!x9"
	r := redact.New(redact.Options{Known: []string{secret}})
	now := time.Unix(1, 0)
	b := mustFixture(t, terminal.Config{
		Now:  func() time.Time { now = now.Add(time.Second); return now }, // one writer, one call
		Mask: func() func(string) string { return r.Stream().Write },
	})
	spaced := strings.Join(strings.Split(secret, ""), " ")
	script := "yes 'shown " + secret + " or " + spaced + " after' | head -n 20000" // in many pieces, cut anywhere
	if _, err := b.call(t.Context(), "terminal", map[string]any{"command": script}); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(b.host.said, "\n")
	if all == "" || strings.Contains(all, secret[:9]) || strings.Contains(all, secret[9:]) || strings.Contains(all, spaced[8:20]) {
		t.Errorf("the user sees %q", all)
	}
}
