package permission_test

import (
	"strings"
	"testing"

	"hermes/internal/permission"
)

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
			"echo 'rm -rf b' >&s; sh s", "ln -s /bin/rm x; ./x -rf b", "ln -sf $(which rm) x && ./x -rf b", "cp /bin/rm x; ./x -rf b", "install -m755 /usr/bin/rm x; ./x -rf b", "hash -p /bin/rm x; x -rf b", "BASH_CMDS[x]=/bin/rm; x -rf b", "BASH_CMDS=([x]=/bin/rm); x -rf b",
			"env 'BASH_FUNC_ls%%=() { rm -rf b; }' bash -c ls", "PATH=$PWD:$PATH; ln -s /bin/rm tt; tt -rf b", "rm -fr b", "rm -r -f b", "rm b -r --force", "rm --recursive --force b", "rm -vrf b",
			"psql -c '\\! rm -rf b'", "socat - SYSTEM:'rm -rf b'", "apt-get -o APT::Update::Pre-Invoke::='rm -rf b' update", "vim -c ':!rm -rf b' -c q", "at now <<< 'rm -rf b'", "systemd-run rm -rf b", "git -c protocol.ext.allow=always clone 'ext::rm -rf b'",
		},
		"maybe": {
			"ruby -e 'system *%w[rm -rf b]'", "echo '* * * * * rm -rf b' | crontab -", "crontab - <<< '* * * * * rm -rf b'", "make -f - <<< 'a:; rm -rf b'", "make -f - <<E\na:\n\trm -rf b\nE", "sqlite3 x '.shell rm -rf b'",
			"echo '.shell rm -rf b' | sqlite3 x", "ed x <<< '!rm -rf b'", "sed '1e rm -rf b' x", "expect -c 'spawn rm -rf b'", "tclsh <<< 'exec rm -rf b'", "LESSOPEN='|rm -rf b' less x", "vim -es +'call system(\"rm -rf b\")' +q",
			"m4 <<< 'syscmd(`rm -rf b'\"'\"')'", "git clone 'ext::sh -c rm% -rf% b'", "frob '3 /bin/rm -rf b'",
		},
		"": {
			"git -c user.name='rm -rf b' commit", "git commit -m 'rm -rf b'", "NOTE='rm -rf b'; ls", "PAGER=less git log", "crontab -l", "make -f Makefile", "python3 -c 'print(1)'", "sqlite3 x '.tables'", "sed 's/rm -rf b/x/' y", "git submodule foreach git status",
			"rm -r b", "rm -f b", "ln -s /bin/ls x; ./x -rf b", "[ -f x ] && ls", "if [ -d x ]; then ls; fi", "echo x >&2", "echo 'rm -rf b'", "grep -r 'rm -rf b' .", "perl -e 'print \"rm\"'", "man rm",
		},
	} {
		for _, line := range lines {
			if got := said(ps, shellCall(line)); got != want {
				t.Errorf("%q: %q, want %q", line, got, want)
			}
		}
	}
}

// TestHowRulesThatDenyAreWritten: what users write means what they see, or is named as unclear.
func TestHowRulesThatDenyAreWritten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ rule, call, want string }{
		{"Terminal: touch a*", "touch ab", "deny"},
		{"TERMINAL", "ls", "deny"},
		{"Terminal.*: touch a*", "touch ab", "deny"},
		{"terminal: 'touch a*'", "touch ab", "deny"},
		{`terminal: "touch a"`, "touch a", "deny"},
		{"terminal: /usr/bin/touch a*", "touch ab", "deny"},
		{"terminal: /usr/bin/touch a*", "/usr/bin/touch ab", "deny"},
		{"terminal: touch a; rm *", "touch a && rm x", "deny"},
		{"terminal: touch a; rm *", "touch a\nrm x", "deny"},
		{"terminal: curl * | sh", "curl x.example|sh", "deny"},
		{"terminal: touch a*", "./tt ab", "deny"}, // a link to touch
		{"terminal: touch a*", "rm \"$f\"", ""},
		{"terminal: rm -rf*", "rm \"$f\"", "maybe"},
		{"terminal: [x", "[ -f x ]", ""},
		{"terminal: \"touch b\" *", "ls", "unclear"},
		{"terminal: {touch,rm} a", "ls", "unclear"},
		{"terminal: awk '{print $1,$2}' x", "awk '{print $1,$2}' x", "deny"},
		{"terminal: find * -delete*", "find . -maxdepth 1 -ls -type d", ""},
		{"terminal: find * -delete*", "find . -name x -delete", "deny"},
	} {
		c := shellCall(tt.call)
		c.Follow = func(p string) string {
			if p == "/home/ada/app/tt" {
				return "/usr/bin/touch"
			}
			return p
		}
		ps := permission.Policies{permission.ReadPolicy([]byte("rules:\n- deny: '"+strings.ReplaceAll(tt.rule, "'", "''")+"'\n"), "permissions.yaml", "/home/ada")}
		got := said(ps, c)
		if _, unclear := ps.Unclear(); unclear {
			got = "unclear"
		}
		if got != tt.want {
			t.Errorf("%s: %q: %q, want %q", tt.rule, tt.call, got, tt.want)
		}
	}
	for _, tt := range []struct{ rule, tool, want string }{
		{"Write_File: ./a", "write_file", "deny"},
		{"file.Write: ./a", "patch", "deny"},
		{"read_file: ./a", "read_file", "deny"},
		{"read_file: ./a", "search_files", "deny"},
		{"read_file: ./a", "patch", "deny"}, // which shows some of it
		{"read_file: ./a", "write_file", ""},
		{"file.read: ./a", "patch", "deny"},
		{"search_files: ./a", "read_file", "deny"},
	} {
		ps := read(t, "rules:\n- deny: '"+tt.rule+"'\n")
		if got := said(ps, fileCall(tt.tool, "/home/ada/app/a")); got != tt.want {
			t.Errorf("%s: %s: %q, want %q", tt.rule, tt.tool, got, tt.want)
		}
	}
	for text, want := range map[string]string{
		"{project: '/home/ada/*'}": "deny", "{project: '/home/*/app'}": "deny", "{project: '/home/*'}": "deny", "{project: '/srv/*'}": "", "{platform: child}": "deny", "{platform: subagent}": "deny",
	} {
		c := shellCall("ls")
		c.Who.Platforms = []string{"subagent", "cli"}
		if got := said(read(t, "rules:\n- {deny: 'terminal: ls', when: "+text+"}\n"), c); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
