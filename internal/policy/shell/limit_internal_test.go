package shell

import (
	"fmt"
	"strings"
	"testing"

	"hermes/internal/policy/shell/lex"
)

// TestPastABoundACommandIsUnknown: up to each bound a line is followed and needs no
// question; one more of it, and what it runs is unknown, which asks.
func TestPastABoundACommandIsUnknown(t *testing.T) {
	t.Parallel()
	numbered := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, bound := range map[string]struct {
		at   int
		line func(n int) string
	}{
		"maxNesting":      {lex.MaxNesting, func(n int) string { return "echo '" + strings.Repeat("(", n) + "'" }},
		"maxDepth":        {lex.MaxDepth - 2, func(n int) string { return strings.Repeat("nice ", n) + "ls" }},
		"maxSteps":        {lex.MaxSteps / 2, func(n int) string { return strings.Repeat(":;", n) }},
		"maxText":         {lex.MaxText / lex.MaxValue, func(n int) string { return "x=" + strings.Repeat("a", lex.MaxValue) + "; " + strings.Repeat("$x", n) }},
		"maxValue":        {lex.MaxValue, func(n int) string { return "x=" + strings.Repeat("a", n) + "; $x" }},
		"maxWords":        {lex.MaxWords - 1, func(n int) string { return "set -- " + strings.Repeat("a ", n) + "; $1" }},
		"maxBraces":       {8, func(n int) string { return "rm " + strings.Repeat("{a,b}", n) }},
		"maxVariables":    {lex.MaxVariables - 1, func(n int) string { return "x=a; " + numbered(n, "y%d=a; ") + "$x" }},
		"maxAlternatives": {lex.MaxAlternatives, func(n int) string { return "x=0; " + numbered(n-1, "[ y ] && x=1%d; ") + "$x" }},
		"maxFunction":     {lex.MaxFunction - 4, func(n int) string { return "f() { " + strings.Repeat("a", n-1) + "; }" }},
		"maxIterations":   {lex.MaxIterations, func(n int) string { return "for x in " + numbered(n, "a%d ") + "; do $x; done" }},
		"maxPositions":    {lex.MaxPositions, func(n int) string { return "frob " + strings.Repeat("1 ", n) }},
		"maxTexts":        {lex.MaxTexts, func(n int) string { return "frob " + strings.Repeat("'1 2' ", n) }},
		"maxFiles":        {lex.MaxFiles, func(n int) string { return numbered(n, "echo ls > f%d; ") + "sh f0" }},
	} {
		for _, past := range []int{0, 1} {
			v := Judge(bound.line(bound.at+past), Context{Home: "/home/ada", Dir: "/home/ada/work"})
			if got, want := v.Level(), []Level{Allow, Ask}[past]; got != want {
				t.Errorf("%s: %d more: level %d, want %d, %v", name, past, got, want, v.Findings)
			}
		}
	}
}

// TestWhatIsNotFollowedIsStillFound: a line with too many commands is searched for
// what is never allowed, and one with too many variables may have changed any.
func TestWhatIsNotFollowedIsStillFound(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]Level{
		strings.Repeat(":;", lex.MaxSteps) + "rm -rf /": Refuse,
		strings.Repeat(":;", lex.MaxSteps) + "ls":       Ask,
		manyVariables() + "IFS=_; $(echo rm_-rf_/)":     Ask,
		"ln -s /etc /srv/d/x; echo > d/x/passwd":        Ask,
	} {
		on := Context{Home: "/home/ada", Dir: "/home/ada/work", Resolve: func(p string) string {
			return strings.Replace(p, "/home/ada/work/d/", "/srv/d/", 1)
		}}
		if v := Judge(line, on); v.Level() != want {
			t.Errorf("…%s: level %d, want %d, %v", line[max(0, len(line)-30):], v.Level(), want, v.Findings)
		}
	}
}

func manyVariables() string {
	var b strings.Builder
	for i := range lex.MaxVariables {
		fmt.Fprintf(&b, "y%d=a; ", i)
	}
	return b.String()
}

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
		if j.Steps > lex.MaxSteps+lex.MaxText || j.Work > lex.MaxWork+16*lex.MaxText {
			t.Errorf("%d steps, %d bytes", j.Steps, j.Work)
		}
		if len(j.Vars) > lex.MaxVariables || len(j.Files) > lex.MaxFiles {
			t.Errorf("%d variables, %d files", len(j.Vars), len(j.Files))
		}
		for name, v := range j.Vars {
			if len(v.May) > lex.MaxAlternatives || len(strings.Join(v.May, "")) > lex.MaxAlternatives*lex.MaxValue || len(strings.Join(v.List, "")) > lex.MaxValue {
				t.Errorf("%s has %d alternatives, %d elements", name, len(v.May), len(v.List))
			}
		}
	})
}
