package plugins_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/plugin"
)

// settled installs a plugin that need not start, and enables it with an offer.
func (d desk) settled(name string, o plugin.Offer) {
	d.t.Helper()
	dir := filepath.Join(d.home, "plugins", name)
	d.write(filepath.Join(dir, plugin.ManifestName), "name: "+name+"\nprogram: [hermes-test-none]\nkinds: [tools]\n")
	digest, err := plugin.Digest(dir)
	if err == nil {
		err = plugin.PinsIn(filepath.Join(d.home, "plugins")).Set(d.t.Context(), name, plugin.Pin{Digest: digest, Offer: o})
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d desk) write(path, text string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func tool(name string) plugin.Offer {
	return plugin.Offer{Tools: []plugin.Tool{{Name: name, Description: "Does it.", Schema: json.RawMessage(`{"type":"object"}`)}}}
}

// TestANameOfAnotherPluginIsRefused by enable and update before anything changes; doctor says which of two is not used.
func TestANameOfAnotherPluginIsRefused(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	d, from := desk{t: t, home: t.TempDir()}, words(t)
	d.must("", "install", from)
	d.settled("zoo", tool("words_count_words"))
	d.write(filepath.Join(d.home, "config.yaml"), "plugins: {enabled: [zoo]}\n")
	const why = "the plugin zoo has a tool words_count_words, too"
	if out, err := d.run("y", "enable", "words"); err == nil || !strings.Contains(err.Error(), why) || d.state("words") != "off" {
		t.Error("enable:", err, out)
	}
	d.settled("zoo", tool("other"))
	d.must("y", "enable", "words")
	d.settled("zoo", tool("words_total_words"))
	main, err := os.ReadFile(filepath.Join(from, "main.py"))
	if err != nil {
		t.Fatal(err)
	}
	d.write(filepath.Join(from, "main.py"), strings.ReplaceAll(string(main), "count_words", "total_words"))
	if out, err := d.run("y", "update", "words"); err == nil || !strings.Contains(err.Error(), "words_total_words, too") || d.state("words") != "on" {
		t.Error("update:", err, out, d.state("words"))
	}
	d.settled("zoo", tool("words_count_words"))
	if out, err := d.run("", "doctor", "--no-start"); err == nil || !strings.Contains(out, "words: "+why) || strings.Contains(out, "zoo: ") {
		t.Error("doctor:", err, out)
	}
}
