//go:build amd64 || arm64

package confine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/proc"
	"hermes/internal/sandbox"
)

// inBoth runs a story in both layers with the secrets of the workspace.
func inBoth(t *testing.T, story func(t *testing.T, s *target)) {
	t.Helper()
	stop := proc.AdoptOrphans()
	t.Cleanup(stop)
	for _, l := range layers {
		t.Run("layer "+l.String(), func(t *testing.T) { story(t, newTarget(t, l)) })
	}
}

// A line with such a command gets walls of its own, planned from what is there now.
const newWalls = "git config --global x.y z; "

// A folder that cannot be listed may hold anything.
func TestAttackClosesAFolderBeforeWallsArePlanned(t *testing.T) {
	inBoth(t, func(t *testing.T, s *target) {
		s.write(t, "sub/deep/.env", canary+"-DEEP")
		for _, mode := range []string{"000", "300", "600", "500"} {
			s.run(t, "chmod "+mode+" sub; echo x", s.tools)
			out, _ := s.run(t, newWalls+"chmod 755 sub; cat sub/.env sub/deep/.env", s.tools)
			if strings.Contains(out, canary) {
				t.Errorf("mode %s: it was read: %s", mode, out)
			}
		}
	})
}

// The same, left behind by an earlier session.
func TestAttackClosesAFolderForTheNextSession(t *testing.T) {
	stop := proc.AdoptOrphans()
	t.Cleanup(stop)
	for _, l := range layers {
		for _, mode := range []os.FileMode{0, 0o300, 0o600} {
			t.Run(fmt.Sprintf("layer %s, mode %o", l, mode), func(t *testing.T) {
				s := newTarget(t, l, func(home string) {
					_ = os.MkdirAll(filepath.Join(home, "project/sub/.git/hooks"), 0o700)
					_ = os.Chmod(filepath.Join(home, "project/sub"), mode)
				})
				t.Cleanup(func() { _ = os.Chmod(filepath.Join(s.dir, "sub"), 0o700) })
				out, _ := s.run(t, "chmod 755 sub; cat sub/.env; cat sub/.env", s.tools)
				again, _ := s.run(t, newWalls+"chmod 755 sub; cat sub/.env", s.tools)
				if strings.Contains(out+again, canary) {
					t.Errorf("it was read: %s%s", out, again)
				}
			})
		}
	}
}

// What the session found once stays hidden, however much a command makes.
func TestAttackHidesASecretBehindManyFolders(t *testing.T) {
	inBoth(t, func(t *testing.T, s *target) {
		s.write(t, ".env.local", canary+"-LOCAL")
		s.run(t, "echo x", s.tools)
		s.run(t, "if mkdir '!1'; then for i in $(seq 2 200); do mkdir \"!$i\"; done; for i in $(seq 3000); do : > \"z$i\"; done; fi; for i in $(seq 200); do mkdir \"sub/!$i\"; done; true", s.tools)
		out, _ := s.run(t, newWalls+"cat sub/.env .env .env.local", s.tools)
		if strings.Contains(out, canary) {
			t.Errorf("it was read: %s", out)
		}
	})
}

// An earlier session may have made them.
func TestAttackHidesASecretBehindManyFiles(t *testing.T) {
	stop := proc.AdoptOrphans()
	t.Cleanup(stop)
	for _, l := range layers {
		t.Run("layer "+l.String(), func(t *testing.T) {
			s := newTarget(t, l, func(home string) {
				for i := range 200 {
					_ = os.Mkdir(filepath.Join(home, "project", fmt.Sprint("!", i)), 0o700)
				}
				for i := range 3000 {
					_ = os.WriteFile(filepath.Join(home, "project", fmt.Sprint("z", i)), nil, 0o600)
				}
				_ = os.WriteFile(filepath.Join(home, "project/.env.local"), []byte(canary+"-LOCAL"), 0o600)
			})
			out, _ := s.run(t, "cat sub/.env .env .env.local", s.tools)
			if strings.Contains(out, canary) {
				t.Errorf("it was read: %s", out)
			}
		})
	}
}

// Opening a pipe waits for its other end.
func TestAttackPutsAPipeInThePlaceOfAFolder(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		over := time.AfterFunc(30*time.Second, func() { panic("it hangs") })
		defer over.Stop()
		s.run(t, "mkfifo .cargo; mkdir -p a; mkfifo a/.git a/.vscode a/.env", s.tools)
		s.run(t, newWalls+"rm -f .cargo; mkdir -p .git; mkfifo .git/modules .git/hooks .git/worktrees .git/config", s.tools)
		s.run(t, newWalls+"echo x", s.tools)
		if info, err := os.Lstat(filepath.Join(s.dir, ".cargo")); err == nil {
			t.Errorf("it is left: %v", info.Mode())
		}
	})
}

// A link in the place of a folder such as .cargo leads to settings that its tool follows.
func TestAttackLeadsAToolToItsOwnSettings(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.run(t, "mkdir x; echo evil > x/config.toml; ln -s x .cargo", s.tools)
		if got := s.holds(".cargo/config.toml"); got != "" {
			t.Errorf("cargo would follow it: %q", got)
		}
		s.write(t, ".cargo/config.toml", "user")
		s.run(t, "echo x", s.tools)
		s.run(t, "mv .cargo y; ln -s y .cargo; echo evil > y/config.toml", s.tools)
		if got := s.holds(".cargo/config.toml"); got != "user" {
			t.Errorf("cargo would follow it: %q", got)
		}
	})
}

// Settings in a folder with many files are found as well.
func TestAttackPutsSettingsIntoAFullFolder(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.run(t, "for i in $(seq 3000); do : > $i; done", s.tools)
		s.run(t, "mkdir .cargo; echo evil > .cargo/config.toml", s.tools)
		if got := s.holds(".cargo/config.toml"); got != "" {
			t.Errorf("cargo would follow it: %q", got)
		}
	})
}

// Each new plan looks for the repositories of submodules.
func TestAttackMakesManyFoldersOfSubmodules(t *testing.T) {
	stop := proc.AdoptOrphans()
	t.Cleanup(stop)
	s := newTarget(t, sandbox.A, func(home string) {
		leaf(home)
		for i := range 60 {
			for j := range 60 {
				_ = os.MkdirAll(filepath.Join(home, "project/.git/modules", fmt.Sprint(i), fmt.Sprint(j), "a/b"), 0o700)
			}
		}
	})
	if out, _ := s.run(t, "mkdir -p .git/modules/1/1/hooks && echo x > .git/modules/1/1/hooks/update; cat .git/modules/1/1/hooks/update", s.tools); strings.HasSuffix(out, "x") {
		t.Errorf("what was not looked at is open: %s", out)
	}
}
