//go:build amd64 || arm64

package confine_test

// everyday is the work that must run inside: some lines of a day, by kind.
var everyday = []group{
	{"git", gitTasks}, {"go", goTasks}, {"node", nodeTasks}, {"python", pythonTasks}, {"rust", rustTasks}, {"native", nativeTasks}, {"shell", shellTasks},
}

// commit makes a repository with one commit.
const commit = "git init -q && echo one > a.txt && git add . && git commit -qm one"

var gitTasks = []task{
	{name: "init", alone: true, tools: "git", lines: []string{"git init", "git status --short", "git symbolic-ref HEAD"}, want: "refs/heads/main"},
	{name: "commit", alone: true, tools: "git", files: map[string]string{"a.txt": "one\n"}, lines: []string{"git init -q", "git add -A", "git commit -m one", "git log --format=%an"}, want: "Ada"},
	{name: "branch", alone: true, tools: "git", lines: []string{commit, "git branch side", "git switch side", "git switch -c other", "git branch -d side", "git branch -m other renamed", "git branch --show-current"}, want: "renamed"},
	{name: "merge", alone: true, tools: "git", lines: []string{commit, "git checkout -q -b side", "echo two > b.txt; git add b.txt; git commit -qm two", "git checkout -q main", "echo three > c.txt; git add c.txt; git commit -qm three",
		"git merge --no-edit side", "ls"}, want: "b.txt"},
	{name: "conflict", alone: true, tools: "git", lines: []string{commit, "git checkout -q -b side && echo two > a.txt && git commit -qam two", "git checkout -q main && echo three > a.txt && git commit -qam three",
		"! git merge side", "git checkout --theirs a.txt && git add a.txt && git commit --no-edit -q", "cat a.txt"}, want: "two"},
	{name: "rebase", alone: true, tools: "git", lines: []string{commit, "git checkout -q -b side && echo two > b.txt && git add . && git commit -qm two", "git checkout -q main && echo three > c.txt && git add . && git commit -qm three",
		"git rebase main side", "GIT_SEQUENCE_EDITOR=true git rebase -q -i main", "git log --format=%s | head -1"}, want: "two"},
	{name: "stash", alone: true, tools: "git", lines: []string{commit, "echo two > a.txt; git stash", "git stash list", "git stash pop", "git diff --stat"}, want: "a.txt"},
	{name: "tag", alone: true, tools: "git", lines: []string{commit, "git tag v1", "git tag -a v2 -m second", "git describe"}, want: "v2"},
	{name: "worktree", alone: true, tools: "git", lines: []string{commit, "git worktree add -q wt -b side", "cd wt && echo two > b.txt && git add . && git commit -qm two", "cd .. && git worktree remove wt", "git log --format=%s side | head -1"}, want: "two"},
	{name: "submodule", alone: true, tools: "git", lines: []string{
		"git init -q lib && cd lib && echo lib > lib.txt && git add . && git commit -qm lib; cd ..",
		"git init -q app && cd app && git -c protocol.file.allow=always submodule add ../lib lib 2>&1; git status --short", "ls lib"}, want: "lib.txt"},
	{name: "clone and push", alone: true, tools: "git", lines: []string{"git clone -q https://git.test/one-$LAYER.git one", "cd one && echo $RANDOM$RANDOM > a.txt && git add . && git commit -qm one",
		"git push -q -u origin HEAD:main", "git fetch origin", "git checkout -q -b side --track origin/main", "git pull -q --rebase", "git config branch.side.merge"}, want: "refs/heads/main"},
	{name: "remote", alone: true, tools: "git", lines: []string{commit, "git remote add origin https://git.test/two-$LAYER.git", "git push -q -u origin main", "git ls-remote --heads origin", "git status -sb"}, want: "main...origin/main"},
	{name: "local clone", alone: true, tools: "git", lines: []string{"git init -q one && cd one && echo one > a.txt && git add . && git commit -qm one; cd ..", "git clone -q one two", "cd two && git log --oneline | wc -l"}, want: "1"},
	{name: "settings", alone: true, tools: "git", lines: []string{commit, "git config user.name Bob", "git config pull.rebase true", "git config --get user.name"}, want: "Bob"},
	{name: "amend and reset", alone: true, tools: "git", lines: []string{commit, "git commit -q --amend -m better", "echo x >> a.txt; git add a.txt; git restore --staged a.txt; git commit -qam x", "git reset -q --soft HEAD", "git revert --no-edit HEAD", "git log --oneline | wc -l"}, want: "3"},
	{name: "look", alone: true, tools: "git", lines: []string{commit, "git show --stat; git blame a.txt; git grep one; git ls-files; git rev-parse HEAD; git diff HEAD; git shortlog -s HEAD", "git log --graph --oneline --all"}, want: "one"},
	{name: "clean", alone: true, tools: "git", lines: []string{commit, "touch junk; git clean -fdn; rm junk", "git gc -q", "git fsck", "git status --porcelain | wc -l"}, want: "0"},
	{name: "patch", alone: true, tools: "git", lines: []string{commit, "echo two >> a.txt; git diff > p.patch; git stash -q; git apply p.patch; git commit -qam two", "git format-patch -1 -o out", "git switch -qc other HEAD~1 && git am -q out/*.patch", "git switch -qc third HEAD~1 && git cherry-pick other", "git archive HEAD -o x.tar && tar tf x.tar"}, want: "a.txt"},
	{name: "bisect", alone: true, tools: "git", lines: []string{commit, "for i in 1 2 3 4; do echo $i > n; git add n; git commit -qm $i; done", "git bisect start HEAD HEAD~4 && git bisect run sh -c 'test $(cat n 2>/dev/null || echo 0) -lt 3'", "git bisect reset"}, want: ""},
	{name: "hook is refused quietly", alone: true, tools: "git", lines: []string{commit, "ls .git/hooks | head -3", "! git show nothing"}},
}

var goTasks = []task{
	{name: "hello", tools: "go", lines: []string{"go mod init example.org/hello", "printf 'package main\\n\\nfunc main() { println(\"hello\") }\\n' > main.go", "go vet ./...", "gofmt -l .", "go run ."}, want: "hello"},
	{name: "test", tools: "go", files: map[string]string{"go.mod": "module x\n\ngo 1.21\n", "a_test.go": goTest}, lines: []string{"go test ./...", "go test -run Listener -v . | grep -c PASS"}, want: "2"},
	{name: "build", tools: "go", files: map[string]string{"go.mod": "module x\n\ngo 1.21\n", "cmd/x/main.go": "package main\n\nfunc main() { println(\"built\") }\n"}, lines: []string{"go build -o bin/x ./cmd/x", "./bin/x", "go list ./...", "go env GOCACHE GOMODCACHE", "go clean", "GOBIN=$PWD/bin2 go install ./cmd/x && ./bin2/x"}, want: "built"},
	{name: "module", tools: "go", files: map[string]string{"go.mod": "module x\n\ngo 1.21\n", "main.go": "package main\n\nimport \"example.test/demo\"\n\nfunc main() { println(demo.Word) }\n"}, lines: []string{"go get example.test/demo@latest", "go mod tidy", "go mod download", "go mod verify", "go run ."}, want: "hello"},
	{name: "server", tools: "go curl", files: map[string]string{"go.mod": "module x\n\ngo 1.21\n", "main.go": goServer}, slow: true, lines: []string{"go build -o server .", "& ./server", "until curl -sf http://127.0.0.1:$PORT/; do sleep 0.1; done"}, want: "served"},
	{name: "race and cgo", tools: "go gcc", files: map[string]string{"go.mod": "module x\n\ngo 1.21\n", "a_test.go": goTest}, slow: true, lines: []string{"CGO_ENABLED=1 go test -race ./..."}, want: "ok"},
	{name: "bench and cover", tools: "go", files: map[string]string{"go.mod": "module x\n\ngo 1.21\n", "a.go": "package x\n\nfunc F() int { return 1 }\n", "b_test.go": "package x\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { F() }\nfunc BenchmarkF(b *testing.B) { for i := 0; i < b.N; i++ { F() } }\n"}, slow: true,
		lines: []string{"go test -bench . -benchtime 10x", "go test -cover -coverprofile=c.out", "go tool cover -func=c.out"}, want: "100.0%"},
}

const goTest = `package x

import (
	"net"
	"os"
	"testing"
)

func TestListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { c, _ := l.Accept(); c.Write([]byte("x")); c.Close() }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Fatal(n, err)
	}
}

func TestTemp(t *testing.T) {
	if err := os.WriteFile(t.TempDir()+"/x", nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
`

const goServer = `package main

import (
	"fmt"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "served") })
	panic(http.ListenAndServe(":"+os.Getenv("PORT"), nil))
}
`

var nodeTasks = []task{
	{name: "npm init", tools: "npm", lines: []string{"npm init -y", "npm pkg set scripts.hi='echo hi'", "npm run -s hi"}, want: "hi"},
	{name: "npm install", tools: "npm", alone: true, lines: []string{"npm init -y > /dev/null", "npm install demo", "node -p \"require('demo')\"", "npm ls"}, want: "demo@1.0.0"},
	{name: "npm ci", tools: "npm", lines: []string{"npm init -y >/dev/null; npm install demo; rm -rf node_modules", "npm ci", "npx demo"}, want: "hello"},
	{name: "npm test", tools: "npm", files: map[string]string{"package.json": `{"name":"x","version":"1.0.0","scripts":{"test":"node --test"}}`, "a.test.js": "const test = require('node:test'); const assert = require('node:assert');\ntest('adds', () => assert.equal(1 + 1, 2));\n"}, lines: []string{"npm test"}, want: "# pass 1"},
	{name: "npx from the registry", tools: "npm", lines: []string{"npx --yes demo"}, want: "hello"},
	{name: "dev server", tools: "node curl", files: map[string]string{"server.js": "require('http').createServer((q, r) => r.end('served')).listen(process.env.PORT)\n"}, lines: []string{"& node server.js", "until curl -sf http://127.0.0.1:$PORT/; do sleep 0.1; done", "curl -s http://localhost:$PORT/"}, want: "served"},
	{name: "network interfaces", tools: "node", lines: []string{"node -e 'console.log(Object.keys(os.networkInterfaces()))'"}, want: "lo"},
	{name: "worker and child", tools: "node", lines: []string{"node -e \"const {Worker}=require('worker_threads'); new Worker('require(\\\"worker_threads\\\").parentPort.postMessage(42)',{eval:true}).on('message',m=>console.log(m, require('child_process').execSync('echo child').toString()))\""}, want: "child"},
	{name: "watch a file", tools: "node", lines: []string{"touch seen && timeout 20 node -e \"const fs=require('fs'); const w=fs.watch('seen',()=>{console.log('changed');w.close();process.exit()}); setTimeout(()=>fs.writeFileSync('seen','x'),100)\""}, want: "changed"},
	{name: "missing module", tools: "node", lines: []string{"! node -e \"require('./nothing')\"", "! npm run nothing", "! node missing.js"}},
	{name: "esm and fetch on loopback", tools: "node", lines: []string{"node --input-type=module -e \"import http from 'node:http'; const s=http.createServer((q,r)=>r.end('yes')).listen(0,async()=>{http.get({port:s.address().port},r=>r.on('data',d=>{console.log(''+d);s.close()}))})\""}, want: "yes"},
	{name: "unix socket", tools: "node", only: "A", lines: []string{"node -e \"const net=require('net');const s=net.createServer(c=>c.end('over a socket')).listen('/tmp/s.sock',()=>net.connect('/tmp/s.sock').on('data',d=>{console.log(''+d);s.close()}))\""}, want: "over a socket"},
}

var pythonTasks = []task{
	{name: "modules", tools: "python3", lines: []string{"python3 -c 'import ssl, sqlite3, ctypes, json, asyncio; print(sqlite3.connect(\":memory:\").execute(\"select 40+2\").fetchone()[0])'"}, want: "42"},
	{name: "venv and pip", tools: "python3", lines: []string{"python3 -m venv .venv", ". .venv/bin/activate && pip install demo", ".venv/bin/python -c 'import demo; print(demo.word)'"}, want: "hello"},
	{name: "unittest", tools: "python3", files: map[string]string{"test_x.py": "import unittest, tempfile\n\nclass T(unittest.TestCase):\n    def test_x(self):\n        with tempfile.NamedTemporaryFile() as f:\n            f.write(b'x')\n"}, lines: []string{"python3 -m unittest -v 2>&1"}, want: "OK"},
	{name: "http server", tools: "python3 curl", files: map[string]string{"page.html": "a page"}, lines: []string{"& python3 -m http.server $PORT", "until curl -sf http://127.0.0.1:$PORT/page.html; do sleep 0.1; done"}, want: "a page"},
	{name: "multiprocessing", tools: "python3", only: "A", files: map[string]string{"m.py": "from multiprocessing import Pool\n\ndef f(x):\n    return x * x\n\nif __name__ == '__main__':\n    with Pool(2) as p:\n        print(sum(p.map(f, range(10))))\n"}, lines: []string{"python3 m.py"}, want: "285"},
	{name: "processes with pipes", tools: "python3", lines: []string{"python3 -c 'import subprocess; print(subprocess.run([\"echo\", \"child\"], capture_output=True, text=True).stdout)'"}, want: "child"},
	{name: "threads", tools: "python3", lines: []string{"python3 -c 'from concurrent.futures import ThreadPoolExecutor as P; print(sum(P(4).map(lambda x: x*x, range(10))))'"}, want: "285"},
	{name: "asyncio", tools: "python3", lines: []string{"python3 -c 'import asyncio; print(asyncio.run(asyncio.sleep(0, \"slept\")))'"}, want: "slept"},
	{name: "asyncio subprocess", tools: "python3", lines: []string{"python3 -c 'import asyncio\nasync def m():\n p = await asyncio.create_subprocess_exec(\"echo\", \"sub\", stdout=-1)\n print((await p.communicate())[0])\nasyncio.run(m())'"}, want: "sub"},
	{name: "loopback", tools: "python3", lines: []string{"python3 -c 'import socket; s=socket.create_server((\"127.0.0.1\",0)); c=socket.create_connection(s.getsockname()); d,_=s.accept(); d.send(b\"both\"); print(c.recv(9))'"}, want: "both"},
	{name: "https through the proxy", tools: "python3", lines: []string{"python3 -c 'import urllib.request; print(urllib.request.urlopen(\"https://files.test/hello.txt\").read().decode())'"}, want: "hello from outside"},
	{name: "a missing file", tools: "python3", lines: []string{"! python3 -c 'open(\"missing.txt\")'", "! python3 missing.py", "! python3 -c 'import nothing'"}},
	{name: "pip in a target", tools: "python3", slow: true, lines: []string{"python3 -m pip install --target site demo", "PYTHONPATH=site python3 -c 'import demo; print(demo.word)'", "python3 -m compileall -q site", "python3 -m pip list"}, want: "pip"},
	{name: "sqlite file", tools: "python3", lines: []string{"python3 -c 'import sqlite3; c=sqlite3.connect(\"x.db\"); c.execute(\"pragma journal_mode=wal\"); c.execute(\"create table t(a)\"); c.execute(\"insert into t values (7)\"); c.commit(); print(c.execute(\"select a from t\").fetchone())'"}, want: "7"},
}

var rustTasks = []task{
	{name: "cargo new", tools: "cargo", lines: []string{"cargo new -q hello", "cd hello && cargo run -q"}, want: "Hello, world!"},
	{name: "cargo test", tools: "cargo", slow: true, lines: []string{"cargo new -q --lib lib", "cd lib && cargo test 2>&1"}, want: "test result: ok"},
	{name: "a dependency", tools: "cargo", slow: true, files: map[string]string{"Cargo.toml": "[package]\nname = \"app\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[dependencies]\ndemo = { version = \"1\", registry = \"local\" }\n", "src/main.rs": "fn main() { println!(\"{}\", demo::WORD); }\n"},
		lines: []string{"CARGO_REGISTRIES_LOCAL_INDEX=sparse+https://crates.test/index/ cargo run -q"}, want: "hello"},
	{name: "rustc", tools: "rustc", lines: []string{"printf 'fn main() { println!(\"plain\"); }\\n' > a.rs && rustc a.rs && ./a", "rustc --version"}, want: "rustc"},
}

var nativeTasks = []task{
	{name: "gcc", tools: "gcc", lines: []string{"cat > a.c <<'E'\n#include <stdio.h>\nint main(void) { puts(\"compiled\"); }\nE\ngcc -O1 -o a a.c && ./a"}, want: "compiled"},
	{name: "make", tools: "make gcc", files: map[string]string{"Makefile": "all: x y z\n\n%: %.c\n\tcc -o $@ $<\n\nclean:\n\trm -f x y z\n", "x.c": "int main(void) { return 0; }\n", "y.c": "int main(void) { return 0; }\n", "z.c": "int main(void) { return 0; }\n"}, lines: []string{"make -j4", "./x && ./y && ./z", "make -j", "make clean && ls"}, want: "Makefile"},
	{name: "cmake", tools: "cmake gcc make", slow: true, files: map[string]string{"CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(x C)\nadd_executable(x x.c)\n", "x.c": "int main(void) { return 0; }\n"}, lines: []string{"cmake -B build -S . && cmake --build build -j2", "./build/x && echo ran"}, want: "ran"},
	{name: "java", tools: "javac java", slow: true, files: map[string]string{"A.java": "public class A { public static void main(String[] a) { System.out.println(\"from java \" + System.getProperty(\"java.io.tmpdir\")); } }\n"}, lines: []string{"javac A.java", "java A"}, want: "from java"},
	{name: "library and pkg-config", tools: "gcc", lines: []string{"echo 'int f(void) { return 3; }' > f.c && gcc -shared -fPIC -o libf.so f.c && echo 'int f(void); int main(void) { return f(); }' > m.c && gcc m.c -L. -lf -o m && ! LD_LIBRARY_PATH=. ./m; ar rcs libf.a && ls"}, want: "libf.so"},
	{name: "a compile error", tools: "gcc", lines: []string{"echo 'int main(void) { return x; }' > bad.c", "! gcc bad.c", "! gcc missing.c", "! make nothing"}},
}

var shellTasks = []task{
	{name: "look around", lines: []string{"pwd; ls -la; ls -la ..; tree . 2>/dev/null || true", "stat .; file /bin/sh 2>/dev/null || true", "which sh; type ls; command -v cat", "du -sh .", "df -h . && df -h"}, want: "Mounted on"},
	{name: "who", lines: []string{"whoami; id; groups 2>/dev/null || true; hostname", "getent passwd root; getent hosts localhost", "uname -a; cat /etc/os-release; nproc; uptime || true; free -m"}, want: "Mem"},
	{name: "ps", lines: []string{"ps aux | head -3", "ps -ef | grep -c sh", "pgrep -l sh || true; top -bn1 2>/dev/null | head -5", "ls /proc/self/fd && cat /proc/meminfo | head -2 && cat /proc/cpuinfo | head -1; cat /proc/loadavg"}},
	{name: "text", files: map[string]string{"a.txt": "b 2\na 1\nc 3\n", "sub/b.txt": "needle\n"}, lines: []string{"sed -i 's/a/z/' a.txt && awk '{s+=$2} END {print s}' a.txt", "sort a.txt | uniq -c | cut -c1-3 | tr -d ' ' | paste -sd+", "grep -rn needle .; find . -name '*.txt' -exec wc -l {} +; find . -type f | xargs grep -l needle", "diff a.txt sub/b.txt || true; head -1 a.txt; tail -n +2 a.txt; tee c.txt < a.txt", "comm -12 a.txt c.txt 2>/dev/null | wc -l"}, want: "3"},
	{name: "ripgrep", tools: "rg", files: map[string]string{"a.txt": "needle\n"}, lines: []string{"rg needle", "rg -l needle . | wc -l", "! rg nothing-here"}},
	{name: "jq", tools: "jq", lines: []string{"echo '{\"a\": [1, 2]}' > a.json && jq -c '.a | add' a.json"}, want: "3"},
	{name: "archives", tools: "tar gzip", lines: []string{"mkdir d && echo x > d/x && tar czf d.tgz d && rm d/x && tar xzf d.tgz && cat d/x", "gzip -k d/x && zcat d/x.gz; xz --version > /dev/null || true; tar tf d.tgz"}, want: "d/x"},
	{name: "zip", tools: "zip unzip", lines: []string{"echo x > x && zip -q x.zip x && rm x && unzip -q x.zip && cat x"}, want: "x"},
	{name: "zip by python", tools: "python3", lines: []string{"echo x > x && python3 -m zipfile -c x.zip x && python3 -m zipfile -l x.zip"}, want: "x"},
	{name: "sqlite3", tools: "sqlite3", lines: []string{"sqlite3 x.db 'create table t(a); insert into t values (7); select a from t'"}, want: "7"},
	{name: "heredoc", lines: []string{"cat > a.sh <<'E'\n#!/bin/sh\nread x\necho \"got $x\"\nE\nchmod +x a.sh; ./a.sh <<< word"}, want: "got word"},
	{name: "substitution", lines: []string{"diff <(echo a) <(echo b) || true; cat <(printf 'x\\ny\\n') | wc -l"}, want: "2"},
	{name: "jobs", lines: []string{"for i in 1 2 3; do (sleep 0.05; echo $i >> out) & done; wait; wc -l < out", "sleep 100 & kill $! && wait $! || echo ended"}, want: "ended"},
	{name: "a later command ends a process", lines: []string{"sleep 300 & echo $! > pid", "kill $(cat pid) && echo killed"}, want: "killed"},
	{name: "coprocess and fifo", lines: []string{"mkfifo f; (echo through > f &); cat f", "coproc cat; echo co >&${COPROC[1]}; read -u ${COPROC[0]} x; echo $x"}, want: "co"},
	{name: "limits", lines: []string{"ulimit -a > /dev/null; ulimit -n 256; ulimit -n", "ulimit -c 0 && timeout 5 true && nice true"}},
	{name: "mktemp", lines: []string{"f=$(mktemp) && echo x > $f && cat $f && rm $f", "d=$(mktemp -d) && cd $d && touch a && cd - && rm $d/a && rmdir $d", "t=$(mktemp -p . x.XXXX) && ls $t", "echo $TMPDIR; touch ${TMPDIR:-/tmp}/y && rm ${TMPDIR:-/tmp}/y"}},
	{name: "tmp itself", only: "A", lines: []string{"echo x > /tmp/x && cat /tmp/x", "echo y > /var/tmp/y && ls /tmp"}, want: "y"},
	{name: "shared memory", only: "A", lines: []string{"echo x > /dev/shm/x && cat /dev/shm/x && rm /dev/shm/x"}, want: "x"},
	{name: "devices", lines: []string{"echo x > /dev/null; head -c 4 /dev/zero | wc -c; head -c 4 /dev/urandom | wc -c; echo err > /dev/stderr; echo out > /dev/stdout", "cat < /dev/null; echo x | cat /dev/stdin"}, want: "x"},
	{name: "long output", lines: []string{"seq 1 200000 | tail -1; seq 1 100000"}, want: "99999"},
	{name: "export and cd", lines: []string{"export WORD=kept; mkdir -p deep/er; cd deep/er", "pwd; echo $WORD; cd ../..; ls -d deep", "echo $WORD $(basename \"$PWD\")"}, want: "kept export and cd"},
	{name: "functions and traps", lines: []string{"f() { local x=$1; trap 'echo trapped' EXIT; echo f $x; }; f 1", "set -euo pipefail; for x in a b; do [[ $x == a ]] && continue; echo $x; done; arr=(1 2 3); echo ${#arr[@]} $((2**10))"}, want: "1024"},
	{name: "terminal", lines: []string{"tty read -p 'go on? ' x; echo answer=$x; test -t 0 && test -t 1 && echo x > /dev/tty && stty size"}, want: "40 120"},
	{name: "terminal program", tools: "python3", lines: []string{"tty python3 -c 'print(input(\"name? \") + \"!\")'"}, want: "yes!"},
	{name: "pager and editor variables", lines: []string{"echo x | less -F || cat; PAGER=cat EDITOR=true sh -c '$EDITOR x'"}},
	{name: "packages", tools: "apt dpkg", lines: []string{"apt list --installed 2>/dev/null | wc -l", "dpkg -l | tail -1; dpkg -S /bin/sh || true; apt-cache policy bash | head -3"}, want: "bash"},
	{name: "locale", lines: []string{"locale | head -3; printf 'äöü\\n' | wc -m; LC_ALL=C sort /etc/hosts | head -1 > /dev/null", "echo $LANG"}, want: "UTF-8"},
	{name: "time zone", lines: []string{"date; date +%Z; TZ=America/New_York date +%Z; ls -l /etc/localtime 2>/dev/null | head -1", "TZ=Asia/Tokyo date -d @0 +%H"}, want: "09"},
	{name: "users home", lines: []string{"echo x > ~/own && cat ~/own && rm ~/own", "mkdir -p ~/.config/app && echo k=v > ~/.config/app/x && cat ~/.config/app/x", "cd ~ && pwd && cd - > /dev/null", "ls -a ~ > /dev/null; test -w ~ && echo writable"}, want: "writable"},
	{name: "curl", tools: "curl", lines: []string{"curl -sS https://files.test/hello.txt", "curl -fsSLO https://files.test/hello.txt && cat hello.txt", "! curl -sf https://files.test/missing"}},
	{name: "harmless failures", lines: []string{"! cat missing.txt", "! ls nothing", "! cd nothing", "! ./missing.sh", "! no-such-program --help", "! test -e x", "! grep x /etc/hostname-missing", "! mkdir a/b/c", "touch plain; ! ./plain 2>&1", "! cat /nonexistent/file"}},
	{name: "modes and links", lines: []string{"echo x > a; chmod 600 a; ln -s a l; ln a h; readlink -f l; stat -c %a a; touch -d yesterday a; mv h b; cp -a a c; rm -f a b c l", "umask; install -m 755 /dev/null tool; rsync --version > /dev/null 2>&1 || true; ls"}, want: "tool"},
	{name: "move folders", lines: []string{"mkdir -p x/y z && echo 1 > x/y/f && mv x/y z/ && cat z/y/f && cp -r z w && rm z/y/f && cat w/y/f"}, want: "1"},
	{name: "perl", tools: "perl", lines: []string{"perl -MPOSIX -e 'print strftime(\"%Y\", gmtime(0)), qq(\\n)'; echo a b | perl -lane 'print $F[1]'"}, want: "b"},
	{name: "watch a folder", tools: "inotifywait", lines: []string{"(sleep 0.2; touch new) & timeout 10 inotifywait -qe create . && wait"}, want: "CREATE"},
	{name: "openssl", tools: "openssl", lines: []string{"openssl rand -hex 4; echo x | openssl dgst -sha256; echo x | sha256sum; echo x | base64 | base64 -d"}, want: "x"},
	{name: "man and help", lines: []string{"bash --help | head -1; ls --help | head -1; git --help 2>/dev/null | head -1; man -w ls 2>/dev/null || true"}},
	{name: "xargs in parallel", lines: []string{"seq 8 | xargs -P4 -n1 echo | wc -l", "seq 3 | parallel echo 2>/dev/null || true; yes | head -3 | wc -l"}},
	{name: "timing and exit", lines: []string{"time true; (exit 3) || echo $?", "! false", "! sh -c 'exit 9'", "! sh -c 'kill -TERM $$'"}},
}
