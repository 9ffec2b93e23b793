package permission

import (
	"errors"
	"fmt"
	"strings"
)

// toolPattern names tools: one by its name, several by a pattern of names, or a group. A group is
// written with what it does: file.read and file.write are the calls of the group file that only read
// and the others, terminal.* are all of its group.
type toolPattern struct {
	name  string // of one tool, or a pattern of names
	glob  bool
	group string // the name of a toolset; then part is "*", "read", "write" or a tool
	part  string
}

// Tools and groups that a rule can narrow down by commands or paths.
const (
	toolCommand  = "terminal"
	groupCommand = "terminal"
	groupScripts = "code_execution" // whose scripts may run commands
	groupFiles   = "file"
)

// fileTools are those that a pattern of paths can narrow down.
var fileTools = [...]string{"write_file", "patch", "read_file", "search_files"}

func parseTool(text string) (toolPattern, error) {
	group, part, grouped := strings.Cut(text, ".")
	switch {
	case text == "":
		return toolPattern{}, errors.New("names no tool")
	case strings.ContainsAny(text, " \t\r\n\"'"):
		return toolPattern{}, errors.New("does not begin with the name of a tool")
	case grouped && (group == "" || part == "" || strings.ContainsAny(group, "*?[") || part != "*" && strings.ContainsAny(part, "*?[.")):
		return toolPattern{}, fmt.Errorf("has an unknown group of tools, %q; write it like file.read, file.write or terminal.*", text)
	case grouped:
		return toolPattern{group: group, part: part}, nil
	}
	return toolPattern{name: text, glob: strings.ContainsAny(text, "*?[")}, nil
}

// commands reports whether the subject of a rule for these tools is a command.
func (t toolPattern) commands() bool {
	return t.name == toolCommand || t.group == groupCommand
}

// files reports whether the subject of a rule for these tools is a pattern of paths.
func (t toolPattern) files() bool {
	for _, name := range fileTools {
		if t.name == name {
			return true
		}
	}
	return t.group == groupFiles
}

// fits reports whether a call is one of these tools.
func (t toolPattern) fits(c *Call) bool {
	switch {
	case t.group == "":
		return t.name == c.Tool || t.glob && fnmatch(t.name, c.Tool)
	case t.group != c.Toolset:
		return false
	}
	return t.has(c)
}

// has reports whether the part of the group is a call's.
func (t toolPattern) has(c *Call) bool {
	switch t.part {
	case "*":
		return true
	case "read":
		return !c.Writes
	case "write":
		return c.Writes
	}
	tool := c.Tool
	return tool == t.part || tool == t.group+"_"+t.part
}

// mayFit is fits for rules that deny or ask, whose names are in lower case. Tools that write files count as one, and so do those
// that read them, a patch too, since its result shows some of the file, and those that run commands or feed a running one, scripts
// too. A group also has the tools whose names begin with its own, and the groups below it, such as mcp-github below mcp.
func (t toolPattern) mayFit(c *Call) bool {
	tool, toolset := strings.ToLower(c.Tool), strings.ToLower(c.Toolset)
	switch {
	case t.group == "":
		return t.name == tool || t.glob && fnmatch(t.name, tool) || t.name == toolCommand && (toolset == groupCommand || runsCommands(c)) ||
			c.ChangesFiles && t.writesFiles() || toolset == groupFiles && (t.writesFiles() && c.Writes || t.readsFiles() && (!c.Writes || tool == "patch"))
	case toolset == t.group, strings.HasPrefix(toolset, t.group+"-"), strings.HasPrefix(tool, t.group+"_"):
		return t.has(c) || t.group == groupFiles && t.part == "read" && tool == "patch"
	case t.group == groupCommand && runsCommands(c):
		return t.has(c)
	case t.group == groupFiles && c.ChangesFiles:
		return t.part == "*" || t.part == "write"
	}
	return false
}

// runsCommands reports whether a call is a script that may run commands, which are its texts.
func runsCommands(c *Call) bool {
	return strings.EqualFold(c.Toolset, groupScripts) && len(c.Texts) > 0
}

func (t toolPattern) writesFiles() bool { return t.name == "write_file" || t.name == "patch" }

func (t toolPattern) readsFiles() bool { return t.name == "read_file" || t.name == "search_files" }

// inLowerCase is the pattern for rules that deny or ask.
func (t toolPattern) inLowerCase() toolPattern {
	t.name, t.group, t.part = strings.ToLower(t.name), strings.ToLower(t.group), strings.ToLower(t.part)
	return t
}
