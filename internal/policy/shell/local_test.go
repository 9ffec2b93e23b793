package shell_test

import (
	"testing"

	"hermes/internal/policy/shell"
)

func TestLocalKnowsWhatMayFetch(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"cat notes.md": true, "go test ./...": true, "cd sub && make test | tail -5": true, "git log --oneline -3": true, "FOO=1 pytest -q": true,
		"grep -rn x . || true": true, "npm test": true, "sed -n 1,5p a.go; wc -l a.go": true,

		"": false, "curl https://x": false, "curl x.example": false, "wget x": false, "cat <(curl x)": false, "git fetch": false, "git -C /x log": false, "git pull && ls": false,
		"go get x": false, "go run example.org/x@latest": false, "python3 fetch.py": false, "./fetch": false, "sh -c 'curl x'": false, "cat $(curl x)": false,
		"cat $FILE": false, "ssh host cat x": false, "cat < /dev/tcp/x/80": false, "xargs cat": false, "env": false, "unknown-tool": false, "npm install": false,
		"eval \"$X\"": false, "bash script.sh": false, "find . -exec curl x ;": false, "docker run x": false, "gh issue view 1": false, "nc x 80": false,
	} {
		if got := shell.Local(line); got != want {
			t.Errorf("%q: got %v", line, got)
		}
	}
}
