package shell_test

import (
	"strings"
	"testing"

	"hermes/internal/policy/shell"
)

// TestEveryPositionOfACommandIsJudged: wherever the shell's grammar has a place for
// a command, the command there is found.
func TestEveryPositionOfACommandIsJudged(t *testing.T) {
	t.Parallel()
	for _, position := range []string{
		"X", "! X", "X &", "X; a", "a; X", "a && X", "a || X", "a | X", "X | a", "a |& X", "(X)", "{ X; }", "((1)); X", "time X", "coproc X", "coproc N { X; }", "f() X; f", "f() { X; }; f", "function f { X; }; f", "f() ( X ); f",
		"if X; then a; fi", "if a; then X; fi", "if a; then b; elif X; then c; fi", "if a; then b; elif c; then X; fi", "if a; then b; else X; fi", "while X; do a; done", "while a; do X; done", "until X; do a; done", "until a; do X; done",
		"for x in a; do X; done", "for x in $(X); do a; done", "for x; do X; done", "for ((;;)); do X; done", "for ((i=$(X);;)); do a; done", "select x in a; do X; done", "select x in $(X); do a; done", "case a in a) X;; esac", "case $(X) in a) b;; esac", "case a in $(X)) b;; esac", "case a in a) b;; *) X;; esac",
		"$(X)", "`X`", "a $(X)", "a \"$(X)\"", "a <(X)", "a >(X)", "x=$(X)", "x=$(X) a", "x+=$(X)", "x=($(X))", "x=([$(X)]=1)", "x[$(X)]=1", "export x=$(X)", "declare -a x=($(X))", "local x=`X`", "readonly x=$(X)",
		"a > $(X)", "a < $(X)", "a < <(X)", "a > >(X)", "a <<< $(X)", "a <<E\n$(X)\nE", "a <<E\n`X`\nE", "cat <<-E\n\t$(X)\nE", "{ a; } > $(X)", "exec {fd}< <(X)", "exec 3> $(X)",
		"[[ $(X) ]]", "[[ -f $(X) ]]", "[[ a == $(X) ]]", "[[ a =~ $(X) ]]", "[ $(X) ]", "test $(X)", "(( $(X) ))", "(( a[$(X)] ))", "let a=$(X)", "echo $(( $(X) ))", "echo $[ $(X) ]", "${x:-$(X)}", "echo ${x:=$(X)}", "echo ${x:+$(X)}", "echo ${x:?$(X)}", "echo ${x#$(X)}", "echo ${x/a/$(X)}", "echo ${x/$(X)/b}",
		"echo ${x:$(X)}", "echo ${x[$(X)]}", "echo ${x^^$(X)}", "echo \"${x:-\"$(X)\"}\"", "a{$(X),b}", "a$(X)b", "'a'\"$(X)\"", "trap 'X' EXIT", "eval 'X'", "alias a='X'", "printf -v 'x[$(X)]' a", "read 'x[$(X)]' <<< a", "test -v 'x[$(X)]'", "x='y[$(X)]'; echo $((x))", "echo $((a['$(X)']))", "x='$(X)'; echo ${x@P}",
		"f() { \"$@\"; }; f X", "bash -c 'X'", "sh <<< 'X'", "bash <<E\nX\nE", "echo 'X' | sh", ". <(echo X)", "source /dev/stdin <<< 'X'", "exec < <(echo X); sh", "(((X)))", "{ (X); }", "$( (X) )", "a $(b \"$(X)\")",
	} {
		line := strings.ReplaceAll(position, "X", "rm -rf x")
		if v := shell.Judge(line, testContext()); v.Level() == shell.Allow {
			t.Errorf("%q is allowed", line)
		}
		innocent := strings.ReplaceAll(position, "X", "true -rf x")
		if v := shell.Judge(innocent, testContext()); v.Level() == shell.Refuse {
			t.Errorf("%q: %v", innocent, v.Findings)
		}
	}
}
