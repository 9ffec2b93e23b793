//go:build amd64 || arm64

package confine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
)

// told returns what was told about files that changed, but for new repositories.
func told(exit hermes.Exit) string {
	var all []string
	for _, r := range exit.Refused {
		if r.Kind == hermes.RefusedChange && !strings.HasPrefix(r.Note, "a new repository") {
			all = append(all, r.String())
		}
	}
	return strings.Join(all, "\n")
}

// What a command changed is undone, whatever rights it takes away afterwards.
func TestAttackClosesFoldersAfterAChange(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		t.Cleanup(func() { _ = exec.Command("chmod", "-R", "u+rwX", s.dir).Run() })
		s.run(t, "git init -q . && mkdir -p .git/hooks src", s.tools)
		for _, c := range []struct{ line, path string }{
			{"echo evil > .git/hooks/pre-commit; chmod 555 .git/hooks; chmod 555 .git", ".git/hooks/pre-commit"},
			{"echo evil > .git/hooks/pre-commit; chmod 0 .git/hooks; chmod 0 .git", ".git/hooks/pre-commit"},
			{"echo evil > .git/hooks/pre-commit; chmod 311 .git/hooks", ".git/hooks/pre-commit"},
			{"echo ../.c > .git/commondir; chmod 555 .git", ".git/commondir"},
			{"mkdir -p .git/worktrees/e; echo ../../../e > .git/worktrees/e/commondir; chmod 311 .git/worktrees", ".git/worktrees/e/commondir"},
			{"mkdir .idea; echo evil > .idea/x; chmod 555 .idea", ".idea/x"},
			{"mkdir -p .idea/y; echo evil > .idea/y/x; chmod 0 .idea/y .idea", ".idea/y/x"},
			{"echo evil > src/.envrc; chmod 311 src", "src/.envrc"},
			{"echo evil > .envrc; chmod 555 .", ".envrc"},
			{"echo evil > .envrc; chmod 311 .", ".envrc"},
			{"echo evil > .envrc; chmod 0 .", ".envrc"},
			{"printf '[core]\\n\\tfsmonitor = evil\\n' >> .git/config; chmod 0 .git/config", ""},
			{"i=0; mkdir .idea; (cd .idea; while [ $i -lt 300 ]; do mkdir deep; cd deep; i=$((i+1)); done; echo evil > x); chmod 500 .idea/deep/deep/deep .idea/deep", ".idea/deep"},
		} {
			_, exit := s.run(t, c.line, s.tools)
			_, next := s.run(t, "true", s.tools)
			if err := exec.Command("chmod", "-R", "u+rwX", s.dir).Run(); err != nil {
				t.Fatal(err)
			}
			if text := s.holds(c.path); text != "" || strings.Contains(s.holds(".git/config"), "evil") {
				t.Errorf("%s: the user's tools would run it: %q, %s", c.line, text, told(exit))
			}
			if told(next) != "" || strings.Contains(told(exit), "not be") && !strings.Contains(told(exit), "opened again") {
				t.Errorf("%s: it was told %q, then %q", c.line, told(exit), told(next))
			}
		}
	})
}

// A file that is in the way is not restored through, and what is as long as can be is
// restored as well.
func TestAttackStandsInTheWayOfARestore(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		long := strings.Repeat("n", 255)
		s.write(t, ".vscode/"+long, "mine")
		s.write(t, "a/b/.envrc", "mine")
		s.run(t, "git init -q . && mkdir -p .git/hooks", s.tools)
		for _, line := range []string{
			"echo evil > .vscode/" + long,
			"rm .vscode/" + long + "; mkdir .vscode/" + long + "; echo evil > .vscode/" + long + "/x",
			"rm -rf a; echo evil > a",
			"rm -rf a; ln -s .git a",
			"rm -rf a/b; mkfifo a/b",
			"rm -rf a/b; mkdir -p e; echo evil > e/.envrc; ln -s ../e a/b",
			"for i in $(seq 120); do mkdir -p vscode.set-aside-$i/x; done; mv .vscode .v; mkdir .vscode; for i in $(seq 300); do echo evil > .vscode/$i; done",
		} {
			_, exit := s.run(t, line, s.tools)
			_, next := s.run(t, "true", s.tools)
			if a, b := s.holds(".vscode/"+long), s.holds("a/b/.envrc"); a != "mine" || b != "mine" || s.holds(".vscode/1") != "" || told(next) != "" {
				t.Errorf("%s: %q %q, it was told %q, then %q", line, a, b, told(exit), told(next))
			}
		}
	})
}

// More than is looked at is told, as long as there is more, and nothing of it is taken for
// the user's.
func TestAttackFillsTheWorkspace(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.run(t, "git init -q . && mkdir -p .git/hooks", s.tools)
		_, exit := s.run(t, `for r in a b c d e f g h i; do mkdir -p ./!$r/.git/objects ./!$r/.git/refs; echo 'ref: refs/heads/main' > ./!$r/.git/HEAD
mkdir -p ./!$r/.git/worktrees/w{1..250}
for w in ./!$r/.git/worktrees/*; do echo ../.. > $w/commondir; echo "$W/!$r/x/.git" > $w/gitdir; done; done
echo evil > .git/hooks/pre-commit; printf '[core]\n\tfsmonitor = evil\n' >> .git/config`, s.tools)
		_, next := s.run(t, "true", s.tools)
		for _, exit := range []hermes.Exit{exit, next} {
			if text := told(exit); !strings.Contains(text, "too much to be guarded") || strings.Contains(text, "/.git (restored") {
				t.Errorf("it was told %q", text)
			}
		}
		full, err := filepath.Glob(filepath.Join(s.dir, "!*"))
		if err != nil || len(full) != 9 {
			t.Fatal(full, err)
		}
		for _, path := range full {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
		}
		_, exit = s.run(t, "true", s.tools)
		if hook, config := s.holds(".git/hooks/pre-commit"), s.holds(".git/config"); hook != "" || strings.Contains(config, "evil") || config == "" {
			t.Errorf("git would run it: %q %q, %s", hook, config, told(exit))
		}
		if _, exit = s.run(t, "true", s.tools); told(exit) != "" {
			t.Errorf("it was told %q", told(exit))
		}
	})
}

// What cannot be restored is told with each command, until the user has looked at it. What
// the user changes meanwhile stays.
func TestAttackChangesWhatCannotBeRestored(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		big := strings.Repeat("mine\n", 1<<19)
		s.write(t, ".vscode/big", big)
		s.run(t, "echo evil >> .vscode/big", s.tools)
		s.write(t, "a/.envrc", "mine")
		for range 2 {
			if _, exit := s.run(t, "true", s.tools); !strings.Contains(told(exit), ".vscode/big (NOT restored") {
				t.Errorf("it was told %q", told(exit))
			}
		}
		s.write(t, ".vscode/big", big)
		if _, exit := s.run(t, "true", s.tools); told(exit) != "" {
			t.Errorf("it was told %q", told(exit))
		}
		if got := s.holds("a/.envrc"); got != "mine" {
			t.Errorf("the user's own change was undone: %q", got)
		}
	})
}

// What the user must know comes first, however much else there is to tell.
func TestAttackHidesWhatStaysInALongReport(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.write(t, ".vscode/big", strings.Repeat("mine\n", 1<<19))
		_, exit := s.run(t, `mkdir -p '!j/.idea'; for i in $(seq 200); do echo evil > '!j/.idea/'$i; mkdir -p d$i; echo evil > d$i/.envrc; cat $H/$i; done; echo evil >> .vscode/big; false`, s.tools)
		if len(exit.Refused) == 0 || exit.Refused[0].Name != filepath.Join(s.dir, ".vscode/big") {
			t.Errorf("the first of %d is not what stays: %.2000s", len(exit.Refused), told(exit))
		}
		if n := strings.Count(told(exit), ".idea"); n != 1 {
			t.Errorf("a folder that was removed is told %d times", n)
		}
	})
}

// A program that is stopped while it has a lease on a file makes whoever opens the file
// wait for 45 seconds.
func TestAttackHoldsUpARestore(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	both(t, func(t *testing.T, s *target) {
		s.run(t, `git init -q .; touch -d '3 hours ago' .git/.config.AAAAAAAAAAAA.tmp
(python3 -c 'import fcntl,time
f=open(".git/.config.AAAAAAAAAAAA.tmp"); fcntl.fcntl(f,fcntl.F_SETLEASE,fcntl.F_WRLCK); open("held","w").write("x"); time.sleep(1000)' >/dev/null 2>&1 &)
for i in $(seq 500); do [ -s held ] && break; sleep 0.01; done`, s.tools)
		if s.holds("held") == "" {
			t.Skip("no leases here")
		}
		began := time.Now()
		_, exit := s.run(t, "ln .git/config c; printf '[core]\\n\\tfsmonitor = evil\\n' >> c; rm .git/config; mkfifo .git/config", s.tools)
		if took := time.Since(began); took > 20*time.Second || strings.Contains(s.holds(filepath.Join(".git", "config")), "evil") {
			t.Errorf("it took %v, %s", took, told(exit))
		}
	})
}
