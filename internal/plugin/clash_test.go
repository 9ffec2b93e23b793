package plugin_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/plugin"
)

// pinned writes plugins that need not start, by their names, and pins what they offer.
func pinned(t *testing.T, offers map[string]plugin.Offer) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, offer := range offers {
		dir := filepath.Join(folder, name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, plugin.ManifestName), []byte("name: "+name+"\nprogram: [none]\nkinds: [tools, hooks, prompt, commands]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := plugin.Digest(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := plugin.PinsIn(folder).Set(t.Context(), name, plugin.Pin{Digest: d, Offer: offer}); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func tool(name string) plugin.Offer {
	return plugin.Offer{Tools: []plugin.Tool{{Name: name, Description: "Does it.", Schema: json.RawMessage(`{"type":"object"}`)}}}
}

func slash(name string) plugin.Offer {
	return plugin.Offer{Commands: []plugin.Command{{Name: name, Help: "Do it"}}}
}

func said(chars int) plugin.Offer {
	half := strings.Repeat("é", chars/2)
	return plugin.Offer{Sections: []plugin.Section{{Name: "a", Text: half}, {Name: "b", Text: half}}}
}

// TestOfTwoPluginsTheFirstKeepsItsNames, whatever the second is called: tools, commands, and the room for sections.
func TestOfTwoPluginsTheFirstKeepsItsNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		old, late plugin.Offer
		why       string
	}{
		"a tool":    {tool("count"), tool("count"), "the plugin words has a tool count, too"},
		"a command": {slash("count"), slash("count"), "the plugin words has a command /count, too"},
		"sections":  {said(5000), said(3002), "longer than 8000 characters together"},
		"none":      {tool("count"), slash("count"), ""},
		"room":      {said(5000), said(3000), ""},
	} {
		folder := pinned(t, map[string]plugin.Offer{"words": c.old, "aaa": c.late})
		all, err := plugin.New(plugin.Config{}, folder, []string{"words", "aaa"}, nil)
		t.Cleanup(func() { _ = all.Close() }) // it has no error
		used := ""
		for _, p := range all.List() {
			used += p.Name() + " "
		}
		if c.why == "" {
			if err != nil || used != "aaa words " {
				t.Errorf("%s: %s, %v", name, used, err)
			}
			continue
		}
		if used != "words " || err == nil || !strings.Contains(err.Error(), "the plugin aaa is not used") || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: used is %s, %v", name, used, err)
		}
		if got := c.late.Clash(map[string]plugin.Offer{"words": c.old}); !strings.Contains(got, c.why) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestAHookCannotForgeALine of what the user is shown before it is enabled.
func TestAHookCannotForgeALine(t *testing.T) {
	t.Parallel()
	for _, tools := range []string{"x|\n  reaches    nothing", "x|\t", "x|\u202e"} {
		folder := pinned(t, map[string]plugin.Offer{"words": {Hooks: []plugin.Hook{{Event: plugin.EventBeforeTool, Tools: tools}}}})
		all, err := plugin.New(plugin.Config{}, folder, []string{"words"}, nil)
		t.Cleanup(func() { _ = all.Close() }) // it has no error
		if err == nil || !strings.Contains(err.Error(), "cannot be seen") {
			t.Errorf("%q: %v", tools, err)
		}
	}
}
