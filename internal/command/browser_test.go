package command_test

import (
	"context"
	"strings"
	"testing"

	"hermes/internal/command"
)

// attached is a program with one session.
type attached struct{ to string }

func (a *attached) AttachBrowser(_ context.Context, _, address string) error {
	a.to = address
	return nil
}

func (a *attached) BrowserOf(string) string { return "at " + a.to }

// TestBrowserConnects to the usual address or a given one, and shows which it is.
func TestBrowserConnects(t *testing.T) {
	t.Parallel()
	a := &attached{}
	for _, tt := range []struct{ line, want string }{
		{"/browser", "at "}, {"/browser connect", "at http://127.0.0.1:9222"}, {"/browser status", "at http://127.0.0.1:9222"},
		{"/browser connect ws://127.0.0.1:1/x", "at ws://127.0.0.1:1/x"}, {"/browser disconnect", "at "},
	} {
		if got := runBrowser(t, a, tt.line); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.line, got, tt.want)
		}
	}
	if got := runBrowser(t, a, "/browser open"); !strings.Contains(got, "use /browser connect") {
		t.Errorf("an unknown action: %q", got)
	}
}

func runBrowser(t *testing.T, b command.Browsers, line string) string {
	t.Helper()
	r, err := command.Run(t.Context(), line, command.Call{Session: &fake{}, Where: command.Terminal, Browsers: b})
	if err != nil {
		return err.Error()
	}
	return r.Text
}

var _ command.Browsers = (*attached)(nil)
