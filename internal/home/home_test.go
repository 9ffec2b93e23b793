package home_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/home"
)

func environ(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestFindChoosesTheRoot(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the table is written with slashes")
	}
	tests := []struct {
		name    string
		os      string
		env     []string
		path    string
		profile string
	}{
		{"home folder", "linux", []string{"HOME", "/h/ann"}, "/h/ann/.hermes", "default"},
		{"HERMES_HOME wins", "linux", []string{"HOME", "/h/ann", "HERMES_HOME", "/data"}, "/data", "default"},
		{"tilde", "linux", []string{"HOME", "/h/ann", "HERMES_HOME", "~/x"}, "/h/ann/x", "default"},
		{"other tilde is a name", "linux", []string{"HOME", "/h/ann", "HERMES_HOME", "/a/~bob"}, "/a/~bob", "default"},
		{"blanks", "linux", []string{"HOME", "/h/ann", "HERMES_HOME", "  "}, "/h/ann/.hermes", "default"},
		{"windows", "windows", []string{"LOCALAPPDATA", "/L", "USERPROFILE", "/U"}, "/L/hermes", "default"},
		{"windows without LOCALAPPDATA", "windows", []string{"USERPROFILE", "/U"}, "/U/AppData/Local/hermes", "default"},
		{"a profile's own folder", "linux", []string{"HERMES_HOME", "/data/profiles/dev"}, "/data/profiles/dev", "dev"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, err := home.Find(home.Source{Getenv: environ(tt.env...), OS: tt.os})
			if err != nil {
				t.Fatal(err)
			}
			if got := [2]string{d.Path(), d.Profile()}; got != [2]string{tt.path, tt.profile} {
				t.Errorf("got %v, want %s %s", got, tt.path, tt.profile)
			}
		})
	}
}

func TestFindWithoutAHomeSaysWhatToSet(t *testing.T) {
	t.Parallel()
	_, err := home.Find(home.Source{Getenv: environ(), OS: "linux"})
	if !errors.Is(err, home.ErrNoHome) || !strings.Contains(err.Error(), "HERMES_HOME") {
		t.Errorf("got %v", err)
	}
}

func TestFindChoosesTheProfile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"dev", "ops"} {
		must(t, os.MkdirAll(filepath.Join(root, "profiles", name), 0o700))
	}
	must(t, os.WriteFile(filepath.Join(root, "active_profile"), []byte("ops\n"), 0o600))
	tests := []struct {
		name    string
		flag    string
		env     []string
		profile string
		err     string
	}{
		{name: "sticky", profile: "ops"},
		{name: "flag beats sticky", flag: "dev", profile: "dev"},
		{name: "flag back to default", flag: "default", profile: "default"},
		{name: "environment beats sticky", env: []string{"HERMES_PROFILE", "dev"}, profile: "dev"},
		{name: "flag beats environment", flag: "ops", env: []string{"HERMES_PROFILE", "dev"}, profile: "ops"},
		{name: "case does not matter", flag: "Dev", profile: "dev"},
		{name: "missing", flag: "nope", err: "hermes profile create nope"},
		{name: "no way out", flag: "../../etc", err: "is not a valid profile name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := append([]string{"HERMES_HOME", root}, tt.env...)
			d, err := home.Find(home.Source{Getenv: environ(env...), Profile: tt.flag})
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("got %v, want %q", err, tt.err)
				}
				return
			}
			must(t, err)
			if d.Profile() != tt.profile || d.Root() != root {
				t.Errorf("got %s of %s, want %s of %s", d.Profile(), d.Root(), tt.profile, root)
			}
		})
	}
}

func TestAStickyProfileThatIsGoneNamesTheFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	must(t, os.WriteFile(filepath.Join(root, "active_profile"), []byte("gone"), 0o600))
	_, err := home.Find(home.Source{Getenv: environ("HERMES_HOME", root)})
	if err == nil || !strings.Contains(err.Error(), "active_profile") || !strings.Contains(err.Error(), "-p default") {
		t.Errorf("got %v", err)
	}
}

func TestPathsDoNotTouchTheDisk(t *testing.T) {
	t.Parallel()
	d := home.At(filepath.Join(t.TempDir(), "h"))
	_ = []string{d.Config(), d.Env(), d.Cache("images"), d.CacheInUse("images"), d.Logs(), d.Backups("config")}
	_, err := d.PruneDue(time.Now(), time.Hour)
	must(t, err)
	if d.Exists() {
		t.Error("the home was created")
	}
}

func TestMakeStaysInsideAndPrivate(t *testing.T) {
	t.Parallel()
	d := home.At(filepath.Join(t.TempDir(), "h"))
	must(t, d.Make(d.Cache("images")))
	for _, folder := range []string{d.Path(), d.Cache("images")} {
		info, err := os.Stat(folder)
		must(t, err)
		if got := info.Mode().Perm(); got != 0o700 && runtime.GOOS != "windows" {
			t.Errorf("%s has mode %o", folder, got)
		}
	}
	if err := d.Make(filepath.Join(d.Path(), "..", "other")); err == nil {
		t.Error("a folder outside the home was made")
	}
}

func TestAnOldCacheFolderIsUsedWhileItHasContent(t *testing.T) {
	t.Parallel()
	d := home.At(t.TempDir())
	must(t, os.Mkdir(d.Join("image_cache"), 0o700))
	if got := d.CacheInUse("images"); got != d.Cache("images") {
		t.Errorf("empty old folder: got %s", got)
	}
	must(t, os.WriteFile(d.Join("image_cache", "a.png"), nil, 0o600))
	if got := d.CacheInUse("images"); got != d.Join("image_cache") {
		t.Errorf("full old folder: got %s", got)
	}
}

func TestProfilesAreListed(t *testing.T) {
	t.Parallel()
	d := home.At(t.TempDir())
	for _, name := range []string{"zed", "ann", "Bad Name"} {
		must(t, os.MkdirAll(d.Join("profiles", name), 0o700))
	}
	got, err := d.Profiles()
	must(t, err)
	if diff := cmp.Diff([]string{"default", "ann", "zed"}, got); diff != "" {
		t.Error(diff)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for path, want := range map[string]string{"~": top, "~/a": filepath.Join(top, "a"), "~ada/a": "~ada/a", "a/~": "a/~", "": ""} {
		if got := home.Expand(path, top); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
	if got := home.Expand("~/a", ""); got != "~/a" {
		t.Errorf("without a home it is %q", got)
	}
}
