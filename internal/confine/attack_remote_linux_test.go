//go:build amd64 || arm64

package confine_test

import (
	"strings"
	"testing"
)

// What the user pushes goes where it went before, whatever commands change step by step.
func TestAttackPointsARemoteElsewhere(t *testing.T) {
	const evil = "https://evil.example/x"
	for name, lines := range map[string][]string{
		"in two steps":                            {"git branch --unset-upstream other; git config --unset remote.origin.url", "git branch -u origin/main other; git config remote.origin.url " + evil},
		"with the section gone":                   {"git remote remove origin", "git remote add origin " + evil},
		"with another name in between":            {"git remote rename origin old", "git remote add origin " + evil},
		"a second address":                        {"git config --add remote.origin.url " + evil},
		"another remote of the branch":            {"git remote add up " + evil, "git config branch.main.remote up"},
		"another remote to push to":               {"git remote add up " + evil + "; git config branch.main.pushRemote up"},
		"the branch's remote in two steps":        {"git remote add up " + evil, "git branch --unset-upstream main", "git config branch.main.remote up"},
		"of a branch without one":                 {"git remote add up " + evil + "; git config branch.other.pushRemote up"},
		"of all branches":                         {"git remote add up " + evil + "; git config remote.pushDefault up"},
		"where git fetches what it does not have": {"git remote add up " + evil + "; git config remote.up.promisor true; git config extensions.partialClone up"},
		"a submodule":                             {"git config --unset submodule.lib.url", "git config submodule.lib.url " + evil},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, s *target) {
				s.asUser(t, `git init -q -b main .; git config user.name a; git config user.email a@b; git commit -q --allow-empty -m x; git branch other
git remote add origin https://example.org/mine; git config branch.main.remote origin; git config branch.main.merge refs/heads/main; git config submodule.lib.url https://example.org/lib`)
				for _, line := range lines {
					s.run(t, line, s.tools)
				}
				for _, of := range []string{"remote.origin.url", "submodule.lib.url"} {
					if got := s.asUser(t, "git config --get-all "+of); strings.Contains(got, "evil") {
						t.Errorf("%s is %s", of, got)
					}
				}
				for _, of := range []string{"branch.main.remote", "branch.main.pushRemote", "branch.other.pushRemote", "remote.pushDefault", "extensions.partialClone"} {
					if got := strings.TrimSpace(s.asUser(t, "git config --get "+of)); got == "up" {
						t.Errorf("%s is %s", of, got)
					}
				}
			})
		})
	}
}

// TestNothingIsToldOfEverydayRemotes: what is usual stays, and is not told.
func TestNothingIsToldOfEverydayRemotes(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.asUser(t, `git init -q -b main .; git config user.name a; git config user.email a@b; git commit -q --allow-empty -m x; git branch other; git init -q --bare there; git init -q --bare fork; git remote add origin there; git push -q origin main; git push -q fork main`)
		for _, line := range []string{
			"git push -q -u origin main", "git remote add fork fork; git remote rename fork mine; git checkout -q -b new; git push -q -u mine new", "git checkout -q main; git branch --unset-upstream", "git push -q -u origin main",
			"git fetch -q; git checkout -q -b side --track origin/main", "git remote remove mine", "git remote add mine fork", "git checkout -q main; git branch -D -q side", "git push -q -u origin other",
		} {
			out, exit := s.run(t, "set -e; "+line, s.tools)
			if exit.Code != 0 || told(exit) != "" {
				t.Errorf("%s: %d %s, %s", line, exit.Code, out, told(exit))
			}
		}
		if got := s.asUser(t, "git config branch.main.remote; git config branch.other.remote; git config remote.mine.url"); got != "origin\norigin\nfork\n" {
			t.Errorf("%q", got)
		}
	})
}
