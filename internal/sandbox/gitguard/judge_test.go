package gitguard_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/internal/proc"
	"hermes/internal/sandbox/gitguard"
)

func names(keys []gitguard.Key) (out []string) {
	for _, k := range keys {
		out = append(out, k.Name)
	}
	return out
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const old = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.org/a\n"
	for added, suspicious := range map[string]string{
		"[user]\n\tname = A B\n": "",
		"[remote \"up\"]\nurl = git@example.org:a/b.git\nfetch = +refs/heads/*:refs/remotes/up/*": "",
		"[branch \"main\"]\nremote = origin\nmerge = refs/heads/main":                             "",
		"[branch \"main\"]\nremote = https://evil.example\n":                                      "branch.main.remote",
		"[branch \"main\"]\nmergeoptions = -s evil\n":                                             "branch.main.mergeoptions",
		"[submodule \"a\"]\nactive = true\nurl = ../a\n":                                          "",
		"[submodule \"a\"]\nupdate = !evil\n":                                                     "submodule.a.update",
		"[core]\nfilemode = true\nautocrlf = input\n":                                             "",
		"[color \"diff\"]\nmeta = yellow\n[pull]rebase = true":                                    "",
		"[core]\nhooksPath = x\n":                                                                 "core.hookspath",
		"[core]fsmonitor = x\n":                                                                   "core.fsmonitor",
		"[CORE]\n\tSshCommand = x\n":                                                              "core.sshcommand",
		"[core]\npager = x\neditor = y\n":                                                         "core.editor core.pager",
		"[core]\nworktree = ..\nattributesFile = x\n":                                             "core.attributesfile core.worktree",
		"[alias]\nst = !evil\n":                                                                   "alias.st",
		"[filter \"x\"]\nclean = evil\n":                                                          "filter.x.clean",
		"[diff \"x\"]\ntextconv = evil\ncommand = evil\n":                                         "diff.x.command diff.x.textconv",
		"[merge \"x\"]\ndriver = evil\n":                                                          "merge.x.driver",
		"[credential]\nhelper = evil\n":                                                           "credential.helper",
		"[gpg]\nprogram = evil\n[commit]\ngpgsign = true\n":                                       "commit.gpgsign gpg.program",
		"[include]\npath = x\n[includeIf \"gitdir:x\"]\npath = x\n":                               "include.path includeif.gitdir:x.path",
		"[http]\nproxy = x\nextraHeader = y\nsslVerify = false\n":                                 "http.extraheader http.proxy http.sslverify",
		"[url \"https://evil/\"]\ninsteadOf = https://example.org/\n":                             "url.https://evil/.insteadof",
		"[protocol \"ext\"]\nallow = always\n":                                                    "protocol.ext.allow",
		"[remote \"x\"]\nurl = ext::sh -c evil\n":                                                 "remote.x.url",
		"[remote \"x\"]\nurl = -oProxyCommand=evil\n":                                             "remote.x.url",
		"[remote \"x\"]\nurl = ssh://-oProxyCommand=evil/x\n":                                     "remote.x.url",
		"[remote \"x\"]\nurl = a\nuploadpack = evil\nreceivepack = evil\npushurl = b":             "remote.x.pushurl remote.x.receivepack remote.x.uploadpack",
		"[remote \"origin\"]\nurl = https://evil.example\n":                                       "remote.origin.url",
		"[extensions]\nworktreeConfig = true\n":                                                   "extensions.worktreeconfig",
		"[gc]\nrecentObjectsHook = evil\n":                                                        "gc.recentobjectshook",
		"[init]\ntemplateDir = evil\ndefaultBranch = main\n":                                      "init.templatedir",
		"[unknown]\nkey = x\n":                                                                    "unknown.key",
		"[core]\nbare = \\\n!evil\n":                                                              "core.bare",
		"[broken\n":                                                                               "",
	} {
		harmless, got := gitguard.Judge([]byte(old), []byte(old+added))
		if strings.Join(names(got), " ") != suspicious || len(got)+len(harmless) == 0 {
			t.Errorf("%q: suspicious %q, want %q; harmless %q", added, names(got), suspicious, names(harmless))
		}
		text, left := gitguard.Keep([]byte(old), []byte(old+added))
		if _, still := gitguard.Judge([]byte(old), text); len(still) > 0 || len(left) != len(got) {
			t.Errorf("%q: kept %q", added, text)
		}
	}
	if _, got := gitguard.Judge([]byte("[core]\nhooksPath = mine\n"), nil); len(got) != 1 {
		t.Errorf("a setting of the user was deleted: %v", got)
	}
}

func TestKeepBringsBackWhatWasThere(t *testing.T) {
	t.Parallel()
	old := "[core]\n\thooksPath = \"a;b\"\n"
	got, suspicious := gitguard.Keep([]byte(old), []byte("[core]\n\thooksPath = evil ; x\n\tbare = true\n[user]name=u\n"))
	harmless, left := gitguard.Judge([]byte(old), got)
	if len(suspicious) != 1 || len(left) != 0 || strings.Join(names(harmless), " ") != "core.bare user.name" {
		t.Errorf("%q: %v, %v", got, harmless, left)
	}
}

func TestASubmoduleMayNameItsWorkTree(t *testing.T) {
	t.Parallel()
	dir := mustFolder(t)
	before := mustTake(t, dir)
	write(t, dir+"/.git/modules/c/HEAD", "x")
	write(t, dir+"/.git/modules/c/config", "[core]\nworktree = ../../../c\n")
	write(t, dir+"/.git/modules/d/HEAD", "x")
	write(t, dir+"/.git/modules/d/config", "[core]\nworktree = ../../../../elsewhere\n")
	changes := mustAgain(t, before).Compare(before)
	if len(changes) != 2 {
		t.Fatal(changes)
	}
	for i, want := range []int{0, 1} {
		if _, got := changes[i].Judge(); len(got) != want {
			t.Errorf("%s: %v", changes[i].Path, got)
		}
	}
}

// git runs git in a folder with a home of its own.
func git(t *testing.T, dir string, args ...string) (string, int) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	var out bytes.Buffer
	st, err := proc.Run(t.Context(), proc.Command{Path: "git", Args: args, Dir: dir, Stdout: &out, Stderr: &out, Files: nil, Env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_ALLOW_PROTOCOL=file",
	}})
	must(t, err)
	return out.String(), st.Code
}

// TestConfigurationIsReadAsGitReadsIt compares with git itself.
func TestConfigurationIsReadAsGitReadsIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, text := range []string{
		"[a]\nb = c", "[a] b = c\n", "[a]b=c # d\n", "[a]\nb = \"c # d\" ; e\n", "[a]\nb = c\\\n  d\n", "[a]\r\nb = c\r\n", "[a \"B\\\"x\"]\nc = d\n", "[a.B]\nc = d\n",
		"[a]\nb\n", "[a]\nb =\n", "[a]\nb = \"x\\n\\ty\"\n", "\ufeff[a]\nb = c\n", "[a]\n b = c  d  \n", "[a]\nb = \" c \" \n", "[a]\nb-c = d\n", "[a][b]\nc = d\n", "[a]\nb = c\n[a]\nb = d\n",
		"[a]\nb = \"x\n", "[a\nb = c\n", "b = c\n", "[a]\n1b = c\n", "[a]\nb = \\q\n", "[a \"b\" ]\nc = d\n", "[a]\nb c = d\n", "[]\nb = c\n", "[a \"\"]\nb = c\n", "[a]\n; x\n# y\nb = c # \\\nd = e\n", "[a]\nb = c\\",
		"[a]\nb = \"c\"d\" e\"\n", "[a]\nb_c = d\n", "[A-1]\nB = c\n", "[a  \"b\"]\nc = d\n",
	} {
		at := filepath.Join(dir, string(rune('a'+i%26))+strings.Repeat("x", i/26))
		write(t, at, text)
		out, code := git(t, dir, "config", "--file", at, "--list", "-z")
		var want []string
		for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
			name, value, ok := strings.Cut(line, "\n")
			if !ok && line != "" {
				value = "true"
			}
			want = append(want, name+"="+value)
		}
		slices.Sort(want)
		harmless, suspicious := gitguard.Judge(nil, []byte(text))
		var got []string
		for _, k := range append(harmless, suspicious...) {
			for _, v := range k.New {
				got = append(got, k.Name+"="+v)
			}
		}
		slices.Sort(got)
		switch refused := len(suspicious) == 1 && suspicious[0].Name == ""; {
		case refused && code == 0 && (!strings.Contains(text, "[") || strings.HasSuffix(text, "\\")):
			// Refusing more than git does is safe.
		case refused != (code != 0):
			t.Errorf("%q: git says %d, refused: %v", text, code, refused)
		case code == 0 && !slices.Equal(got, want):
			t.Errorf("%q: got %q, git says %q", text, got, want)
		}
	}
}

func TestNeedsConfig(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"git init": true, "/usr/bin/git -C x clone a": true, "git -c a=b remote add x y": true, "git remote -v": false, "git remote": false, "git remote show origin": false,
		"git config a b": true, "git config a": false, "git config --get a": false, "git config -l": false, "git config --unset a": true, "git config set a b": true, "git config get a": false, "git config --global a b": true,
		"git branch": false, "git branch -a": false, "git branch x": false, "git branch -m a b": true, "git branch -u o/x": true, "git branch --set-upstream-to=o/x": true, "git branch -d x": true, "git branch x origin/y": true,
		"git checkout x": false, "git checkout -b x": false, "git checkout -b x origin/y": true, "git checkout --track origin/x": true, "git switch -c x origin/y": true, "git switch --no-track -c x origin/y": false,
		"git push": false, "git push -u origin x": true, "git push --set-upstream o x": true, "git fetch": false, "git pull": false, "git commit -m x": false, "git status": false,
		"git submodule update --init": true, "git submodule status": false, "git submodule": false, "git worktree add x": false, "git worktree add -b x y origin/z": true, "git worktree list": false, "git worktree remove x": true, "git worktree prune": true,
		"git stash": false, "git unknown": false, "ls": false, "git": false, "git --git-dir=x remote set-url a b": true, "git sparse-checkout set a": true, "notgit init": false,
	} {
		if got := gitguard.NeedsConfig(strings.Fields(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
	if gitguard.NeedsConfig(nil) {
		t.Error("nothing needs something")
	}
}

// TestGitNeedsTheConfigurationWhereItIsSaid runs git while the configuration cannot be
// written: what complains needs it.
func TestGitNeedsTheConfigurationWhereItIsSaid(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := filepath.Join(base, "w")
	git(t, base, "init", "-q", "--bare", "bare.git")
	git(t, base, "init", "-q", "-b", "main", dir)
	for _, line := range []string{"commit -q --allow-empty -m x", "remote add origin ../bare.git", "push -q origin main", "push -q origin main:other", "fetch -q", "branch old"} {
		if out, code := git(t, dir, strings.Fields(line)...); code != 0 {
			t.Fatal(line, out)
		}
	}
	lock := filepath.Join(dir, ".git", "config.lock")
	for _, line := range []string{
		"status", "commit -q --allow-empty -m y", "worktree add ../wt1", "worktree list", "checkout -b plain", "branch plain2", "push origin HEAD", "fetch", "stash", "tag t", "remote -v", "config --get core.bare",
		"worktree add -b tracked ../wt2 origin/other", "checkout --track origin/other", "checkout -b q origin/main", "switch -c q2 origin/main", "branch q3 origin/main", "branch -u origin/main", "branch -m plain2 moved", "branch -d old", "branch --edit-description",
		"push -u origin HEAD", "fetch --set-upstream origin main", "remote add z ../z", "remote set-url origin ../y", "remote set-branches origin main", "config a.b c", "init", "remote remove origin",
	} {
		write(t, lock, "")
		out, _ := git(t, dir, strings.Fields(line)...)
		must(t, os.Remove(lock))
		if got, want := gitguard.NeedsConfig(append([]string{"git"}, strings.Fields(line)...)), strings.Contains(out, "could not lock config"); got != want && line != "branch --edit-description" {
			t.Errorf("git %s: NeedsConfig is %v, git says %q", line, got, out)
		}
	}
}
