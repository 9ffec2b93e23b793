package shell

import (
	"slices"

	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
)

// Commands calls yield with the words of every simple command in a line, as the
// shell would run it: behind wrappers such as sudo and with them, in
// substitutions, functions, here-documents for a shell and text for another shell.
// Words of unknown programs that may form a command are listed, too, and texts in
// what is no shell command. A zero byte is a part that is only known at run
// time. Commands stops when yield returns false. It reports false if there are more
// commands than it can list.
func Commands(line string, yield func(words []string) bool) (complete bool) {
	for _, text := range []string{line, lex.Normalize(line)} {
		j := newJudge(Context{})
		stopped := false
		j.seen = func(words []string) {
			if !stopped && !yield(lex.WithUnknown(words)) {
				stopped = true
				j.Steps = lex.MaxSteps // there is no need to read on
			}
		}
		j.line(text)
		if stopped {
			return true
		}
		if j.Steps > lex.MaxSteps || j.Work > lex.MaxWork {
			return false
		}
		if _, err := lex.Parse(lex.WithoutMarks(text)); err != nil {
			j.commandsInCode(text)
		}
		if stopped || text == lex.Normalize(text) {
			return true
		}
	}
	return true
}

// StartsShell reports whether a line may start a program that reads its input as
// shell commands, on this machine or in another place. An unknown program may.
func StartsShell(line string) bool {
	found := false
	complete := Commands(line, func(words []string) bool {
		name := lex.Program(words[0])
		w, wraps := program.WrapperOf(name)
		found = lex.Dynamic(words[0]) || program.IsShell(name) || slices.Contains(shellStarters, name) ||
			wraps && len(w.Inner(words[1:])) == 0 && program.OpensShell(name, words[1:])
		return !found
	})
	return found || !complete
}

// shellStarters are the programs that start a shell elsewhere or for another user.
var shellStarters = []string{"ssh", "docker", "podman", "kubectl", "su", "screen", "tmux"}
