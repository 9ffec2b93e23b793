package permission

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Rule allows calls of one tool: all of them, or those with a subject that fits. It is written
// "tool" or "tool: subject". The subject of terminal is one simple command, and that of write_file and
// patch a pattern of paths:
//
//	terminal: go test*            go test with any arguments
//	terminal: git push origin *   any further words after these
//	terminal: rm -rf build/*      one path below build
//	write_file: ./docs/**         files below docs, at any depth
//
// The zero value allows nothing.
type Rule struct {
	text    string
	tool    string
	whole   bool // every call of the tool
	command commandPattern
	path    pathPattern
}

// Subjects of tools that a rule can name.
const (
	toolCommand = "terminal"
	toolWrite   = "write_file"
	toolPatch   = "patch"
)

// ParseRule reads a rule. It does not know which tools there are.
func ParseRule(text string) (Rule, error) {
	tool, subject, narrowed := strings.Cut(text, ":")
	r := Rule{text: strings.TrimSpace(text), tool: strings.TrimSpace(tool)}
	subject = strings.TrimSpace(subject)
	var err error
	switch {
	case r.tool == "":
		return Rule{}, fmt.Errorf("the rule %q names no tool; write it as TOOL or TOOL: SUBJECT", text)
	case strings.ContainsAny(r.tool, " \t\n*?"):
		return Rule{}, fmt.Errorf("the rule %q does not begin with the name of a tool; write it as TOOL or TOOL: SUBJECT", text)
	case narrowed && subject == "":
		return Rule{}, fmt.Errorf("the rule %q has nothing after the colon; for every call of %s write only %s", text, r.tool, r.tool)
	case !narrowed, subject == "*":
		r.whole = true
		return r, nil
	case r.tool == toolCommand:
		r.command, err = parseCommand(subject)
	case r.tool == toolWrite, r.tool == toolPatch:
		r.path, err = parsePath(subject)
	default:
		err = errors.New("only the calls of " + strings.Join([]string{toolCommand, toolWrite, toolPatch}, ", ") + " can be told apart; for every call write only " + r.tool)
	}
	if err != nil {
		return Rule{}, fmt.Errorf("the rule %q: %w", text, err)
	}
	return r, nil
}

// Tool is the name of the tool.
func (r Rule) Tool() string { return r.tool }

// String is the rule as it was written.
func (r Rule) String() string { return r.text }

// SplitRules splits a list of rules at its commas. A comma of a rule itself is written \, there.
func SplitRules(list string) []string {
	var rules []string
	var rule strings.Builder
	for i := 0; i < len(list); i++ {
		switch {
		case list[i] == '\\' && i+1 < len(list) && list[i+1] == ',':
			i++
			rule.WriteByte(',')
		case list[i] == ',':
			rules = append(rules, strings.TrimSpace(rule.String()))
			rule.Reset()
		default:
			rule.WriteByte(list[i])
		}
	}
	return append(rules, strings.TrimSpace(rule.String()))
}

// Rules are the rules of a run. Together they decide about a call: each simple command of a line
// and each file of a patch may be allowed by another one.
type Rules []Rule

// ParseRules reads rules, one from each text.
func ParseRules(texts []string) (Rules, error) {
	var rules Rules
	for _, text := range texts {
		r, err := ParseRule(text)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// Call is a call as rules see it. Paths are absolute, with links followed.
type Call struct {
	Tool    string
	Command string // of terminal
	Dir     string // where the command runs
	// Harmless reports whether another command would run in its place without approval; nil
	// knows of none.
	Harmless func(command string) bool
	Files    []string // of write_file and patch: every name by which each file is reached
	// Workspace is the folder of the session. Commands are allowed only in it and below it, and
	// relative patterns of paths begin there.
	Workspace string
}

// Allow reports whether the rules allow a call although it has the risk with this key. The caller
// asks only about risks that a rule may cover at all; see toolbox.AllowedUnattended.
func (rs Rules) Allow(c Call, risk string) bool {
	own := slices.DeleteFunc(slices.Clone(rs), func(r Rule) bool { return r.tool != c.Tool })
	switch {
	case len(own) == 0:
		return false
	case slices.ContainsFunc(own, func(r Rule) bool { return r.whole }):
		return true
	case c.Tool == toolCommand:
		return own.allowLine(c, risk)
	}
	return own.allowFiles(c)
}
