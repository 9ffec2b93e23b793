package inspect_test

import (
	"testing"

	"hermes/internal/policy/shell/inspect"
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
		"sort -oout in":                     false,
		"sort -ruo out in":                  false,
		"sort --outp=out in":                false,
		`sort \-o out in`:                   false,
		"sort -t o -k 2 in":                 true,
		"sort -- in":                        true,
		`rg --p\re=./x y`:                   false,
		"rg --hostname-bin=./x y":           false,
		"sort {-o,out} in":                  false,
		"sort $'-o' out in":                 false,
		"git grep -Oless x":                 false,
		"rg -n pre":                         true,
		"uniq in out":                       false,
		"sort in | uniq -c":                 true,
		"find . -name x -fprint0 out":       false,
		"git diff --outp=x":                 false,
		"git log -3 @{u}..HEAD":             true,
		"git log --oneline -3":              true,
		`cat a\ b`:                          true,
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
		if got := inspect.ReadsOnly(line); got != want {
			t.Errorf("ReadsOnly(%q) = %v", line, got)
		}
	}
}
