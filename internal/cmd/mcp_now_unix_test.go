//go:build unix

package cmd_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestChangesOfServersAreAppliedNow: without --now a change says from when on it holds; with it the session in
// another process has it at once and says what its cache loses, and where none runs that is said.
func TestChangesOfServersAreAppliedNow(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "hello", Description: "Says hello."}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{}, nil, nil
	})
	srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	p, first, id := twoSeats(t)
	says := func(args []string, want ...string) {
		t.Helper()
		out, errs, status := p.run(append([]string{"mcp"}, args...)...)
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("hermes mcp %q does not say %q: %s%s, status %d", args, w, out, errs, status)
			}
		}
		if status != 0 {
			t.Fatalf("hermes mcp %q: status %d, %s%s", args, status, out, errs)
		}
	}
	says([]string{"add", "greet", "--url", srv.URL, "--yes"}, "Added greet.", "New sessions have it.", "--now")
	says([]string{"add", "other", "--url", srv.URL, "--yes", "--now"}, "Added other.", "Session "+id+", terminal ", "Started: greet, other.", "tokens are read again")
	says([]string{"configure", "other", "--off", "--now"}, "Changed other.", "Ended: other.", "tokens are read again")
	says([]string{"configure", "other", "--on"}, "New sessions have it.", "--now")
	says([]string{"remove", "greet", "--now"}, "Removed greet.", "Started: other.", "Ended: greet.")
	file := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, []byte(`{"mcpServers": {"taken": {"url": "`+srv.URL+`"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	says([]string{"import", file, "--yes", "--now"}, "Added taken.", "Session "+id+", terminal ", "Started: taken.", "tokens are read again")
	says([]string{"remove", "taken"}, "Removed taken.", "New sessions have it.")
	says([]string{"import", file, "--yes"}, "Added taken.", "New sessions have it.", "--now")
	first.press("\x04")
	first.shows("Resume this session with: hermes --resume ")
	first.left()
	says([]string{"remove", "other", "--now"}, "Removed other.", "No session runs in this home")
}
