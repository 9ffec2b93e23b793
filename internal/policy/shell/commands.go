package shell

import (
	"slices"
	"strings"
)

// Commands calls yield with the words of every simple command in a line, as the
// shell would run it: behind wrappers such as sudo and with them, in
// substitutions, functions, here-documents for a shell and text for another shell.
// Words of unknown programs that may form a command are listed, too, and texts in
// what is no shell command. A zero byte is a part that is only known at run
// time. Commands stops when yield returns false. It reports false if there are more
// commands than it can list.
func Commands(line string, yield func(words []string) bool) (complete bool) {
	for _, text := range []string{line, normalize(line)} {
		j := newJudge(Context{})
		stopped := false
		j.seen = func(words []string) {
			if !stopped && !yield(withUnknown(words)) {
				stopped = true
				j.steps = maxSteps // there is no need to read on
			}
		}
		j.line(text)
		if stopped {
			return true
		}
		if j.steps > maxSteps || j.work > maxWork {
			return false
		}
		if _, err := parse(withoutMarks(text)); err != nil {
			j.commandsInCode(text)
		}
		if stopped || text == normalize(text) {
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
		name := program(words[0])
		w, wraps := wrapperOf(name)
		found = dynamic(words[0]) || isShell(name) || slices.Contains(shellStarters, name) ||
			wraps && len(w.inner(words[1:])) == 0 && opensShell(name, words[1:])
		return !found
	})
	return found || !complete
}

// shellStarters are the programs that start a shell elsewhere or for another user.
var shellStarters = []string{"ssh", "docker", "podman", "kubectl", "su", "screen", "tmux"}

// withUnknown returns words in which a zero byte is all that is known about a part.
func withUnknown(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; !dynamic(w) {
			continue
		}
		out[i] = strings.Map(func(r rune) rune {
			if r != rune(unknown[0]) && strings.ContainsRune(marks, r) {
				return -1
			}
			return r
		}, w)
	}
	return out
}
