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
		s.run(t, "for d in a b; do mkdir $d; for i in $(seq 9000); do : > $d/$i; [ $i != 1500 ] || mkdir $d/.cargo; done; done", s.tools)
		s.run(t, "for d in a b; do echo evil > $d/.cargo/config.toml; done", s.tools)
		for _, d := range []string{"a", "b"} {
			if got := s.holds(d + "/.cargo/config.toml"); got != "" {
				t.Errorf("cargo would follow it: %s, %q", d, got)
			}
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

// Root reads every file of the system, and commands of root would.
func TestAttackReadsWhatOnlyRootMay(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("the kernel keeps it from this user")
	}
	inBoth(t, func(t *testing.T, s *target) {
		out, _ := s.run(t, "find /etc /opt /usr/local/etc -type f ! -perm -o+r -size +0 2>/dev/null | while read -r f; do cat \"$f\" >/dev/null 2>&1 && [ -n \"$(head -c 1 \"$f\" | tr -d '\\0')\" ] && echo \"OPEN $f\"; done; cat /etc/passwd | head -1", s.tools)
		if strings.Contains(out, "OPEN") || !strings.Contains(out, "root") {
			t.Errorf("they are open: %s", out)
		}
	})
}

// Private keys and files with credentials are secrets as .env is.
func TestAttackReadsKeysOfTheWorkspace(t *testing.T) {
	stop := proc.AdoptOrphans()
	t.Cleanup(stop)
	for _, l := range layers {
		t.Run("layer "+l.String(), func(t *testing.T) {
			s := newTarget(t, l, func(home string) {
				for name, text := range map[string]string{
					".envrc": "export AWS_SECRET_ACCESS_KEY=" + canary + "1234efgh5678\n", "tf/terraform.tfstate": canary, "secrets/secrets.yaml": "password: " + canary + "xyz12\n", "keys/id_ed25519": canary,
					"web/.npmrc": "//registry.npmjs.org/:_authToken=npm_" + canary + "abcdefghijklmnopqrstuvwxyz01\n", ".devcontainer/.env": canary, "sub/.netrc": canary,
				} {
					at := filepath.Join(home, "project", name)
					_ = os.MkdirAll(filepath.Dir(at), 0o700)
					_ = os.WriteFile(at, []byte(text), 0o600)
				}
			})
			out, _ := s.run(t, "cat .envrc tf/* secrets/* keys/* web/.npmrc .devcontainer/.env sub/.netrc; for f in $(find . -type f ! -name attacker); do cat $f; done; cp -r .devcontainer x; cat x/.env", s.tools)
			if i := strings.Index(out, canary); i >= 0 {
				t.Errorf("it was read: %.300s", out[max(0, i-100):])
			}
		})
	}
}

// What tools run by themselves is not left behind.
func TestAttackLeavesFilesThatToolsRun(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		names := []string{".devcontainer.json", "x.code-workspace", ".nvim.lua", ".dir-locals.el", ".pnpmfile.cjs", ".Rprofile", ".bazelrc", "lefthook.yml", "mise.toml", ".gdbinit", "opencode.json", ".lfsconfig", "rust-toolchain.toml",
			".direnv/x.rc", ".zed/tasks.json", ".yarn/releases/yarn.cjs", ".mvn/jvm.config", ".hg/hgrc", ".kiro/x"}
		s.run(t, "mkdir -p .direnv .zed .yarn/releases .mvn .hg .kiro; for f in "+strings.Join(names, " ")+"; do echo evil > $f; done", s.tools)
		for _, name := range names {
			if s.holds(name) != "" {
				t.Errorf("%s is left", name)
			}
		}
	})
}
