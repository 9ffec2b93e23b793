package shell_test

import (
	"runtime"
	"strings"
	"testing"

	"hermes/internal/policy/shell"
)

// allocated returns the bytes that judging a line allocates, whoever frees them.
func allocated(line string) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	shell.Judge(line, testContext())
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// nestedBraces is {x{x{…},y},y}, which doubles with each level.
func nestedBraces(levels int) string {
	text := "z"
	for range levels {
		text = "{a" + text + ",b" + text + "}"
		if len(text) > 64<<10 {
			break
		}
	}
	return text
}

// TestShortLinesExpandWithinBounds: what a short line expands to is bounded,
// however it repeats itself. It is not parallel: it counts what is allocated.
func TestShortLinesExpandWithinBounds(t *testing.T) {
	const limit = 16 << 20
	for name, line := range map[string]string{
		"assignments":   "x=a; " + strings.Repeat("x=$x$x; ", 40) + "$x",
		"appending":     "x=a; for i in 1 2 3 4 5 6 7 8; do for k in 1 2 3 4 5 6 7 8; do x+=$x; done; done; $x",
		"arrays":        "x=(a); " + strings.Repeat(`x=("${x[@]}" "${x[@]}"); `, 40) + `"${x[@]}"`,
		"parameters":    "set -- a; " + strings.Repeat(`set -- "$@" "$@"; `, 40) + `"$@"`,
		"braces":        "echo " + strings.Repeat("{a,b}", 26),
		"nested braces": "echo " + strings.Repeat("{a,{b,c}", 26) + strings.Repeat("}", 26),
		"brace pairs":   "echo {" + strings.Repeat("{a,b}{c,d},", 26) + "x}",
		"brace tree":    "echo " + nestedBraces(10),
		"sequences":     "echo " + strings.Repeat("{1..99999999}", 26),
		"functions":     "f() { echo $@$@; }; " + strings.Repeat("f() { f $@$@; }; ", 20) + "f aaaa",
		"recursion":     "f() { f $1$1; f $1$1; }; f aaaa",
		"substitutions": "x=a; " + strings.Repeat("x=$(echo $x$x); ", 40) + "$x",
		"printing":      "x=a; " + strings.Repeat(`x=$(printf '%s%s' $x $x); `, 40) + "$x",
		"nested":        strings.Repeat("$(echo ", 14) + "a" + strings.Repeat(")", 14),
		"nested twice":  strings.Repeat("$(echo $(echo b) ", 14) + "a" + strings.Repeat(")", 14),
		"defaults":      "x=a; " + strings.Repeat("x=${x:-$x}${x:-$x}; ", 40) + "$x",
		"here-strings":  "x=a; " + strings.Repeat("x=$(cat <<< $x$x); ", 40) + "$x",
		"here-document": "x=a; " + strings.Repeat("x=$x$x; ", 40) + "cat <<EOF\n" + strings.Repeat("$x", 100) + "\nEOF",
		"patterns":      "x=*; " + strings.Repeat("x=$x/$x; ", 40) + "rm -rf /$x",
		"loops":         strings.Repeat("for i in {a,b,c,d}; do ", 12) + "ls $i" + strings.Repeat("; done", 12),
		"while":         strings.Repeat("while x=$x$x; do ", 20) + "ls $x" + strings.Repeat("; done", 20),
		"branches":      "x=a; " + strings.Repeat("if a; then x=$x$x; else x=b$x; fi; ", 30) + "$x",
		"traps":         "x=a; " + strings.Repeat("trap \"$x; trap '$x' EXIT\" EXIT; x=$x$x; ", 20),
		"aliases":       strings.Repeat("alias a='a;a'; a; ", 20),
		"eval":          `x='eval "$x;$x"'; eval "$x"`,
		"xargs":         "x=a; " + strings.Repeat("x=$x$x; ", 20) + "echo $x | xargs -I{} sh -c '{} {} {} {} {}'",
		"files":         "echo a > f; " + strings.Repeat("cat f f > g; cat g g > f; ", 20) + "sh f",
	} {
		if got := allocated(line); got > limit {
			t.Errorf("%s: %d KB for %d bytes", name, got>>10, len(line))
		}
	}
}

// TestLongLinesAreJudgedWithinBounds: any line of 64 KB costs a few MB.
func TestLongLinesAreJudgedWithinBounds(t *testing.T) {
	const size, limit = 64 << 10, 32 << 20
	fill := func(text string) string { return strings.Repeat(text, size/len(text)) }
	wrap := func(before, within, after string) string {
		n := size / (len(before) + len(after))
		return strings.Repeat(before, n) + within + strings.Repeat(after, n)
	}
	for name, line := range map[string]string{
		"words":       "echo " + fill("w "),
		"unknown":     "frobnicate " + fill("'rm x' "),
		"commands":    fill("a;"),
		"pipes":       fill("a|") + "a",
		"pipe bomb":   "f() { " + fill("a|") + "a; }",
		"chain":       fill("a&&") + "a",
		"variables":   fill("$x "),
		"uses":        "x=" + strings.Repeat("a", 4000) + "; echo " + fill("$x"),
		"assignments": fill("x=$x$x;"),
		"names": func() string {
			var b strings.Builder
			for i := range size / 9 {
				b.WriteString("v" + string(rune('a'+i%26)) + strings.Repeat("x", i%5) + "=1;")
			}
			return b.String()
		}(),
		"braces":       "echo " + fill("{a,b}"),
		"commas":       "echo {" + fill("a,") + "}",
		"open braces":  "echo " + fill("{"),
		"tree":         "echo " + nestedBraces(12),
		"brackets":     wrap("(", "a", ")"),
		"substitution": wrap("$(", "a", ")"),
		"backticks":    fill("`a` "),
		"quotes":       fill(`'a'"b"`),
		"backslashes":  fill(`\a`),
		"sudos":        fill("sudo ") + "a",
		"env":          "env " + fill("A=b ") + "a",
		"finds":        "find / " + fill("-exec rm {} + "),
		"heredoc":      "cat <<EOF\n" + fill("$x y\n") + "EOF",
		"heredocs":     fill("cat <<E\na\nE\n"),
		"functions":    fill("f() { f; };") + "f",
		"cases":        "case a in " + fill("a) b;;") + " esac",
		"loop":         "for i in 1 2 3 4 5 6 7 8 9; do " + fill("a $i;") + " done",
		"loop of loop": "for i in {1,2,3,4,5,6,7,8}; do for j in {1,2,3,4,5,6,7,8}; do " + fill("a $i;") + " done; done",
		"shell text":   "bash -c '" + fill("a;") + "'",
		"code":         "python3 -c '" + fill("rmtree(") + "'",
		"paths":        "rm " + fill("/../"),
		"globs":        "rm " + fill("/*"),
		"text":         "frobnicate '" + fill("a=b:c!d,") + " x'",
		"redirects":    fill("a>b;"),
		"invisible":    fill("\u200b") + "ls",
		"open":         "'" + fill("rm -r a ; "),
	} {
		if got := allocated(line); got > limit {
			t.Errorf("%s: %d KB", name, got>>10)
		}
	}
}
