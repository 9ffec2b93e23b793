package codeexecution

import (
	"context"
	"encoding/json"
	"fmt"
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

// unchanged fails if a script would run in another folder than the user was shown.
func unchanged(c *hermes.Call) error {
	if dir := folderOf(c.Host.Environment()); c.Approved.Dir != "" && dir != c.Approved.Dir {
		return fmt.Errorf("the folder is %s by now, and the user allowed the script in %s; call it again", dir, c.Approved.Dir)
	}
	return nil
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

// folderOf is the folder in which a script runs. On this machine links are followed: an answer
// is for the folder, and not for a link to it.
func folderOf(e hermes.Environment) string {
	dir, err := e.Files().Resolve(".")
	if err != nil {
		return ""
	}
	if host, ok := e.Files().(hermes.HostFiles); ok && host.OnHost() {
		if real, err := e.Files().RealPath(context.Background(), dir); err == nil {
			return real
		}
	}
	return dir
}
