package shell_test

import (
	"testing"

	"hermes/internal/policy/shell"
)

// TestBothSidesOfABranchCount: a variable, a function or a folder that a branch, a
// loop or a function may have changed has each of its values afterwards.
func TestBothSidesOfABranchCount(t *testing.T) {
	t.Parallel()
	checkLevels(t, shell.Refuse, []string{
		"x=rm; if a; then x=ls; fi; $x -rf /", "x=ls; if a; then x=rm; fi; $x -rf /", "x=rm; [ -f y ] && x=ls; $x -rf /", "x=rm; [ -f y ] || x=ls; $x -rf /", "x=rm; case $1 in a) x=ls;; esac; $x -rf /", "x=rm; while a; do x=ls; done; $x -rf /",
		"x=rm; for i in; do x=ls; done; $x -rf /", "for x in rm ls; do break; done; $x -rf /", "x=ls; while a; do $x -rf /; x=rm; done", "x=ls; for i in 1 2; do $x -rf /; x=rm; done", "x=ls; f() { x=rm; }; f; $x -rf /", "x=ls; f() { $x -rf /; }; x=rm; f", "x=rm; (x=ls); $x -rf /", "x=rm; x=ls & $x -rf /",
		"x=rm; echo | x=ls; $x -rf /", "x=rm; x=ls $x -rf /", "if a; then cd /; fi; rm -rf *", "a && cd /; rm -rf *", "cd / || cd /tmp; rm -rf *", "f() { ls; }; if a; then f() { rm -rf /; }; fi; f", "f() { \"$@\"; }; (f() { :; }); f rm -rf /", "x=/; if a; then x=/tmp; fi; rm -rf $x", "trap '$x -rf /' EXIT; x=rm", "x=ls; . <(echo x=rm); $x -rf /",
		"x=rm; y=$x; x=ls; $y -rf /", "set -- rm -rf /; if a; then shift 0; fi; \"$@\"", "x=(rm -rf /); \"${x[@]}\"", "x=(a rm); ${x[1]} -rf /", "IFS=_; x=rm_-rf_/; $x", "x=rm; y=x; ${!y} -rf /", "printf -v x ls; x=rm; $x -rf /",
	})
	checkLevels(t, shell.Ask, []string{
		"x=ls; read x <<< rm; $x y", "x=ls; . ./env; $x y", "x=ls; declare -n y=x; y=rm; $x z", "x=ls; eval \"$y\"; $x z", "if a; then x=ls; fi; $x y", "x=ls; export \"$y\"; $x z", `x=(rm -rf y); if a; then x=ls; fi; "${x[@]}"`, `x=(rm -rf y); if a; then x=ls; fi; ${x[0]} z`, `set -- rm -rf y; if a; then set -- ls; fi; "$@"`,
	})
	checkLevels(t, shell.Allow, []string{
		"x=ls; if a; then x=cat; fi; $x y", "if a; then DIR=x; else DIR=y; fi; ls $DIR", "x=ls; y=$x; $y", "cd a && make; cd .. && ls", "x=1; while [ $x -lt 3 ]; do x=$((x+1)); done; echo $x", "OPTS=-v; [ -n \"$CI\" ] && OPTS=\"$OPTS -x\"; go test $OPTS ./...",
	})
}
