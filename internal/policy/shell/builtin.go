package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// setsLater judges commands that set variables or code for later commands other
// than by an assignment.
func (j *judge) setsLater(name string, rest []string) {
	switch name {
	case "make", "gmake", "bmake", "configure", "cross-env":
		j.assignments(rest)
	case "systemctl", "launchctl", "tmux", "setx", "dbus-update-activation-environment":
		j.setsVariable(name, rest)
	case "printf":
		if len(rest) > 1 && rest[0] == "-v" {
			j.indexText(rest[1])
			j.unknownVariable(rest[1], unknown)
		}
	case "hash":
		if hasShort(rest, "p") {
			j.ask("environment", "decides which file a program's name runs")
		}
	case "enable":
		if hasShort(rest, "f") {
			j.ask("environment", "loads a library into the shell")
		}
	case "complete", "compgen":
		j.optionText(rest, "-C")
	case "bind":
		if hasShort(rest, "x") {
			j.ask("shell-text", "runs shell commands given as an argument")
		}
	}
}

// assignments judges words of the form NAME=value.
func (j *judge) assignments(words []string) {
	for _, w := range words {
		if name, value, ok := strings.Cut(w, "="); ok && isAssignment(w) {
			j.assigned(name, value)
		}
	}
}

// setsVariable judges programs that set variables of a login session.
func (j *judge) setsVariable(name string, rest []string) {
	words := plainWords(rest)
	switch {
	case len(words) == 0:
	case name == "dbus-update-activation-environment":
		j.assignments(words)
	case words[0] == "set-environment" || words[0] == "import-environment":
		j.assignments(words[1:])
		if name == "tmux" && len(words) > 2 {
			j.assigned(words[1], words[2])
		}
	case (words[0] == "setenv" || name == "setx") && len(words) > 2:
		j.assigned(words[len(words)-2], words[len(words)-1])
	case name == "setx" && len(words) == 2:
		j.assigned(words[0], words[1])
	}
}

// exportsFunction judges export -f: the shells that later commands start run the
// function in place of the program with its name.
func (j *judge) exportsFunction(c *syntax.DeclClause) {
	exports := false
	for _, a := range c.Args {
		switch {
		case a.Naked && a.Value != nil:
			exports = exports || strings.HasPrefix(a.Value.Lit(), "-") && strings.Contains(a.Value.Lit(), "f") && c.Variant.Value == "export"
		case exports && a.Name != nil && slices.Contains(everydayPrograms, a.Name.Value):
			j.ask("environment", "lets a function run in place of "+a.Name.Value)
		}
	}
}

// unknownVariable records a variable whose new value is only known at run time.
func (j *judge) unknownVariable(name, value string) {
	if strings.HasPrefix(name, "-") {
		return
	}
	j.set(name, exactly(value))
	j.assigned(name, value)
}

// optionText judges the value of a short option that is shell text.
func (j *judge) optionText(args []string, option string) {
	for i, a := range args {
		text, joined := strings.CutPrefix(a, option)
		switch {
		case !joined:
			continue
		case text == "" && i+1 < len(args):
			text = args[i+1]
		}
		j.ask("shell-text", "runs shell commands given as an argument")
		j.script(text)
	}
}

// readsInto judges read and mapfile: they set variables, and mapfile -C runs a
// command for its lines.
func (j *judge) readsInto(args []string, in input) {
	if strings.HasPrefix(args[0], "mapfile") || strings.HasPrefix(args[0], "readarray") {
		j.optionText(args[1:], "-C")
	}
	value := unknown
	if in.fed || j.input.fed {
		value = fromInput
	}
	if in.secret {
		value = fromSecret + fromInput[1:]
	}
	if slices.ContainsFunc(in.roots, j.destroysVital) {
		value += fromVital[1:]
	}
	for _, a := range args[1:] {
		j.indexText(a)
		j.unknownVariable(a, value)
	}
}
