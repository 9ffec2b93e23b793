package known_test

import (
	"slices"
	"strings"
	"testing"

	"hermes/internal/mcp/known"
	"hermes/internal/mcp/setting"
)

// TestTheCatalogueIsWhole: each of its servers can be used as it is, and runs no unpinned package.
func TestTheCatalogueIsWhole(t *testing.T) {
	list := known.Catalogue()
	if len(list) < 10 {
		t.Errorf("%d servers", len(list))
	}
	for _, k := range list {
		v := setting.Vars{Lookup: func(name string) (string, bool) {
			for _, n := range slices.Concat(k.Keys, k.Inputs) {
				if n.Name == name {
					return "/value", true
				}
			}
			return "", false
		}}
		s, notes, err := setting.Parse(k.Name, k.Settings, v)
		if err != nil || len(notes) > 0 || !strings.HasPrefix(k.Home, "https://") || k.About == "" || k.Title == "" {
			t.Errorf("%s: %v %q", k.Name, err, notes)
		}
		for _, p := range known.PackagesOf(s.Command, s.Args) {
			if p.Version == "" {
				t.Errorf("%s runs whatever is the newest version of %s", k.Name, p.Name)
			}
		}
		if s.Remote != nil && !strings.HasPrefix(s.Remote.URL, "https://") {
			t.Errorf("%s: %s", k.Name, s.Remote.URL)
		}
	}
	if _, ok := known.Find("filesystem"); !ok {
		t.Error("the file system is not in the catalogue")
	}
}
