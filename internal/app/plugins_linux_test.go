package app_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
)

// TestAPluginGetsWhatItDeclares: behind walls it writes what it declared and nothing else, reads
// neither the folder of the session nor Hermes' home, reaches no other host, and sees no secret.
func TestAPluginGetsWhatItDeclares(t *testing.T) {
	t.Parallel()
	s, out := spied(t, hermes.AllowOnce, true)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "REACHED") }))
	t.Cleanup(server.Close)
	plain := s.options
	s.options = func(o *app.Options) {
		plain(o)
		o.Sandbox.Resolve = func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		}
		o.Sandbox.Connect = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		}
	}
	s.config += "security: {egress: {allow: ['commands.example.org:8080']}}\n"
	s.enter()
	if w := s.app.HostWalls(t.Context()); w.Layer == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("no walls here: " + w.Why)
		}
		t.Skip("no walls here: " + w.Why)
	}
	s.write("note.txt", "private words")
	secret := filepath.Join(s.home, ".env")
	s.say(`CALL spy_write {"what":"` + filepath.Join(out, "mine") + `"}`)
	if _, err := os.Stat(filepath.Join(out, "mine")); err != nil {
		t.Error("what it declared cannot be written:", err, s.model.results())
	}
	s.say(`CALL spy_write {"what":"` + filepath.Join(s.dir, "evil") + `"}`)
	s.say(`CALL spy_write {"what":"` + filepath.Join(s.home, "plugins", "spy", "main.py") + `"}`)
	s.say(`CALL spy_read {"what":"` + filepath.Join(s.dir, "note.txt") + `"}`)
	s.say(`CALL spy_read {"what":"` + secret + `"}`)
	writeFile(t, filepath.Join(s.home, "plugins", ".source-key"), "the-key-of-sources")
	s.say(`CALL spy_read {"what":"` + filepath.Join(s.home, "plugins", ".source-key") + `"}`)
	s.say(`CALL spy_variable {"what":"SPY_KEY"}`)
	s.say(`CALL spy_connect {"what":"` + strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/v1") + `"}`)
	for _, host := range []string{"other.example.org:8080", "commands.example.org:8080", "pypi.org:80"} {
		s.say(`CALL spy_fetch {"what":"http://` + host + `/"}`)
	}
	got := s.model.results()
	for _, never := range []string{"private words", "the-real-secret", "the-key-of-sources", "connected", "SPY_KEY is unset", "REACHED"} {
		if strings.Contains(got, never) {
			t.Errorf("the plugin got %q:\n%s", never, got)
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, "evil")); err == nil {
		t.Error("the plugin wrote into the folder of the session")
	}
	if data, err := os.ReadFile(filepath.Join(s.home, "plugins", "spy", "main.py")); err != nil || string(data) != spy {
		t.Error("the plugin changed itself", err)
	}
	s.say(`CALL spy_fetch {"what":"http://declared.example.org:8080/"}`)
	if !strings.Contains(s.model.results(), "REACHED") {
		t.Error("a host that it declared is not reached:", s.model.results())
	}
}

// TestAPluginThatWritesAProjectDoesNotRunThere: what git and the user's tools obey in a folder that it
// declared is closed to it, and what the user changes of that while it runs stays.
func TestAPluginThatWritesAProjectDoesNotRunThere(t *testing.T) {
	t.Parallel()
	s, out := spied(t, hermes.AllowOnce, true)
	for _, dir := range []string{".git/hooks", ".git/objects", ".git/refs", ".vscode"} {
		if err := os.MkdirAll(filepath.Join(out, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(out, ".git", "config")
	writeFile(t, config, "[core]\n\tbare = false\n")
	writeFile(t, filepath.Join(out, ".git", "HEAD"), "ref: refs/heads/main\n")
	s.enter()
	if w := s.app.HostWalls(t.Context()); w.Layer == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("no walls here: " + w.Why)
		}
		t.Skip("no walls here: " + w.Why)
	}
	s.say(`CALL spy_write {"what":"` + filepath.Join(out, "mine") + `"}`)
	if _, err := os.Stat(filepath.Join(out, "mine")); err != nil {
		t.Error("what it declared cannot be written:", err, s.model.results())
	}
	for _, file := range []string{".git/hooks/pre-commit", ".git/config", ".vscode/tasks.json"} {
		s.say(`CALL spy_write {"what":"` + filepath.Join(out, file) + `"}`)
		if data, err := os.ReadFile(filepath.Join(out, file)); err == nil && !strings.HasPrefix(string(data), "[core]") {
			t.Errorf("the plugin wrote %s: %q", file, data)
		}
	}
	own := "[core]\n\tbare = false\n\tpager = less -F\n"
	writeFile(t, config, own)
	s.quit()
	if data, err := os.ReadFile(config); err != nil || string(data) != own {
		t.Errorf("what the user wrote while it ran is %q now, %v", data, err)
	}
}
