package codeexecution

import (
	"context"
	"encoding/json"
	"strings"

	"hermes"
)

// executeCode is the tool with what its scripts may do.
type executeCode struct {
	hermes.Tool
	set *Toolset
}

// AssessRisk judges a Python script as the command that would run it is judged. JavaScript
// reaches nothing but tools, whose calls are judged by themselves. See [hermes.RiskAssessor].
func (e executeCode) AssessRisk(_ context.Context, c *hermes.Call) []hermes.Risk {
	line, ok := commandOf(c.Arguments)
	if !ok {
		return nil
	}
	return e.set.config.Judge(c, line)
}

// Subject is the script and the folder in which it runs; see [hermes.SubjectNamer].
func (e executeCode) Subject(_ context.Context, c *hermes.Call) hermes.Subject {
	var in arguments
	if json.Unmarshal(c.Arguments, &in) != nil {
		return hermes.Subject{Text: string(c.Arguments)} // the tool itself refuses it
	}
	s := hermes.Subject{Text: in.Code, Commands: []string{}}
	if line, ok := commandOf(c.Arguments); ok {
		s.Commands = []string{line}
	}
	if c.Host != nil && c.Host.Environment() != nil && !e.set.config.Strict {
		s.Dir = folderOf(c.Host.Environment())
	}
	return s
}

// commandOf returns the shell command that would run the script of a call, false if it is
// no Python.
func commandOf(args json.RawMessage) (string, bool) {
	var in arguments
	if json.Unmarshal(args, &in) != nil || in.Language == "javascript" {
		return "", false
	}
	end := "HERMES_SCRIPT"
	for strings.Contains(in.Code, end) {
		end += "_"
	}
	return "python3 - <<'" + end + "'\n" + in.Code + "\n" + end, true
}

func folderOf(e hermes.Environment) string {
	dir, err := e.Files().Resolve(".")
	if err != nil {
		return ""
	}
	return dir
}
