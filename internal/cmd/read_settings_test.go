package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMaxExportMessages has an export with a session that is too long: nothing is written, and
// the user is told which one it is.
func TestMaxExportMessages(t *testing.T) {
	t.Parallel()
	p, _ := counted(t)
	if out, errs, status := p.run("-z", "hi", "-m", "played"); status != 0 {
		t.Fatalf("status %d: %s%s", status, out, errs)
	}
	for settings, fits := range map[string]bool{"": true, "sessions: {max_export_messages: 2}\n": true, "sessions: {max_export_messages: 1}\n": false, "sessions: {max_export_messages: 0}\n": true} {
		p.configure(settings)
		to := filepath.Join(p.dir, "all.jsonl")
		out, errs, status := p.run("sessions", "export", to)
		_, err := os.Stat(to)
		if wrote := err == nil; wrote != fits || (status == 0) != fits {
			t.Errorf("%q: wrote %v, status %d: %s%s", settings, wrote, status, out, errs)
		}
		if !fits && (!strings.Contains(errs, "has 2 messages") || !strings.Contains(errs, "hermes config set sessions.max_export_messages 2")) {
			t.Errorf("%q: it does not say what to do: %s", settings, errs)
		}
		if out, _, status := p.run("sessions", "export", "-"); (out != "") != fits || (status == 0) != fits {
			t.Errorf("%q: to standard output: status %d: %q", settings, status, out)
		}
		_ = os.Remove(to)
	}
}

// TestProvidersAreShownByTheirName has the name of the user's own service in the list.
func TestProvidersAreShownByTheirName(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	p.configure("providers:\n  box: {name: The box upstairs, base_url: \"http://127.0.0.1:9/v1\", default_model: m}\n  plain: {name: plain, base_url: \"http://127.0.0.1:9/v1\", default_model: m}\n")
	if out, errs, _ := p.run("model"); !strings.Contains(out, "custom:box (The box upstairs), custom:plain") || strings.Contains(out, "(plain)") {
		t.Errorf("got %s%s", out, errs)
	}
}
