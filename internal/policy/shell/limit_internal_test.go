package shell

import (
	"strings"
	"testing"
)

// FuzzWorkIsBounded: no line makes the analysis do more than its limits allow.
func FuzzWorkIsBounded(f *testing.F) {
	for _, line := range []string{
		"x=a; x=$x$x; x=$x$x", "for i in a b; do x+=$i; done", "{a,{b,c}}{d,e}", "f() { f $@$@; }; f a", `"$(echo "$(echo a)")"`,
		"while a; do b; done", "cat <<EOF\n$x\nEOF", "alias a='a;a'; a", "trap 'trap x EXIT' EXIT", "sh -c 'sh -c ls'", "a=(b c); ${a[@]}",
		"python3 -c 'import os'", "frob -c 'rm x' -- sh", "find . -exec rm {} +", "echo a | xargs -I{} sh -c {}", "echo a > f; . f",
	} {
		f.Add(line, 3)
	}
	f.Fuzz(func(t *testing.T, line string, times int) {
		if len(line) > 2000 || times < 0 || times > 30 {
			return
		}
		j := newJudge(Context{Home: "/home/ada", Dir: "/home/ada/work"})
		j.line(strings.Repeat(line+"\n", times+1))
		if j.steps > maxSteps+maxText || j.work > maxWork+16*maxText {
			t.Errorf("%d steps, %d bytes", j.steps, j.work)
		}
		if len(j.vars) > maxVariables || len(j.files) > maxFiles {
			t.Errorf("%d variables, %d files", len(j.vars), len(j.files))
		}
		for name, v := range j.vars {
			if len(v.may) > maxAlternatives || len(strings.Join(v.may, "")) > maxAlternatives*maxValue || len(strings.Join(v.list, "")) > maxValue {
				t.Errorf("%s has %d alternatives, %d elements", name, len(v.may), len(v.list))
			}
		}
	})
}
