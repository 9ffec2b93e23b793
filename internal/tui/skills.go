package tui

import (
	"context"
	"slices"
	"strings"

	"hermes/internal/command"
)

// skillChoices are the skills that may be called by their names. Those that
// are called like a command are left out: the command wins.
func skillChoices(s command.Skills) []choice {
	if s == nil {
		return nil
	}
	all, err := s.List(context.Background()) // a look at a few files
	if err != nil {
		return nil
	}
	var list []choice
	for _, k := range all {
		if strings.Contains(k.Name, ".") || slices.ContainsFunc(command.Table(), func(c command.Command) bool { return c.Name == k.Name }) {
			continue
		}
		list = append(list, choice{insert: "/" + k.Name, label: "/" + k.Name, help: k.Description, more: true})
	}
	return list
}

// calledSkills offers the skills whose names begin like the line.
func (m *model) calledSkills(line string) []choice {
	if !strings.HasPrefix(line, "/") || strings.ContainsAny(line, " \n") {
		return nil
	}
	var list []choice
	for _, c := range m.skill() {
		if strings.HasPrefix(c.insert, line) {
			list = append(list, c)
		}
	}
	return list
}
