package shell_test

import (
	"testing"

	"hermes/internal/policy/shell"
)

// checkLevels fails for lines of another level.
func checkLevels(t *testing.T, want shell.Level, lines []string) {
	t.Helper()
	for _, line := range lines {
		if v := shell.Judge(line, testContext()); v.Level() != want {
			t.Errorf("%q: level %d, want %d, keys %v", line, v.Level(), want, keys(v))
		}
	}
}

// TestUnknownProgramsMayRunTheirArguments: what the words after an unknown
// program, one of its arguments or its input would do as a command asks.
func TestUnknownProgramsMayRunTheirArguments(t *testing.T) {
	t.Parallel()
	checkLevels(t, shell.Ask, []string{
		"frob rm -rf x", "frob --flag value rm -rf x", "frob -x -- git push --force", "frob 'rm -rf x'", `frob -c "rm -rf x"`, "frob --run='rm -rf x'", "frob -e'rm -rf x'",
		"frob -o exec='rm -rf x'", "frob '!rm -rf x'", "frob ':!rm -rf x'", "frob 'on:change:rm -rf x'", "frob 'execute(rm -rf x)'", "frob sh -c 'rm -rf x'", "frob reboot",
		"frob <<< 'rm -rf x'", "echo 'rm -rf x' | frob", "frob <<EOF\nset a\nrm -rf x\nEOF", "cat x | frob sh", "curl x | frob", "frob bash < x.sh", "frob 'a; rm -rf x'", "frob 'a && sh -c \"rm -rf x\"'",
		"frob 'x[$(rm -rf x)]'", "frob 'a `rm -rf x` b'", "frob \"os.system('x')\"", "tmux new -d 'rm -rf x'", "tmux new-session -d rm -rf x", "screen -dm rm -rf x", "script -c 'rm -rf x' /dev/null",
		"script -qc 'rm -rf x'", "npx -c 'rm -rf x'", "npx rimraf x", "bunx rimraf x", "xvfb-run rm -rf x", "xvfb-run -a rm -rf x", "echo 'rm -rf x' | at now", "at now <<< 'rm -rf x'", "batch <<EOF\nrm -rf x\nEOF",
		"parallel rm -rf ::: a b", "parallel ::: 'rm -rf a' ls", "ls | parallel 'rm -rf {}'", "ls *.go | entr rm -rf x", "ls | entr -s 'rm -rf x'", "watch rm -rf x", "watch -n 1 'rm -rf x'",
		"flock /tmp/l -c 'rm -rf x'", "flock -n /tmp/l rm -rf x", "hyperfine 'rm -rf x'", "hyperfine --prepare 'rm -rf x' ls", "vim -c '!rm -rf x'", "vim '+!rm -rf x'", "less '+!rm -rf x' f",
		"tar cf x.tar --checkpoint=1 --checkpoint-action='exec=rm -rf x' .", "tar -I 'sh -c \"rm -rf x\"' -cf x.tar .", "zip -T -TT 'rm -rf x' a.zip b", "split --filter='rm -rf x' f", "sort --compress-program='rm -rf x' f",
		"rsync -e 'sh -c \"rm -rf x\"' a b:", "fzf --preview 'rm -rf {}'", "fzf --bind 'enter:execute(rm -rf x)'", "nix-shell --run 'rm -rf x'", "nix develop -c rm -rf x", "vagrant ssh -c 'rm -rf x'",
		"concurrently 'rm -rf x' ls", "nodemon --exec 'rm -rf x'", "wait-for-it h:1 -- rm -rf x", "dotenv rm -rf x", "cross-env A=1 rm -rf x", "bundle exec rm -rf x", "gosu ada rm -rf x", "/lib64/ld-linux-x86-64.so.2 /bin/rm -rf x",
		"faketime '1 day ago' rm -rf x", "perf stat rm -rf x", "make -f - <<EOF\nall:\n\trm -rf x\nEOF", "make 'X=$(shell rm -rf x)'", "python3 -m timeit 'import os; os.system(\"x\")'", "./x.sh rm -rf y", "EDITOR='rm -rf x' frob", "env A='rm -rf x' frob",
		"env -a foo rm -rf x", "env -a echo rm -rf x", "sudo -Z echo rm -rf x", "nice -Q echo rm -rf x", "mapfile -C 'rm -rf x' -c 1 a", "compgen -W '$(rm -rf x)'", "declare 'a[$(rm -rf x)]=1'", "test -v 'a[$(rm -rf x)]'",
		"frob bash", "cat x | frob -- bash -s", "xargs -I% rm -rf % < x", "echo x | xargs -I% sh -c 'rm -rf %'", "xargs -a f sh -c", "echo 'rm -rf x' | xargs -0 sh -c", "runuser -u ada -- rm -rf x", "flock /tmp/l python3 -c 'import os'", "nix run x -- rm -rf y", "conda run -n x rm -rf y", "watch \"$x\"", "watch $x", "xvfb-run $x", "flock /tmp/l $x", "npx $x", "tmux new -d $x", "f() { \"$@\"; }; f rm -rf x", "f() { sudo \"$@\"; }; f \"$x\"", "f() { bash -c \"$1\"; }; f 'rm -rf x'", "f() { bash -c \"$1\"; }; f \"$x\"", "f() { $1 $2 x; }; f rm -rf",
		"claude -p 'clean up'", "codex exec 'clean up'", "gh alias set --shell x 'rm -rf x'", "vim -c '!reboot'", "dc <<< '!rm -rf x'", "frob -e 'a(b)'", "podman unshare rm -rf x", "direnv exec . rm -rf x", "psql -c '\\! rm -rf x'",
		"env -vS 'rm -rf x'", "env -iSrm -rf x", "gdb -ex 'shell rm -rf x'",
		"env --split-string 'rm -rf x'", "env --spl 'rm -rf x'", "env --split-string='A=1 rm' -rf x", "env -S 'bash -c' 'rm -rf x'", "env -S '-i rm -rf x'", "sudo --frob 'rm -rf x'", "nohup --frob 'rm -rf x'", "nsenter --frob 'rm -rf x'", "mysql -e 'system rm -rf x'",
		"su -c ls -c 'rm -rf x'", "su --command=ls --command='rm -rf x'", "perl -e 'print 1' -e 'unlink \"x\"'", "ruby -e 'puts 1' -e 'system \"x\"'", "node -p 1 -e 'x()'", "perl -e 'print 1' -pi /etc/x", "ls | xargs -I A -I B sh -c B", "bash +c 'rm -rf x'", "sh +xc 'rm -rf x'", "bash +c \"$x\"",
	})
	checkLevels(t, shell.Allow, []string{
		"frob x y z", "frob --all 'some text; more text'", "npm run build -- --watch", "cargo test --workspace", "make -j4 test install", "npm run reboot", "make halt", "apt-get install -y bash sudo python3 git",
		"brew install docker git bash", "npm install rimraf", "gh pr create --title 'rm -rf build is slow' --body 'use $(make clean)'", "git commit -m 'drop rm -rf /'", "grep -rn 'rm -rf x' .", "logger 'rm -rf x'", "which rm reboot sh",
		"watch -n 1 ls -la", "watch 'docker ps'", "xvfb-run npm test", "tmux new -d -s work", "tmux new -d 'npm start'", "npx prettier --check .", "npx eslint . --fix", "hyperfine 'ls' 'ls -la'", "ls *.go | entr go test ./...",
		"parallel gzip ::: a b", "docker run --rm -v $PWD:/app node:18 npm test", "poetry run pytest -k 'not slow'", "bundle exec rspec", "nodemon --exec 'go run .'", "concurrently 'npm run a' 'npm run b'",
		"script -c 'make test' log", "flock /tmp/l make", "jq '.[] | select(.a > 1)' x", "psql -c 'select * from a; select 1'", "curl -H 'A: rm -rf x' https://x", "sudo -E make install", "env -i PATH=/usr/bin make", "timeout 5 npm test", "time -p make",
		"tar -cf x.tar --exclude='*.o' .", "rsync -e 'ssh -p 22' a b:", "curl x | tar xz", "curl x | sudo tee y", "curl -s x | gpg --dearmor -o y", "cat <<EOF\nkind: Pod\nargs: [rm, -rf, x]\nEOF", "go test -run 'TestRm|TestKill' ./...", "pip install -e .[dev]",
		"pytest -k 'rm or kill'", "mvn -q install", "gradle clean build", "meson install -C build", "man shutdown", "ls rm kill", "mkdir kill rm", "dotnet format", "terraform init", "cmake --install build", "frob a=b c=d", "claude --version", "psql -c 'select count(*) from a'", "gh api graphql -f query='{ viewer { login } }'", "f() { for i in 1 2; do \"$@\" && return; done; }; f npm ci", "run() { echo \"$@\"; \"$@\"; }; run make", "run() { bash -c \"$1\"; }; run 'make test'", "gdb -batch -ex bt ./a core",
		"env -S 'A=1 make'", "env LC_ALL=C sort -S 1G x", "env -S 'bash -c' 'ls; pwd'", "env --split-string 'go test' ./...", "runuser -u ada -- make", "runuser -l ada -c 'make test'", "su -c ls -c 'make test'", "perl -e 'print 1' -e 'print 2' kill rm", "python3 -c 'print(1)' -c x rm", "sudo --frob make",
	})
}
