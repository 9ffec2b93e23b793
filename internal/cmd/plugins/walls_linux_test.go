package plugins_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/app"
	"hermes/internal/plugin"
)

// TestAnUpdateBehindWallsShowsTheOfferBeforeItAsks: the new version is started for that, and gets
// nothing of what it declares.
func TestAnUpdateBehindWallsShowsTheOfferBeforeItAsks(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	d := desk{t: t, home: t.TempDir(), walls: true}
	a := app.New(app.Options{Home: d.home, Sandbox: app.Sandbox{Keeper: true}})
	w := a.HostWalls(t.Context())
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if w.Layer == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("no walls here: " + w.Why)
		}
		t.Skip("no walls here: " + w.Why)
	}
	dir, out := filepath.Join(t.TempDir(), "words"), t.TempDir()
	if _, err := plugin.Create(dir, "words", "python"); err != nil {
		t.Fatal(err)
	}
	d.must("", "install", dir)
	d.must("y", "enable", "words")
	put := func(file, old, now string) {
		t.Helper()
		path := filepath.Join(dir, file)
		data, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(data), old) {
			t.Fatal(file, err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(data), old, now, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("plugin.yaml", "capabilities: {}", "capabilities: {write: ["+out+"]}")
	put("main.py", "words_count_words", "words_number")
	put("main.py", "\n\nif __name__", "\nimport os\nopen(os.path.expanduser('~/left'), 'w').close()\ntry: open("+quoted(filepath.Join(out, "started"))+", 'w').close()\nexcept OSError: pass\n\nif __name__")
	said := d.must("n", "update", "words")
	if !strings.Contains(said, "+ tool words_number") || !strings.Contains(said, "- tool words_count_words") || d.state("words") != "on" {
		t.Error(said, d.state("words"))
	}
	left := func() []string {
		found, err := filepath.Glob(filepath.Join(d.home, "cache", "sandbox", "plugin-*", "home", "left"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if found := left(); len(found) > 0 {
		t.Error("a version that the user refused wrote into the home of the plugin:", found)
	}
	if said = d.must("y", "update", "words"); d.state("words") != "on" || strings.Count(said, "[y") != 1 {
		t.Error(said, d.state("words"))
	}
	if _, err := os.Stat(filepath.Join(out, "started")); err == nil {
		t.Error("it got what it declares before the user agreed")
	}
	d.must("", "doctor")
	if _, err := os.Stat(filepath.Join(out, "started")); err != nil {
		t.Error("it does not get what it declares, so the test shows nothing:", err)
	}
	if found := left(); len(found) != 1 || !strings.Contains(found[0], "plugin-words-") {
		t.Error("the home of the plugin, and no other, has its file:", found)
	}
}
