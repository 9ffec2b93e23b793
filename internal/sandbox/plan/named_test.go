package plan_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/internal/sandbox"
	"hermes/internal/sandbox/plan"
)

// TestWhatGitsConfigurationNamesIsProtected: programs and further configuration that exist,
// for those who write the workspace.
func TestWhatGitsConfigurationNamesIsProtected(t *testing.T) {
	t.Parallel()
	for _, layer := range []sandbox.Layer{sandbox.A, sandbox.B} {
		u := mustUser(t, "src/project/.githooks/pre-commit", "src/project/conf/git", "src/project/tools/clean.sh", "src/project/x.sh", "src/project/tools/other.sh", "src/project/web/hook/x")
		u.Layer = layer
		must(t, os.WriteFile(u.work+"/.git/config", []byte("[core]\nhooksPath = .githooks\nfsmonitor = ./missing\n[filter \"x\"]\nclean = ./tools/clean.sh %f\nprocess = ./.env\n[alias]\nw = !ls ./web\nm = !./main.go\n"), 0o644))
		must(t, os.WriteFile(u.work+"/conf/git", nil, 0o644))
		must(t, os.WriteFile(u.home+"/global", []byte("[includeIf \"gitdir:~/x\"]\npath = ~/src/project/conf/git\n[alias]\nx = !./x.sh\n"), 0o644))
		must(t, os.Symlink("tools/other.sh", u.work+"/linked"))
		must(t, os.WriteFile(u.work+"/.git/config.worktree", []byte("[core]\neditor = ./linked\n"), 0o644))
		u.Environ = []string{"GIT_CONFIG_GLOBAL=" + u.home + "/global"}
		for _, c := range []struct {
			profile plan.Profile
			want    string
		}{
			{plan.Command, ".githooks conf/git main.go tools/clean.sh tools/other.sh x.sh"},
			{plan.GitConfig, ".githooks main.go tools/clean.sh tools/other.sh x.sh"},
			{plan.Hook, ""},
		} {
			u.Profile = c.profile
			p := mustMake(t, u.Request)
			var got []string
			for _, at := range p.Policy.Protected {
				if rel, err := filepath.Rel(u.work, at); err == nil && !strings.HasPrefix(rel, ".git/") && !slices.Contains([]string{".envrc", ".vscode"}, rel) {
					got = append(got, rel)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("layer %s, %s: %v", layer, c.profile, got)
			}
		}
	}
}

// TestAConfigurationThatCannotBeReadIsNoted: what it names is not known.
func TestAConfigurationThatCannotBeReadIsNoted(t *testing.T) {
	t.Parallel()
	u := mustUser(t)
	must(t, os.WriteFile(u.work+"/.git/config", nil, 0o644))
	noted := func() bool {
		return slices.ContainsFunc(mustMake(t, u.Request).Notes, func(n string) bool { return strings.HasPrefix(n, u.home+"/.gitconfig ") })
	}
	if noted() {
		t.Error("a configuration that can be read is noted")
	}
	must(t, os.WriteFile(u.home+"/.gitconfig", []byte("evil"), 0o644))
	if !noted() {
		t.Error("a configuration that cannot be read is not noted")
	}
}
