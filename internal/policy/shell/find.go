package shell

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/files"
	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// search judges find: -delete, and the commands that it runs.
func (j *judge) search(rest []string, s track.Situation) {
	roots, expression := program.FindRoots(rest)
	e := &program.FindExpression{Rest: expression}
	e.Any(false)
	for _, a := range e.Actions {
		switch {
		case a.Name == "-delete":
			j.Ask("find-delete", "deletes every file that the search finds")
			for _, root := range roots {
				j.Name(root)
				files.DestroysFound(j.Line, root, a.Narrowed)
			}
		case a.File != "":
			j.Write(a.File)
		case len(a.Command) > 0:
			j.runsOnFound(a, roots, expression, s)
		}
	}
}

// runsOnFound judges a command that find runs with what it finds.
func (j *judge) runsOnFound(a program.FindAction, roots, expression []string, s track.Situation) {
	found := files.FoundBy(j.Line, expression)
	changes := program.ChangesFiles(a.Command)
	if !changes {
		found += lex.FromInput[1:]
	}
	if !a.Narrowed && slices.ContainsFunc(roots, j.DestroysVital) {
		found += lex.FromVital[1:]
	}
	j.argv(program.Replaced(a.Command, "{}", found), track.Situation{Background: s.Background})
	if changes {
		j.Ask("find-exec-delete", "deletes every file that the search finds")
	}
	for _, root := range roots { // what it finds is below these
		if changes || program.DestroysFiles(a.Command) {
			files.DestroysFound(j.Line, root, a.Narrowed)
		}
		below := root + "/" + lex.Filled
		if !a.Narrowed {
			below = root
		}
		j.argv(program.Replaced(a.Command, "{}", below), track.Situation{Background: s.Background})
	}
}

// searchWithFd judges fd, whose first word is a pattern and whose others are the
// folders that it searches.
func (j *judge) searchWithFd(rest []string, s track.Situation) {
	for i, a := range rest {
		if a != "-x" && a != "-X" && a != "--exec" && a != "--exec-batch" {
			continue
		}
		found := files.FoundBy(j.Line, rest[:i])
		command := rest[i+1:]
		if !slices.ContainsFunc(command, func(a string) bool { return strings.Contains(a, "{}") }) {
			command = append(slices.Clone(command), "{}")
		}
		if program.ChangesFiles(command) {
			j.Ask("find-exec-delete", "deletes every file that the search finds")
		}
		j.argv(program.Replaced(command, "{}", found), track.Situation{Background: s.Background})
		if words := getopt.PlainWords(rest[:i]); program.DestroysFiles(command) && (len(words) == 0 || strings.Trim(words[0], ".*^$") == "") {
			roots := []string{"."}
			if len(words) > 1 {
				roots = words[1:]
			}
			for _, root := range roots {
				files.DestroysFound(j.Line, root, false)
			}
		}
		return
	}
}
