package files

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// Find judges find: -delete, and the commands that it runs.
func Find(l *track.Line, run track.Runner, rest []string, s track.Situation) {
	roots, expression := program.FindRoots(rest)
	e := &program.FindExpression{Rest: expression}
	e.Any(false)
	for _, a := range e.Actions {
		switch {
		case a.Name == "-delete":
			l.Ask("find-delete", "deletes every file that the search finds")
			for _, root := range roots {
				l.Name(root)
				destroysFound(l, root, a.Narrowed)
			}
		case a.File != "":
			l.Write(a.File)
		case len(a.Command) > 0:
			runsOnFound(l, run, a, roots, expression, s)
		}
	}
}

// runsOnFound judges a command that find runs with what it finds.
func runsOnFound(l *track.Line, run track.Runner, a program.FindAction, roots, expression []string, s track.Situation) {
	found := foundBy(l, expression)
	changes := program.ChangesFiles(a.Command)
	if !changes {
		found += lex.FromInput[1:]
	}
	if !a.Narrowed && slices.ContainsFunc(roots, l.DestroysVital) {
		found += lex.FromVital[1:]
	}
	run.Command(program.Replaced(a.Command, "{}", found), track.Situation{Background: s.Background})
	if changes {
		l.Ask("find-exec-delete", "deletes every file that the search finds")
	}
	for _, root := range roots { // what it finds is below these
		if changes || program.DestroysFiles(a.Command) {
			destroysFound(l, root, a.Narrowed)
		}
		below := root + "/" + lex.Filled
		if !a.Narrowed {
			below = root
		}
		run.Command(program.Replaced(a.Command, "{}", below), track.Situation{Background: s.Background})
	}
}

// Fd judges fd, whose first word is a pattern and whose others are the
// folders that it searches.
func Fd(l *track.Line, run track.Runner, rest []string, s track.Situation) {
	for i, a := range rest {
		if a != "-x" && a != "-X" && a != "--exec" && a != "--exec-batch" {
			continue
		}
		found := foundBy(l, rest[:i])
		command := rest[i+1:]
		if !slices.ContainsFunc(command, func(a string) bool { return strings.Contains(a, "{}") }) {
			command = append(slices.Clone(command), "{}")
		}
		if program.ChangesFiles(command) {
			l.Ask("find-exec-delete", "deletes every file that the search finds")
		}
		run.Command(program.Replaced(command, "{}", found), track.Situation{Background: s.Background})
		if words := getopt.PlainWords(rest[:i]); program.DestroysFiles(command) && (len(words) == 0 || strings.Trim(words[0], ".*^$") == "") {
			roots := []string{"."}
			if len(words) > 1 {
				roots = words[1:]
			}
			for _, root := range roots {
				destroysFound(l, root, false)
			}
		}
		return
	}
}

// foundBy returns a mark for the files that a search finds.
func foundBy(l *track.Line, search []string) string {
	if slices.ContainsFunc(search, l.SecretWord) {
		return lex.FromSecret
	}
	return lex.Filled
}
