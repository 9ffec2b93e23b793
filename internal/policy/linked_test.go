package policy_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hermes/internal/policy"
)

// TestLinkedFoldersAreProtectedWhereTheyLeadTo also for a folder that is not there.
func TestLinkedFoldersAreProtectedWhereTheyLeadTo(t *testing.T) {
	t.Parallel()
	r := policy.PathRules{Home: "/home/ada", State: "/gone"}.Linked(func(path string) (string, error) {
		if path != "/home/ada" {
			return "", errors.New("there is no such folder")
		}
		return "/data/people/ada", nil
	})
	for path, want := range map[string]bool{"/home/ada/.ssh/id_rsa": false, "/data/people/ada/.ssh/id_rsa": false, "/data/people/ada/a.txt": true} {
		if got := r.Read(path).Allowed(); got != want {
			t.Errorf("%s: allowed is %t", path, got)
		}
	}
}

// TestWhatAProtectedLinkLeadsToIsProtected as the name is, and is looked at again.
func TestWhatAProtectedLinkLeadsToIsProtected(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(root, name) }
	link := func(at, to string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(in(at)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(in(to), in(at)); err != nil {
			t.Skip(err)
		}
	}
	for _, dir := range []string{"home", "dot/skills", "dot/config/fish", "home/.hermes"} {
		if err := os.MkdirAll(in(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"dot/permissions.yaml", "dot/bashrc", "dot/other"} {
		if err := os.WriteFile(in(f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link("home/.hermes/permissions.yaml", "dot/permissions.yaml")
	link("home/.hermes/skills", "dot/skills")
	link("home/.bashrc", "dot/bashrc")
	now := time.Unix(1, 0)
	r := policy.PathRules{Home: in("home"), State: in("home/.hermes")}
	r.Links = policy.NewLinks(r.Home, []string{r.State}, func() time.Time { return now })
	allowed := func(name string, want bool) {
		t.Helper()
		if got := r.Write(in(name)).Allowed(); got != want {
			t.Errorf("%s: writing is allowed: %v", name, got)
		}
		if got := r.CommandReplaces(in(name)).Allowed(); got != want {
			t.Errorf("%s: replacing by a command is allowed: %v", name, got)
		}
	}
	allowed("dot/permissions.yaml", false)
	allowed("dot/skills/a/SKILL.md", false)
	allowed("dot/bashrc", false)
	allowed("dot/other", true)
	allowed("dot/permissions.yaml2", true)
	allowed("dot/config/fish/config.fish", true)
	link("home/.config", "dot/config")
	allowed("dot/config/fish/config.fish", true)
	now = now.Add(2 * time.Second)
	allowed("dot/config/fish/config.fish", false)
}
