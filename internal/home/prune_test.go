package home_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/home"
)

// left creates files with age and size, prunes, and returns the remaining ones.
func left(t *testing.T, c home.Class, files []planted) []string {
	t.Helper()
	d := home.At(t.TempDir())
	now := time.Now()
	c.Folder = "cache/x"
	for _, f := range files {
		path := d.Join(c.Folder, f.name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, make([]byte, f.size), 0o600))
		must(t, os.Chtimes(path, now, now.Add(-f.age)))
	}
	_, err := d.Prune(c, now)
	must(t, err)
	var names []string
	for _, f := range files {
		if _, err := os.Stat(d.Join(c.Folder, f.name)); err == nil {
			names = append(names, f.name)
		}
	}
	return names
}

type planted struct {
	name string
	age  time.Duration
	size int
}

func TestPruneKeepsWithinTheQuota(t *testing.T) {
	t.Parallel()
	files := []planted{
		{"old", 48 * time.Hour, 10},
		{"sub/middle", 5 * time.Hour, 10},
		{"new", time.Hour, 10},
		{"fresh", time.Minute, 1000},
	}
	tests := []struct {
		name  string
		class home.Class
		want  []string
	}{
		{"age", home.Class{Age: 24 * time.Hour}, []string{"sub/middle", "new", "fresh"}},
		{"count", home.Class{Files: 2}, []string{"new", "fresh"}},
		{"size, oldest first", home.Class{Bytes: 1015}, []string{"new", "fresh"}},
		{"never what is being written", home.Class{Bytes: 1}, []string{"fresh"}},
		{"no limits", home.Class{}, []string{"old", "sub/middle", "new", "fresh"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, left(t, tt.class, files)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPruneDoesNotFollowLinks(t *testing.T) {
	t.Parallel()
	d := home.At(t.TempDir())
	outside := filepath.Join(t.TempDir(), "precious")
	old := time.Now().Add(-1000 * time.Hour)
	must(t, os.WriteFile(outside, []byte("x"), 0o600))
	must(t, os.Chtimes(outside, old, old))
	must(t, d.Make(d.Cache("images")))
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(d.Cache("images"), "way")); err != nil {
		t.Skip("no links here")
	}
	_, err := d.Prune(home.Class{Name: "images", Folder: "cache/images", Age: time.Hour}, time.Now())
	must(t, err)
	if _, err := os.Stat(outside); err != nil {
		t.Error("a file outside was removed")
	}
}

func TestPruneDueWorksOnceInAWhile(t *testing.T) {
	t.Parallel()
	d := home.At(t.TempDir())
	now := time.Now()
	plant := func() {
		must(t, d.Make(d.Cache("spillover")))
		path := filepath.Join(d.Cache("spillover"), "a")
		must(t, os.WriteFile(path, []byte("x"), 0o600))
		must(t, os.Chtimes(path, now, now.Add(-1000*time.Hour)))
	}
	plant()
	first, err := d.PruneDue(now, time.Hour)
	must(t, err)
	plant()
	second, err := d.PruneDue(now.Add(time.Minute), time.Hour)
	must(t, err)
	third, err := d.PruneDue(now.Add(2*time.Hour), time.Hour)
	must(t, err)
	plant()
	setBack, err := d.PruneDue(now.Add(-48*time.Hour), time.Hour)
	must(t, err)
	if got := [4]int{first.Files, second.Files, third.Files, setBack.Files}; got != [4]int{1, 0, 1, 1} {
		t.Errorf("got %v, want [1 0 1 1]", got)
	}
}
