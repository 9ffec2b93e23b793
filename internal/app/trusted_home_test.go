package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/config"
	"hermes/internal/home"
)

// TestTheHomeIsNotProposedAsATrustedFolder works in the user's home, in a folder that
// holds it, in a link to it, and below it. It sets HOME, so it is not parallel.
func TestTheHomeIsNotProposedAsATrustedFolder(t *testing.T) {
	base := t.TempDir()
	own := filepath.Join(base, "users", "me")
	if err := os.MkdirAll(filepath.Join(own, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(own, link); err != nil {
		t.Skip(err) // Windows needs a right for it
	}
	for _, tt := range []struct {
		home, dir string
		want      bool
	}{
		{own, own, false}, {own, filepath.Dir(own), false}, {own, link, false}, {link, own, false}, {link, filepath.Dir(own), false},
		{own, filepath.Join(own, "src"), true}, {link, filepath.Join(own, "src"), true},
	} {
		t.Setenv("HOME", tt.home)
		t.Setenv("USERPROFILE", tt.home)
		s := newScene(t, hermes.Deny)
		s.dir = tt.dir
		s.write("notes.md", attack)
		s.say(readNotes)
		s.say(obey)
		asked := 0
		for _, a := range s.asked {
			for _, r := range a.Risks {
				if r.Key != "taint:memory" {
					continue
				}
				asked++
				if got := strings.Contains(r.Reason, "security.trusted_folders"); got != tt.want {
					t.Errorf("home %s, in %s: %s", tt.home, tt.dir, r.Reason)
				}
			}
		}
		if asked == 0 {
			t.Errorf("home %s, in %s: not asked", tt.home, tt.dir)
		}
		s.quit()
	}
}

// TestATrustedFolderIsOfThisMachine: the backend of the session counts, and not that of the settings.
func TestATrustedFolderIsOfThisMachine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for backend, want := range map[string]bool{"": true, "local": true, "docker": false, "ssh": false} {
		h := t.TempDir()
		writeFile(t, filepath.Join(h, "config.yaml"), "terminal: {backend: docker}\nsecurity: {trusted_folders: ['"+dir+"']}\n")
		cfg, w := config.Load(home.At(h), config.Options{Managed: "-"}), hermes.Workspace{Backend: backend}
		trusted, command := app.Trusted(cfg, w), app.TrustCommand(cfg, w)
		if got := trusted != nil && trusted(filepath.Join(dir, "a.txt")); got != want {
			t.Errorf("%s: trusted %v", backend, got)
		}
		if got := command != nil && command(dir) != ""; got != want {
			t.Errorf("%s: a command %v", backend, got)
		}
	}
}
