//go:build amd64 || arm64

package confine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
)

// gitAttack is a story about a repository that commands plant, until the user's own git
// is asked about it.
type gitAttack struct {
	name  string
	user  func(t *testing.T, s *target) // what the user did before the session
	lines []string
	// asks are the folders in which the user's prompt runs git status.
	asks []string
	// clean is a configuration that must not name the program.
	clean string
	// gone are paths that may not be there in the end.
	gone []string
	// told is in one of the refusals; "" does not matter.
	told string
}

// runs is a line that makes git in a repository run a program: it makes the file PWN.
const runs = `git config -f %s core.fsmonitor 'touch '$W'/PWN; false'`

func fsmonitor(file string) string { return strings.ReplaceAll(runs, "%s", file) }

var gitAttacks = []gitAttack{
	{
		name:  "other spellings hide the repository",
		user:  func(t *testing.T, s *target) { s.asUser(t, "git init -q .; echo x > f; git add f") },
		lines: []string{"mkdir .GIT .gIT .giT .Git .GIt; touch .GIT/HEAD", "printf '[core]\\n\\tfsmonitor = touch '$W'/PWN; false\\n' >> .git/config; mv .git/config .git/c; cp .git/c .git/config"},
		asks:  []string{"."},
	},
	{
		name:  "folders hide a nested repository",
		user:  func(t *testing.T, s *target) { s.asUser(t, "git init -q z/n; cd z/n; echo x > f; git add f") },
		lines: []string{"for i in $(seq 300); do mkdir a$i a$i/.vscode; done; true", "mv z/n/.git/config z/n/.git/c; cp z/n/.git/c z/n/.git/config; " + fsmonitor("z/n/.git/config")},
		asks:  []string{"z/n"},
	},
	{
		name:  "a bare repository of links",
		lines: []string{"mkdir -p src/x/y; git init -q --bare y; cd src; cp ../y/HEAD .; ln -s ../y/objects objects; ln -s ../y/refs refs; cp ../y/config .; " + fsmonitor("config") + "; git config -f config core.bare false; git config -f config core.worktree $W/src"},
		asks:  []string{"src", "src/x"},
	},
	{
		name:  "a part of a repository",
		lines: []string{"git init -q --bare y; mkdir -p o/worktrees/x; mv y/objects y/refs o; cp y/HEAD o/worktrees/x; echo ../.. > o/worktrees/x/commondir; cp y/config o/config; git config -f o/config core.bare false; git config -f o/config core.worktree $W/o; " + fsmonitor("o/config")},
		asks:  []string{"o/worktrees/x"},
		clean: "o/config",
	},
	{
		name:  "hooks of a new repository that are a link",
		lines: []string{"git init -q r; rm -rf r/.git/hooks; mkdir h; printf '#!/bin/sh\\ntouch '$W'/PWN\\n' > h/post-index-change; chmod +x h/post-index-change; ln -s ../../h r/.git/hooks; echo x > r/f; git -C r add f; rm -f PWN; touch -d 2001-01-01 r/f"},
		asks:  []string{"r"},
	},
	{
		name: "folders of a new repository that are links",
		lines: []string{`git init -q r; git -C r -c user.name=a -c user.email=b commit -q --allow-empty -m x; mkdir -p x/modules/m x/worktrees o/e
git init -q --bare x/modules/m; ` + fsmonitor("x/modules/m/config") + `; git config -f x/modules/m/config core.bare false; git config -f x/modules/m/config core.worktree $W/m
ln -s ../../x/modules r/.git/modules; mkdir m; echo gitdir: ../r/.git/modules/m > m/.git
cp -r r/.git/. o; rm o/modules; ` + fsmonitor("o/config") + `; mkdir -p o/worktrees/e w r/.git/worktrees; cp r/.git/HEAD o/worktrees/e; echo ../.. > o/worktrees/e/commondir; echo $W/w/.git > o/worktrees/e/gitdir
ln -s ../../../o/worktrees/e r/.git/worktrees/e; echo gitdir: $W/r/.git/worktrees/e > w/.git`},
		asks: []string{"m", "w", "r"},
		gone: []string{"r/.git/modules", "r/.git/worktrees/e"},
	},
	{
		name:  "a file that leads to a temporary folder",
		lines: []string{"git init -q $TMPDIR/evil; " + fsmonitor("$TMPDIR/evil/.git/config") + "; git config -f $TMPDIR/evil/.git/config core.worktree $W/src; mkdir src; echo gitdir: $TMPDIR/evil/.git > src/.git; ln -s $TMPDIR/evil/.git l; mkdir m; mv l m/.git; echo $TMPDIR"},
		asks:  []string{"src", "m"},
	},
	{
		name: "a submodule in a folder that is skipped",
		user: func(t *testing.T, s *target) { s.asUser(t, "git init -q .; echo x > f; git add f") },
		lines: []string{
			"git init -q vendor/x; git -C vendor/x -c user.name=a -c user.email=b commit -q --allow-empty -m x",
			fsmonitor("vendor/x/.git/config"),
			"git add vendor/x; git ls-files -s; ls -A vendor/x; cat vendor/x/.git/config",
		},
		asks: []string{"."},
	},
	{
		name: "a deep submodule of a submodule, in one line",
		user: func(t *testing.T, s *target) { s.asUser(t, "git init -q .; echo x > f; git add f") },
		lines: []string{
			"export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=b; d=a/b/c/d/e/f/g; git init -q $d; git init -q $d/build/y; git -C $d/build/y commit -q --allow-empty -m x; git -C $d add build/y; git -C $d commit -q -m x; git add $d; git update-index --index-version 4; " + fsmonitor("$d/build/y/.git/config") + "; " + fsmonitor("$d/.git/config"),
		},
		asks: []string{"."},
	},
	{
		name: "a repository deep in a large project",
		user: func(t *testing.T, s *target) {
			s.asUser(t, "mkdir -p p/a/b/c/d/e/f/g; for i in $(seq 150); do mkdir p/$i; done")
		},
		lines: []string{
			"true; true", // the project is looked at in parts
			"true",
			"mkdir -p y; git init -q --bare y/z; cd p/a/b/c/d/e/f/g; mv $W/y/z/* .; git config -f config core.bare false; git config -f config core.worktree $W/p; " + fsmonitor("config") + "; cd $W/p/99; git init -q; " + fsmonitor(".git/config"),
		},
		asks: []string{"p/a/b/c/d/e/f/g", "p/99"},
	},
	{
		name:  "an index that is not understood",
		user:  func(t *testing.T, s *target) { s.asUser(t, "git init -q .; echo x > f; git add f") },
		lines: []string{"mkfifo x; rm .git/index; ln -s ../x .git/index"},
		told:  "NOT restored",
	},
	{
		name:  "more submodules than are looked at",
		user:  func(t *testing.T, s *target) { s.asUser(t, "git init -q .; echo x > f; git add f") },
		lines: []string{"for i in $(seq 700); do printf '160000 1111111111111111111111111111111111111111\\tvendor/m%s\\n' $i; done | git update-index --index-info"},
		told:  "NOT restored",
	},
}

// asUser runs a line as the user does, outside.
func (s *target) asUser(t *testing.T, line string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = s.dir, []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + s.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}
	out, _ := cmd.CombinedOutput() // a repository that is broken runs nothing
	return string(out)
}

// TestAttackPlantsARepository: no repository that a command makes or changes makes the
// user's git run a program.
func TestAttackPlantsARepository(t *testing.T) {
	for _, a := range gitAttacks {
		t.Run(a.name, func(t *testing.T) {
			both(t, func(t *testing.T, s *target) {
				if a.user != nil {
					a.user(t, s)
				}
				var told []hermes.Refusal
				for _, line := range a.lines {
					out, exit := s.run(t, line, s.tools)
					if told = append(told, exit.Refused...); testing.Verbose() {
						t.Logf("%s\n%s\n%v", line, out, exit.Refused)
					}
				}
				_ = os.Remove(filepath.Join(s.dir, "PWN")) // git inside may have run it
				for _, dir := range a.asks {
					out := s.asUser(t, "cd "+dir+" && git status --short")
					if _, err := os.Lstat(filepath.Join(s.dir, "PWN")); err == nil {
						t.Fatalf("the user's git in %s ran it: %s\n%v", dir, out, told)
					}
				}
				if text := s.holds(a.clean); strings.Contains(text, "PWN") || a.clean != "" && text == "" {
					t.Errorf("%s: %q\n%v", a.clean, text, told)
				}
				for _, path := range a.gone {
					if _, err := os.Lstat(filepath.Join(s.dir, path)); err == nil {
						t.Errorf("%s is there\n%v", path, told)
					}
				}
				var notes []string
				for _, r := range told {
					notes = append(notes, r.Note)
				}
				if all := strings.Join(notes, "\n"); a.told != "" && !strings.Contains(all, a.told) {
					t.Errorf("the user was told: %q", all)
				}
			})
		})
	}
}

// What watches folders ends with the session.
func TestWhatWatchesFoldersIsClosed(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		watchers := func() (n int) {
			all, _ := os.ReadDir("/proc/self/fd")
			for _, fd := range all {
				if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); to == "anon_inode:inotify" {
					n++
				}
			}
			return n
		}
		before := watchers()
		s.run(t, "true", s.tools)
		s.run(t, "mkdir a; mv a b", s.tools)
		if got := watchers(); got != before || got == 0 { // it began when the walls were built
			t.Errorf("there are %d, and were %d", got, before)
		}
		s.Local.Close()
		if got := watchers(); got != before-1 {
			t.Errorf("%d are left, and %d were there", got, before)
		}
	})
}

// Who takes the rights of a folder away hides what is in it, until the user gives them back.
func TestAttackClosesARepository(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.asUser(t, "git init -q .; echo x > f; git add f")
		s.write(t, ".git/hooks/pre-commit", "the user's")
		_, first := s.run(t, fsmonitor(".git/config")+"; echo evil > .git/hooks/pre-commit; chmod 0 .git", s.tools)
		_, exit := s.run(t, "chmod 755 .git; true", s.tools)
		s.asUser(t, "chmod 755 .git; touch -d 2001-01-01 f; git status")
		if _, err := os.Lstat(filepath.Join(s.dir, "PWN")); err == nil || s.holds(".git/hooks/pre-commit") != "the user's" {
			t.Errorf("%q, %v, %v", s.holds(".git/hooks/pre-commit"), first.Refused, exit.Refused)
		}
	})
}
