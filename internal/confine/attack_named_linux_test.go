//go:build amd64 || arm64

package confine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/proc"
)

// evilFile writes $F with a script that leaves a trace in the user's home.
const evilFile = `mkdir -p $(dirname $F); printf '#!/bin/sh\ntouch %s/PWN\ncat\n' $H > $F; chmod +x $F; `

// evilConfig adds a program to $F, which is more configuration of git.
const evilConfig = `mkdir -p $(dirname $F); printf '[core]\n\tfsmonitor = touch %s/PWN;\n' $H >> $F; `

// namedAttacks change what the configuration of git names below the workspace.
var namedAttacks = []struct {
	name               string
	repository, global string // the user's configuration
	file               string // what it names
	missing            bool   // it is not there yet
	line               string
}{
	{"a hook in a folder that the repository names", "[core]\nhooksPath = .githooks\n", "", ".githooks/pre-commit", false, evilFile},
	{"a new hook there", "[core]\nhooksPath = .githooks\n", "", ".githooks/post-commit", true, evilFile},
	{"another folder in its place", "[core]\nhooksPath = .githooks\n", "", ".githooks/pre-commit", false, "mv .githooks g; rm -rf .githooks; " + evilFile},
	{"a link in its place", "[core]\nhooksPath = .githooks\n", "", ".githooks/pre-commit", false, "F2=$F; F=g/pre-commit; " + evilFile + "rm -rf .githooks; ln -s g .githooks; ln -sf ../g/pre-commit $F2"},
	{"a hook in a folder that the user names", "", "[core]\nhooksPath = .githooks\n", ".githooks/pre-commit", false, evilFile},
	{"a folder that does not exist", "[core]\nhooksPath = .githooks\n", "", ".githooks/pre-commit", true, evilFile},
	{"a folder that does not exist, of the user", "", "[core]\nhooksPath = myhooks\n", ".git/myhooks/pre-commit", true, "cp a.txt b.txt; " + evilFile},
	{"what a hook leads to", "", "", "scripts/check", false, evilFile},
	{"included configuration", "[include]\npath = ../.gitconfig\n", "", ".gitconfig", false, evilConfig},
	{"included configuration that does not exist", "[include]\npath = ../conf/git\n", "", "conf/git", true, evilConfig},
	{"included configuration on a condition", "[includeIf \"onbranch:**\"]\npath = ../conf/git\n", "", "conf/git", false, evilConfig},
	{"a filter", "[filter \"x\"]\nclean = ./tools/clean.sh %f\n", "", "tools/clean.sh", false, evilFile},
	{"an alias", "[alias]\nx = !./x.sh\n", "", "x.sh", false, evilFile},
	{"an alias of the user", "", "[alias]\nx = \"!$(git rev-parse --show-toplevel)/tools/x.sh\"\n", "tools/x.sh", false, evilFile},
	{"attributes", "[core]\nattributesFile = conf/attributes\n[diff \"x\"]\ntextconv = touch ../PWN; cat\n[filter \"y\"]\nclean = touch ../PWN; cat\n", "", "conf/attributes", false, "echo '* filter=y diff=x' >> $F"},
}

// TestAttackOnWhatTheConfigurationNames: what the user's git runs after a command is what
// the user made it run.
func TestAttackOnWhatTheConfigurationNames(t *testing.T) {
	stop := proc.AdoptOrphans() // as the program does
	defer stop()
	for _, l := range layers {
		for _, a := range namedAttacks {
			t.Run(a.name+" in layer "+l.String(), func(t *testing.T) {
				harmless := "#!/bin/sh\ncat\n"
				if strings.Contains(a.line, "fsmonitor") || a.name == "attributes" {
					harmless = "# nothing\n"
				}
				s := newTarget(t, l, leaf, repository(t, a.repository, a.global, func(dir string) {
					if !a.missing {
						executable(t, filepath.Join(dir, a.file), harmless)
					}
					if a.name == "what a hook leads to" {
						if err := os.Symlink("../../"+a.file, filepath.Join(dir, ".git/hooks/pre-commit")); err != nil {
							t.Fatal(err)
						}
					}
					executable(t, filepath.Join(dir, ".gitattributes"), "*.txt filter=x\n")
				}))
				out, exit := s.run(t, "F="+a.file+"; "+a.line, s.tools)
				s.run(t, "true", s.tools)
				for _, args := range []string{"status", "add a.txt", "diff", "commit -q --allow-empty -m x", "x"} {
					said := s.userGit(t, strings.Fields(args)...)
					if _, err := os.Lstat(filepath.Join(s.home, "PWN")); err == nil {
						t.Fatalf("the user's git %s ran it: %s\nthe command: %s %v", args, said, out, exit.Refused)
					}
				}
				if len(exit.Refused) == 0 {
					t.Errorf("nothing is said: %s", out)
				}
				if text := s.holds(a.file); strings.Contains(text, "PWN") || !a.missing && !strings.HasPrefix(text, harmless) {
					t.Errorf("%s is %q", a.file, text)
				}
			})
		}
	}
}

// repository makes the workspace a repository of the user, with a commit.
func repository(t *testing.T, config, global string, fill func(dir string)) func(home string) {
	return func(home string) {
		dir := filepath.Join(home, "project")
		executable(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = U\n\temail = u@example.org\n")
		runGit(t, home, dir, "init", "-q", ".")
		runGit(t, home, dir, "add", "a.txt")
		runGit(t, home, dir, "commit", "-q", "-m", "one")
		fill(dir)
		for at, text := range map[string]string{filepath.Join(dir, ".git/config"): config, filepath.Join(home, ".gitconfig"): global} {
			was, err := os.ReadFile(at)
			if err == nil {
				err = os.WriteFile(at, append(was, text...), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

func executable(t *testing.T, at, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

func runGit(t *testing.T, home, dir string, args ...string) {
	t.Helper()
	if out, err := gitOf(t, home, dir, args...).CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// gitOf is git as the user runs it, without walls.
func gitOf(t *testing.T, home, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_PAGER=cat"}
	return cmd
}

// userGit returns what the user's git says, also if it fails.
func (s *target) userGit(t *testing.T, args ...string) string {
	t.Helper()
	out, _ := gitOf(t, s.home, s.dir, args...).CombinedOutput()
	return string(out)
}

// A refusal says what names the file, and a need that the user allowed opens it.
func TestNeedsOpenWhatTheConfigurationNames(t *testing.T) {
	both(t, func(t *testing.T, old *target) {
		s := newTarget(t, old.layer(), leaf, repository(t, "[core]\nhooksPath = .githooks\n", "", func(dir string) {
			executable(t, filepath.Join(dir, ".githooks/pre-commit"), "#!/bin/sh\n")
		}))
		const line = "echo true >> .githooks/pre-commit"
		_, exit := s.run(t, line, s.tools)
		said := false
		for _, r := range exit.Refused {
			said = said || r.Name == filepath.Join(s.dir, ".githooks/pre-commit") && strings.Contains(r.Note, "git runs it, because core.hooksPath names it")
		}
		if !said {
			t.Errorf("it is not said: %v", exit.Refused)
		}
		_, exit = s.run(t, line+"; echo true > .githooks/post-commit", s.tools, func(c *hermes.Command) {
			c.Need = []hermes.Need{{Kind: hermes.RefusedWrite, Name: filepath.Join(s.dir, ".githooks")}}
		})
		if text := s.holds(".githooks/pre-commit"); text != "#!/bin/sh\ntrue\n" || s.holds(".githooks/post-commit") != "true\n" || len(exit.Refused) > 0 {
			t.Errorf("the need did not open it: %q %v", text, exit.Refused)
		}
		s.run(t, line, s.tools)
		if text := s.holds(".githooks/pre-commit"); text != "#!/bin/sh\ntrue\n" {
			t.Errorf("it stayed open: %q", text)
		}
		_, exit = s.run(t, line+"; echo false >> .githooks/post-commit", s.tools, func(c *hermes.Command) {
			c.Need = []hermes.Need{{Kind: hermes.RefusedWrite, Name: filepath.Join(s.dir, ".githooks/pre-commit")}}
		})
		if text := s.holds(".githooks/pre-commit"); text != "#!/bin/sh\ntrue\ntrue\n" || s.holds(".githooks/post-commit") != "true\n" {
			t.Errorf("the need of one file did not open it alone: %q %q %v", text, s.holds(".githooks/post-commit"), exit.Refused)
		}
	})
}

// An ordinary project with hooks of husky and with LFS is worked in as before.
func TestCommandsInAProjectWithNamedHooks(t *testing.T) {
	both(t, func(t *testing.T, old *target) {
		const lfs = "[filter \"lfs\"]\nclean = git-lfs clean -- %f\nsmudge = git-lfs smudge -- %f\nprocess = git-lfs filter-process\nrequired = true\n[alias]\nt = !make test\n"
		s := newTarget(t, old.layer(), leaf, repository(t, "[core]\nhooksPath = .husky/_\n", lfs, func(dir string) {
			executable(t, filepath.Join(dir, ".husky/_/pre-commit"), "#!/bin/sh\nexec sh .husky/pre-commit\n")
			executable(t, filepath.Join(dir, ".husky/pre-commit"), "echo ran > ran\n")
			executable(t, filepath.Join(dir, ".gitattributes"), "*.bin filter=lfs\n")
		}))
		for _, line := range []string{
			"echo x >> a.txt; mkdir -p src tools hooks; echo x > src/b.txt; echo x > git-lfs; echo x > make; echo x > tools/x.sh; echo x > hooks/pre-commit",
			"git add -A && git commit -qm two && git status && git log --oneline | wc -l",
			"mv src src2; mv tools t; rm -rf hooks make git-lfs; git add -A && git commit -qm three && cat ran",
			"git switch -qc side && git switch -q - && git stash list && git status --short",
		} {
			if out, exit := s.run(t, line, s.tools); exit.Code != 0 || len(exit.Refused) > 0 {
				t.Errorf("%s: %d %v: %s", line, exit.Code, exit.Refused, out)
			}
		}
		if s.holds("ran") != "ran\n" {
			t.Error("the hook did not run")
		}
	})
}
