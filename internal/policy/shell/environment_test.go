package shell_test

import (
	"slices"
	"testing"

	"hermes/internal/policy/shell"
)

// danger is a key with lines that have it, and lines close to them that need no
// question.
type danger struct {
	key            string
	hits, innocent []string
}

func (d danger) check(t *testing.T) {
	t.Helper()
	for _, line := range d.hits {
		if v := shell.Judge(line, testContext()); v.Level() == shell.Allow || !slices.Contains(keys(v), d.key) {
			t.Errorf("%q: keys %v, want %s", line, keys(v), d.key)
		}
	}
	for _, line := range d.innocent {
		if v := shell.Judge(line, testContext()); v.Level() != shell.Allow {
			t.Errorf("%q: %v, want no question", line, v.Findings)
		}
	}
}

func TestVariablesThatDecideWhatRunsAreAskedAbout(t *testing.T) {
	t.Parallel()
	danger{"environment",
		[]string{
			"PATH=/tmp/x:$PATH ls", "export PATH=.:$PATH", "PATH=$PWD/bin:$PATH make", "PATH=/home/ada/work:$PATH make", "PATH=$PATH:. ls", "PATH=$PATH: ls", "PATH=$PATH:/tmp ls",
			"PATH=$EVIL:$PATH ls", "PATH+=:/tmp ls", "PATH=/home/bob/bin:$PATH ls", "sudo env PATH=/tmp ls", "env -u X LD_PRELOAD=x ls", "sudo LD_PRELOAD=x ls", "nice env LD_PRELOAD=x ls",
			"declare LD_PRELOAD=x", "readonly LD_PRELOAD=x", "f() { local LD_PRELOAD=x; ls; }", "x=LD_PRELOAD; export $x=/tmp/e", `export "PATH=/tmp"`, "export $(curl x)", "declare -x $UNKNOWN=1",
			"for LD_PRELOAD in x; do ls; done", "while read LD_PRELOAD; do ls; done", "mapfile PATH < x", "printf -v PATH x",
			"LD_LIBRARY_PATH=$PWD ls", "DYLD_LIBRARY_PATH=x ls", "PYTHONPATH=/tmp python3 x.py", "PYTHONPATH=../x python3 x.py", "NODE_PATH=$X node a.js", "GIT_DIR=/tmp/x git log",
			"ENV=./x sh", "ENV=$HOME/x sh", "PS1='$(id)' bash -i", "PS4='`id`' bash -x x.sh", "PAGER=/tmp/less git log", "PAGER='less +!id' git log", "EDITOR='vim -c :!id' git commit", "EDITOR='vim +!id' git commit",
			"GIT_SSH_COMMAND='ssh -o ProxyCommand=id' git fetch", "GIT_SSH_COMMAND='ssh -F x' git fetch", "BROWSER='sh -c id' x", "KUBE_EDITOR=./x kubectl get pods", "AWS_PAGER='sh -c id' aws s3 ls",
			"NODE_OPTIONS=-r./x npm test", "NODE_OPTIONS='--max-old-space-size=1 --loader x' npm test", "JAVA_TOOL_OPTIONS='-Xmx1g -javaagent:x.jar' mvn test", "MAVEN_OPTS=-XX:OnError=id mvn test",
			"RUBYOPT='-W0 -rx' ruby a.rb", "GOFLAGS='-mod=mod -toolexec=x' go test ./...", "MAKEFLAGS=--eval=x make", "CC='gcc -wrapper sh,-c' make", "CC=./gcc make", "SHELL=./sh make",
			"CARGO_TARGET_X86_RUNNER=x cargo test", "npm_config_script_shell=/tmp/x npm test", "HOME=/tmp git status", "make CC=/tmp/x", "make SHELL=./x", "./configure CC=/tmp/x",
			"hash -p x ls", "enable -f ./x.so y", "systemctl --user set-environment PATH=/tmp", "launchctl setenv PATH /tmp", "tmux set-environment PATH /tmp", "setx PATH C:/x",
		},
		[]string{
			`PATH="$PATH:$HOME/.local/bin"`, `export PATH="$HOME/.local/bin:$PATH"`, "export PATH=$PATH:$HOME/go/bin", "export PATH=$PATH:~/bin", "export PATH=/usr/local/go/bin:$PATH", "export PATH=$PATH:$(go env GOPATH)/bin",
			"export PATH", "export PATH=$PATH", `sudo env "PATH=$PATH" make install`, "PATH=/usr/bin:/bin make", "PATH+=:$HOME/.cargo/bin", `export PATH="$PATH:$PWD/node_modules/.bin"`, "PATH=/opt/homebrew/bin:$PATH brew list",
			"EDITOR=vim git commit", "EDITOR='code --wait' git commit", "GIT_EDITOR=true git rebase --continue", "GIT_SEQUENCE_EDITOR=: git rebase -i HEAD~2", "VISUAL=nano crontab -l", "PAGER=cat git log", "GIT_PAGER=cat git diff",
			"GIT_PAGER= git diff", "MANPAGER=cat man ls", "AWS_PAGER='' aws s3 ls", "PAGER='less -FRX' git log", "export GIT_PAGER=delta", "BROWSER=none npm start", "GIT_ASKPASS=true git fetch", "GIT_TERMINAL_PROMPT=0 git fetch",
			"GIT_SSH_COMMAND='ssh -i ~/.ssh/key -o IdentitiesOnly=yes' git fetch", "GIT_SSH_COMMAND='ssh -o StrictHostKeyChecking=no' git fetch",
			"NODE_OPTIONS=--max-old-space-size=4096 npm run build", `NODE_OPTIONS="$NODE_OPTIONS --no-warnings" npm test`, "NODE_OPTIONS=--experimental-vm-modules npx jest", "NODE_OPTIONS= npm test", "NODE_ENV=production npm run build", "ENV=production npm start", "ENV=dev make",
			"CGO_ENABLED=0 go build ./...", "GOFLAGS=-mod=mod go test ./...", "GOOS=linux GOARCH=arm64 go build", "MAKEFLAGS=-j4 make", `MAKEFLAGS="-j$(nproc)" make`, "export MAKEFLAGS=-j8", "CC=clang CXX=clang++ cmake ..", "CC='ccache gcc' make", "CC=aarch64-linux-gnu-gcc make",
			"make CC=gcc-12 CFLAGS='-O2 -g'", "make SHELL=/bin/bash", "./configure CC=clang --prefix=$HOME/x", "RUSTC_WRAPPER=sccache cargo build", "RUSTFLAGS='-C target-cpu=native' cargo build", "CARGO_TARGET_X_LINKER=x86_64-linux-musl-gcc cargo build",
			"JAVA_TOOL_OPTIONS=-Xmx2g mvn test", "MAVEN_OPTS='-Xmx1g -XX:MaxMetaspaceSize=512m' mvn package", "JAVA_HOME=/usr/lib/jvm/java-17 mvn test", "RUBYOPT=-W0 rspec", "PERL5LIB=lib perl x.pl", "RUBYLIB=lib ruby x.rb",
			"PYTHONPATH=. pytest", "PYTHONPATH=src:tests python3 -m pytest", `PYTHONPATH="$PYTHONPATH:$PWD/src" pytest`, "export PYTHONPATH=$PWD", "PYTHONUNBUFFERED=1 python3 x.py", "PYTHONDONTWRITEBYTECODE=1 pytest",
			"LD_LIBRARY_PATH=/usr/local/cuda/lib64:$LD_LIBRARY_PATH ./app", "LD_PRELOAD= ls", "unset LD_PRELOAD", "PS4='+ ${BASH_SOURCE}:${LINENO}: ' bash -x x.sh", "HOME=/home/ada ls", "path=/tmp/x; ls $path", "home=/tmp; ls $home", "env=prod; echo $env",
			"export FOO=$(cat x)", `export "FOO=bar"`, "declare -A map", "local x=1", "export -p", "for i in 1 2; do echo $i; done", "while read -r line; do echo \"$line\"; done < x", "printf -v now %s x", "SHELL=/bin/zsh ls", "TERM=xterm-256color ls",
			"complete -F _f git", "hash -r", "bind 'set show-all-if-ambiguous on'", "XDG_CONFIG_HOME=$HOME/.config nvim --version", "TZ=UTC date", "LC_ALL=C sort x", "DEBUG=1 ./run.sh", "CI=true npm test",
		}}.check(t)
}
