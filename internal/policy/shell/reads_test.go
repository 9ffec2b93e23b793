package shell_test

import (
	"testing"

	"hermes/internal/policy/shell"
)

func TestReadsOnly(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"sleep 0.2":                         true,
		"ls -la src | head -5":              true,
		"cat a.txt && grep -n 'x y' b.txt":  true,
		`grep "two words" file 2>/dev/null`: true,
		"git status; git diff --stat":       true,
		"find . -name '*.go'":               true,
		"echo hi 2>&1":                      true,
		"echo hi > file":                    false,
		"cat a >> b":                        false,
		"find . -delete":                    false,
		"find . -exec rm {} +":              false,
		"sort -o out in":                    false,
		"sort --output=out in":              false,
		"git commit -m x":                   false,
		"git diff --output=x":               false,
		"rm x":                              false,
		"cat $(rm x)":                       false,
		"cat $FILE":                         false,
		"cat <(rm x)":                       false,
		"X=1 ls":                            false,
		"cd /tmp":                           false,
		"ls &":                              false,
		"tail -f log":                       false,
		"(ls)":                              false,
		"./ls":                              false,
		"/bin/ls":                           false,
		"ls '":                              false,
		"":                                  false,
		"env rm x":                          false,
		"if true; then rm x; fi":            false,
		"echo `rm x`":                       false,
		`echo "$(rm x)"`:                    false,
	} {
		if got := shell.ReadsOnly(line); got != want {
			t.Errorf("ReadsOnly(%q) = %v", line, got)
		}
	}
}
