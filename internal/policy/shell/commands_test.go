package shell_test

import (
	"slices"
	"strings"
	"testing"

	"hermes/internal/policy/shell"
	"hermes/internal/policy/shell/lex"
)

func commands(line string) (all []string, complete bool) {
	complete = shell.Commands(line, func(words []string) bool {
		all = append(all, strings.Join(words, " "))
		return true
	})
	return all, complete
}

// TestCommandsAreListedAtEveryPosition: whatever runs a command, it is listed as it
// would run.
func TestCommandsAreListedAtEveryPosition(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"git push", "GIT_DIR=x git push", "'git' \"push\"", "g''it pu\\sh", "true; git push", "true && (git push)", "if a; then git push; fi", "for i in a; do git push; done", "echo $(git push)", "echo `git push`", "cat <(git push)", "x=$(git push)",
		"sudo -u x git push", "sudo -u x env -i A=1 nohup timeout 5 git push", "bash -c 'git push'", "bash -lc 'true; git push'", "bash -eo pipefail -c 'git push'", "su -lc 'git push'", "eval 'git push'", "echo git push | sh", "bash <<< 'git push'", "bash <<EOF\ngit push\nEOF",
		"x=git; $x push", "x='git push'; $x", "set -- git push; \"$@\"", "a=(git push); \"${a[@]}\"", "f() { git push; }; f", "f() { \"$@\"; }; f git push", "alias g='git push'; g", "alias g=git; g push", "trap 'git push' EXIT", "xargs git push", "echo push | xargs git", "find . -exec git push \\;", "parallel git push",
		"watch git push", "watch 'git push'", "frob git push", "frob 'git push'", "tmux new -d 'git push'", "ssh host git push", "ssh host 'cd x; git push'", "docker run --rm x git push", "git push; echo 'open", "echo 'git push' > f; sh f", "python3 -c 'os.system(\"git push\")'", "{git,push}", "git ${x:-push}", "time git push", "! git push", "git push &", "coproc git push", "case a in a) git push;; esac",
		"npx -c 'git push'", "flock /tmp/l git push", "env -S 'git push'", "busybox sh -c 'git push'", "nice -n 5 git push", "subprocess.run(\"git push\")", "ｇｉｔ push",
	} {
		all, complete := commands(line)
		if !slices.ContainsFunc(all, func(s string) bool { return s == "git push" || s == "git push \x00" }) || !complete {
			t.Errorf("%q: %q, complete %v", line, all, complete)
		}
	}
	for _, line := range []string{"echo git push", "git commit -m 'git push'", "grep 'git push' x", "git status; echo about git push", "cat <<EOF\ngit push\nEOF", "# git push"} {
		if all, _ := commands(line); slices.ContainsFunc(all, func(s string) bool { return strings.HasPrefix(s, "git push") }) {
			t.Errorf("%q: %q", line, all)
		}
	}
}

func TestCommandsMarkWhatIsUnknown(t *testing.T) {
	t.Parallel()
	all, _ := commands("git $x a")
	if !slices.Contains(all, "git \x00 a") {
		t.Errorf("%q", all)
	}
}

func TestInputsAreListedAtEveryPosition(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"sh < a": {"a"}, "sh 0< 'a b'": {"a b"}, "sh -c 'sh < a'": {"a"}, "(cd x; sh <a) 3<b": {"b", "a"}, "while read l; do $l; done < a": {"a"}, "x=a; sh < $x": {"a"},
		"sh < x$y": {"x\x00"}, "exec < a": {"a"}, "cat <> a": {"a"}, "f() { sh; }; f < a": {"a"}, "echo a > b": nil, "sh <<< a": nil, "cat <<E\na\nE": nil, "echo '< a'": nil,
	} {
		if got := slices.Compact(shell.Inputs(line)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// TestCommandsSaysWhenThereAreTooMany, also inside of each other.
func TestCommandsSaysWhenThereAreTooMany(t *testing.T) {
	t.Parallel()
	if _, complete := commands(strings.Repeat("a;", 40_000) + "git push"); complete {
		t.Error("the list of 40,000 commands is complete")
	}
	for _, line := range []string{strings.Repeat("nice ", lex.MaxDepth) + "git push", "true; git push # " + strings.Repeat("(", lex.MaxNesting+1)} {
		if all, complete := commands(line); complete {
			t.Errorf("the list of %.60q is complete: %.200q", line, all)
		}
	}
	n := 0
	if complete := shell.Commands("a; b; c", func([]string) bool { n++; return false }); n != 1 || !complete {
		t.Errorf("%d commands after the first was enough, complete %v", n, complete)
	}
}

func TestStartsShell(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"bash": true, "cd x && zsh -i": true, "(bash)": true, "{ sh; }": true, "if a; then bash; fi": true, "bash; true": true, "sudo -u x bash": true, "sudo su": true, "sudo -i": true, "sudo ls -i": false, "chroot /mnt": true, "env -S bash": true,
		"ssh host": true, "docker exec -it x sh": true, "tmux": true, "$SHELL": true, "\"$x\" -i": true, "frob bash": true, "/bin/ksh": true, "tcsh": true, "exec bash": true, "echo 'open": false,
		"python3 -i": false, "sleep 3; python3": false, "": false, "grep bash x": false, "./server --sh": false, "node": false, "make run": false,
	} {
		if got := shell.StartsShell(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
