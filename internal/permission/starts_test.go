package permission_test

import "testing"

// TestADenyRuleSeesWhatProgramsStart: a command that a program starts because of a setting, an option, its code or its input
// is no way around a rule. Where the text is in a form of the program's own, the call is asked about.
func TestADenyRuleSeesWhatProgramsStart(t *testing.T) {
	t.Parallel()
	ps := read(t, "rules:\n- {deny: \"terminal: rm -rf*\", reason: never}\n")
	for want, lines := range map[string][]string{
		"deny": {
			"set -x; PS4='$(rm -rf b)'; ls", "BASH_ENV=<(echo rm -rf b) bash -c ls", "ENV=<(echo rm -rf b) sh -i", "env BASH_ENV=<(echo rm -rf b) bash -c ls", "export PAGER='rm -rf b'; man ls", "GIT_SSH_COMMAND='rm -rf b' git fetch",
			"git -c core.fsmonitor='rm -rf b' status", "git -c core.pager='rm -rf b' log", "git -c alias.x='!rm -rf b' x", "git -c credential.helper='!rm -rf b' fetch", "git config core.pager 'rm -rf b'", "git clone -c core.fsmonitor='rm -rf b' x",
			"git ls-remote --upload-pack='rm -rf b' .", "git ls-remote --upload-pack 'rm -rf b' .", "git clone -u 'rm -rf b' x", "git submodule foreach rm -rf b", "git submodule foreach --recursive rm -rf b", "git grep -O'rm -rf b' x",
			"git difftool -x 'rm -rf b'", "git filter-branch --tree-filter 'rm -rf b' HEAD", "git rebase -x 'rm -rf b' HEAD~1", "git bisect run rm -rf b",
			"perl -e 'exec qw(rm -rf b)'", "perl -e 'qx{rm -rf b}'", "ruby -e '%x(rm -rf b)'", "ruby -e '`rm -rf b`'", "python3 -c \"import os; os.execvp('rm', ['rm','-rf','b'])\"", "node -e 'require(\"child_process\").spawnSync(\"rm\",[\"-rf\",\"b\"])'",
			"man -P 'rm -rf b' ls", "tar xf a --to-command='rm -rf b'", "tar cf a --checkpoint=1 --checkpoint-action=exec='rm -rf b' .", "rsync -e 'rm -rf b' a h:b", "ssh -o ProxyCommand='rm -rf b' h", "sort --compress-program='rm -rf b' x", "dc -e '!rm -rf b'",
			"psql -c '\\! rm -rf b'", "socat - SYSTEM:'rm -rf b'", "apt-get -o APT::Update::Pre-Invoke::='rm -rf b' update", "vim -c ':!rm -rf b' -c q", "at now <<< 'rm -rf b'", "systemd-run rm -rf b", "git -c protocol.ext.allow=always clone 'ext::rm -rf b'",
		},
		"maybe": {
			"ruby -e 'system *%w[rm -rf b]'", "echo '* * * * * rm -rf b' | crontab -", "crontab - <<< '* * * * * rm -rf b'", "make -f - <<< 'a:; rm -rf b'", "make -f - <<E\na:\n\trm -rf b\nE", "sqlite3 x '.shell rm -rf b'",
			"echo '.shell rm -rf b' | sqlite3 x", "ed x <<< '!rm -rf b'", "sed '1e rm -rf b' x", "expect -c 'spawn rm -rf b'", "tclsh <<< 'exec rm -rf b'", "LESSOPEN='|rm -rf b' less x", "vim -es +'call system(\"rm -rf b\")' +q",
			"m4 <<< 'syscmd(`rm -rf b'\"'\"')'", "git clone 'ext::sh -c rm% -rf% b'", "frob '3 /bin/rm -rf b'",
		},
		"": {
			"git -c user.name='rm -rf b' commit", "git commit -m 'rm -rf b'", "NOTE='rm -rf b'; ls", "PAGER=less git log", "crontab -l", "make -f Makefile", "python3 -c 'print(1)'", "sqlite3 x '.tables'", "sed 's/rm -rf b/x/' y", "git submodule foreach git status",
			"echo 'rm -rf b'", "grep -r 'rm -rf b' .", "perl -e 'print \"rm\"'", "man rm",
		},
	} {
		for _, line := range lines {
			if got := said(ps, shellCall(line)); got != want {
				t.Errorf("%q: %q, want %q", line, got, want)
			}
		}
	}
}
