package plugins_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// upstreamPlugin is one of the examples of plugins of the Python Hermes, in a folder of its own.
func upstreamPlugin(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "plugin", "upstream", "testdata", name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestAPluginOfThePythonHermesGetsWhatFlagsAllow: the command says what it wants beyond that, refuses
// flags for others, and an update keeps what was allowed.
func TestAPluginOfThePythonHermesGetsWhatFlagsAllow(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	d, tides := desk{t: t, home: t.TempDir()}, upstreamPlugin(t, "tides")
	out := d.must("", "install", tides)
	if !strings.Contains(out, "written for the Python Hermes") || !strings.Contains(out, "--set TIDES_UNIT=VALUE") {
		t.Error(out)
	}
	if out, err := d.run("y", "enable", "tides"); err == nil || !strings.Contains(err.Error(), "needs TIDES_UNIT") {
		t.Error("enabled without what it needs:", err, out)
	}
	out = d.must("", "install", tides, "--replace", "--set", "TIDES_UNIT=ft", "--host", "api.example.org", "--read", "/srv/tides", "--secret", "TIDES_KEY=keys.example.org")
	for _, want := range []string{"reaches    api.example.org; keys.example.org", "reads      /srv/tides", "TIDES_KEY for keys.example.org"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not shown:\n%s", want, out)
		}
	}
	if err := os.WriteFile(filepath.Join(d.home, ".env"), []byte("TIDES_KEY=x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out = d.must("y", "enable", "tides")
	if !strings.Contains(out, "tide_at") || d.state("tides") != "on" {
		t.Error(out, d.state("tides"))
	}
	if err := os.WriteFile(filepath.Join(tides, "notes.py"), []byte("x = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out = d.must("y", "update", "tides")
	if d.state("tides") != "on" || !strings.Contains(out, "+ plugin/notes.py") || strings.Contains(out, "reaches") || !strings.Contains(d.file("plugins/tides/plugin.yaml"), "keys.example.org") {
		t.Error(out, d.state("tides"))
	}
	for _, bad := range [][]string{{"--secret", "TIDES_KEY"}, {"--set", "x"}, {"--host", "not a host"}} {
		if out, err := d.run("", append([]string{"install", tides, "--replace"}, bad...)...); err == nil {
			t.Errorf("%v: %s", bad, out)
		}
	}
	if out, err := d.run("", "install", words(t), "--host", "api.example.org"); err == nil || !strings.Contains(err.Error(), "declares itself") {
		t.Error(err, out)
	}
}

// TestAPluginThatImportsWhatIsNotThereSaysSo when it is enabled.
func TestAPluginThatImportsWhatIsNotThereSaysSo(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	d, dir := desk{t: t, home: t.TempDir()}, filepath.Join(t.TempDir(), "old_friend")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "__init__.py"), []byte("from tools.registry import registry\n\ndef register(ctx):\n    pass\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.must("", "install", dir)
	if out, err := d.run("y", "enable", "old-friend"); err == nil || !strings.Contains(err.Error(), "imports tools") || d.state("old-friend") != "off" {
		t.Error(err, out)
	}
}
