package tui

import (
	"context"
	"slices"
	"strings"

	"hermes/internal/command"
)

// skillChoices are the skills that can be called by name. A skill with the name
// of a command is not among them: the command wins.
func skillChoices(s command.Skills) []choice {
	if s == nil {
		return nil
	}
	all, err := s.List(context.Background()) // reads only a few files
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

// calledSkills offers the skills whose names start with the line.
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
