package inspect_test

import (
	"testing"

	"hermes/internal/policy/shell/inspect"
)

func TestLocalKnowsWhatMayFetch(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"cat notes.md": true, "go test ./...": true, "cd sub && make test | tail -5": true, "git log --oneline -3": true, "CI=1 pytest -q": true,
		"grep -rn x . || true": true, "npm test": true, "sed -n 1,5p a.go; wc -l a.go": true,

		"": false, "curl https://x": false, "curl x.example": false, "wget x": false, "cat <(curl x)": false, "git fetch": false, "git -C /x log": false, "git pull && ls": false,
		"go get x": false, "go run example.org/x@latest": false, "python3 fetch.py": false, "./fetch": false, "sh -c 'curl x'": false, "cat $(curl x)": false,
		"cat $FILE": false, "ssh host cat x": false, "cat < /dev/tcp/x/80": false, "xargs cat": false, "env": false, "unknown-tool": false, "npm install": false,
		"eval \"$X\"": false, "bash script.sh": false, "find . -exec curl x ;": false, "docker run x": false, "gh issue view 1": false, "nc x 80": false,

		// Variables, links and folders that make a known name mean another program.
		"PATH=./b:/bin ls": false, "export PATH=./b; ls": false, "GIT_EXTERNAL_DIFF=./f git diff": false, "LESSOPEN='|f' cat a": false, "BASH_ENV=x make test": false,
		"FOO=1 make": false, "bin/ls": false, "./cat a": false, "LS a": false, "ls() { ./f; }; ls": false, "alias ls=./f; ls": false,
		// Options that run another program, or read other files.
		"sed '1e curl x' a": false, "sed 's/a/curl x/e' a": false, "sed -n 1e a": false, "sed 'r /etc/hosts' a": false, "sed -f x a": false, "sed -e p -e 1e a": false,
		"sed --expr=1e a": false, "rg --pre curl x .": false, "rg --pre=curl x": false, "git grep -O'curl x' y": false, "git grep --open-files-in-pager=curl x": false,
		"git diff --ext-diff": false, "make --eval='$(info x)'": false, "make -f - <<EOF\nall:\n\tcurl x\nEOF": false, "make 'CC=curl x'": false, "make SHELL=/b": false,
		"go test -exec ./f ./...": false, "go vet -vettool=./x": false, "go env -w GOPROXY=x": false, "sort --compress-program=./f a": false, "sort --files0-from=x": false,
		"grep -Rn x .": false, "grep -rhn x .": false, "find -L .": false, "pytest -p x": false,
		// What fetches under another name, and what was fetched before.
		"make fetch": false, "go run ./cmd/fetch": false, "npm run fetch": false, "yarn run fetch": false, "cargo run": false, "go tool x": false, "go list -m -versions x": false,
		"go doc example.org/x": false, "go test example.org/x/...": false, "git log origin/main": false, "git show FETCH_HEAD": false, "git show fetch_head": false,
		"git log --all": false, "git log --remotes=x": false, "git branch -ra": false, "git diff @{u}": false, "git restore --source=upstream/x .": false,
		// Words that the shell replaces, and folders that are not where they seem.
		"cat *.md": false, "cat */README.md": false, "cat {a,/etc/hosts}": false, "cat ${X:-y}": false, "for f in *; do cat $f; done": false, "cat [n]ode_modules/x": false,
		"cat $'a'": false, "cd - && cat x": false, "cd; cat x": false, "cat ~/x": false, "cat link/../x": false, "cat a &": false,

		"sed -ne 's/a/b/p' -e '3,$d' a": true, "git commit -am 'Say why'": true, "go test -run TestX -count=1 ./internal/...": true, "go vet ./... 2>&1 | head": true,
		"(cd sub && ls) > out.txt": true, "make -j4 build-all": true, "npm run test:unit -- --watch": true, "cat > x <<'EOF'\nhi\nEOF": true, "LC_ALL=C sort -u a": true,
		"find . -name '*.go' -newer a": true, "[ -f a ] && cat \"a b\"": true, "git show HEAD~2:a.go": true, "git branch": true, "staticcheck ./...": true,
	} {
		if got := inspect.Local(line); got != want {
			t.Errorf("%q: got %v", line, got)
		}
	}
}
