package bundled_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/internal/plugin"
	"hermes/internal/plugin/bundled"
)

// TestEachBundledPluginIsWhole: its manifest fits its name, its program starts with the settings of the
// manifest and offers what the kinds say, and its README names all of its tools.
func TestEachBundledPluginIsWhole(t *testing.T) {
	t.Parallel()
	list := bundled.List()
	if !slices.IsSortedFunc(list, func(a, b bundled.Plugin) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the list is not sorted")
	}
	for _, b := range list {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := b.Write(dir, ""); err != nil {
				t.Fatal(err)
			}
			m, notes, err := plugin.ReadManifest(dir)
			for _, n := range notes {
				if !strings.Contains(n, "has no effect in this version") {
					t.Error(n)
				}
			}
			if err != nil || m.Name != b.Name || m.Version != "1.0.0" || b.Description == "" || !slices.Equal(m.Program[:4], []string{"hermes", "plugins", "run", b.Name}) {
				t.Errorf("the manifest %+v, %v", m, err)
			}
			env := map[string]string{"HOME": t.TempDir()}
			p, err := b.Start(bundled.Process{Getenv: func(name string) string { return env[name] }, Now: time.Now}, m.Program[4:])
			if err != nil || p.Name != b.Name || p.Version != m.Version {
				t.Fatal(p, err)
			}
			for kind, has := range map[string]bool{"tools": len(p.Tools) > 0, "memory": p.Memory != nil, "hooks": len(p.Hooks) > 0} {
				if slices.Contains(m.Kinds, kind) != has {
					t.Errorf("the kinds are %v, and %s is %v", m.Kinds, kind, has)
				}
			}
			readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
			for _, tool := range p.Tools {
				if err != nil || !strings.Contains(string(readme), "`"+tool.Name+"`") {
					t.Errorf("the README does not name %s, %v", tool.Name, err)
				}
			}
			for _, wrong := range []string{"unknown=1", "words"} {
				if _, err := b.Start(bundled.Process{Getenv: func(string) string { return "" }, Now: time.Now}, []string{wrong}); err == nil || !strings.Contains(err.Error(), "is not known") {
					t.Errorf("the setting %s: %v", wrong, err)
				}
			}
		})
	}
}

// TestAnotherAddressIsInTheManifest with its host, and a key is only declared where it goes out encrypted.
func TestAnotherAddressIsInTheManifest(t *testing.T) {
	t.Parallel()
	b, _ := bundled.Find("hindsight")
	for address, want := range map[string]struct {
		host    string
		secrets int
	}{
		"":                           {"api.hindsight.vectorize.io:443", 1},
		"https://memory.example.org": {"memory.example.org:443", 1},
		"http://127.0.0.1:8888/":     {"127.0.0.1:8888", 0},
		"http://10.0.0.1":            {"10.0.0.1:80", 0},
		"HTTP://10.0.0.1":            {"10.0.0.1:80", 0},
		"HTTPS://memory.example.org": {"memory.example.org:443", 1},
	} {
		dir := t.TempDir()
		if err := b.Write(dir, address); err != nil {
			t.Fatal(err)
		}
		m, _, err := plugin.ReadManifest(dir)
		if err != nil || len(m.Capabilities.Hosts) != 1 || m.Capabilities.Hosts[0] != want.host || len(m.Capabilities.Secrets) != want.secrets {
			t.Errorf("%q: %+v, %v", address, m.Capabilities, err)
		}
		if address != "" && m.Program[4] != "address="+strings.TrimRight(address, "/") {
			t.Errorf("%q: the program is %q", address, m.Program)
		}
	}
	for _, wrong := range []string{"example.org", "ftp://x", "https://a\"b", "https://"} {
		if err := b.Write(t.TempDir(), wrong); err == nil || !strings.Contains(err.Error(), "cannot be used") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	music, _ := bundled.Find("spotify")
	if err := music.Write(t.TempDir(), "https://example.org"); err == nil {
		t.Error("spotify takes another address")
	}
}
