package plugins_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/plugin"
)

// TestANameThatComesAlongIsForThatPluginOnly: others are refused when they are installed, or enabled.
func TestANameThatComesAlongIsForThatPluginOnly(t *testing.T) {
	t.Parallel()
	d, from := desk{t: t, home: t.TempDir()}, filepath.Join(t.TempDir(), "spotify")
	if _, err := plugin.Create(from, "spotify", "python"); err != nil {
		t.Fatal(err)
	}
	if out, err := d.run("y", "install", from); err == nil || !strings.Contains(err.Error(), "comes along with Hermes") || d.file("plugins/spotify/plugin.yaml") != "" {
		t.Error("install:", err, out)
	}
	d.must("", "install", "spotify")
	if _, err := d.run("y", "install", from, "--replace"); err == nil || !strings.Contains(d.file("plugins/spotify/plugin.yaml"), "hermes") {
		t.Error("install --replace:", err)
	}
	if err := os.RemoveAll(filepath.Join(d.home, "plugins", "spotify")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(d.home, "plugins", "spotify"), os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if out, err := d.run("y", "enable", "spotify"); err == nil || !strings.Contains(err.Error(), "comes along with Hermes") || strings.Contains(out, "Start it") {
		t.Error("enable:", err, out)
	}
}

// TestWhatAPluginStoredIsNotInheritedUnseen by one of its name from another place: the user is told before it
// starts, and --yes does not agree to it.
func TestWhatAPluginStoredIsNotInheritedUnseen(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	d, first, second := desk{t: t, home: t.TempDir()}, words(t), words(t)
	d.must("", "install", first)
	if out := d.must("", "enable", "words", "--yes"); strings.Contains(out, "stored") {
		t.Error("the first:", out)
	}
	d.write(filepath.Join(d.home, "cache", "sandbox", "plugin-words-dba36bffa5ca", "home", "key"), "secret")
	if out := d.must("", "enable", "words", "--yes"); strings.Contains(out, "stored") {
		t.Error("the same again:", out)
	}
	for _, how := range []string{"replace", "keep-data"} {
		if how == "keep-data" {
			d.must("", "remove", "words", "--keep-data")
		}
		d.must("", "install", second, "--replace")
		if out, err := d.run("", "enable", "words", "--yes"); err == nil || !strings.Contains(err.Error(), first) || d.state("words") == "on" {
			t.Error(how, "with --yes:", err, out)
		}
		out, err := d.run("n", "enable", "words")
		said, start := strings.Index(out, "stored something"), strings.Index(out, "Start it")
		if err == nil || said < 0 || said > start {
			t.Error(how, "it is not said before it starts:", err, out)
		}
	}
	d.must("", "remove", "words")
	d.must("", "install", second)
	if out := d.must("", "enable", "words", "--yes"); strings.Contains(out, "stored") {
		t.Error("after its data was removed:", out)
	}
}
