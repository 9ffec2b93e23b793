package script

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// mapped are the tools that have names of Claude Code, or that its hooks are about.
var mapped = [...]string{"terminal", "read_file", "write_file", "patch", "search_files", "delegate_task", "todo", "web_extract", "web_search"}

// onlyClaude are tools of Claude Code that nothing here is like.
var onlyClaude = [...]string{"MultiEdit", "NotebookEdit", "NotebookRead", "LS", "BashOutput", "KillShell", "KillBash", "ExitPlanMode", "EnterPlanMode", "SlashCommand", "Skill", "AskUserQuestion", "Agent", "LSP"}

// plainMatcher is a matcher of names, as most are.
var plainMatcher = regexp.MustCompile(`^[A-Za-z0-9_:-]+(\|[A-Za-z0-9_:-]+)*$`)

// Unmatched says which part of the matcher fits nothing that there is; "" if nothing is wrong with it. tools are
// the names of the tools of sessions. Those of MCP servers come and go, so a matcher that may be for one of them
// is not judged.
func (h Entry) Unmatched(tools []string) string {
	if h.match == nil {
		return ""
	}
	names := h.names(tools)
	what := "no tool"
	if h.event.about != "tool" {
		what = "nothing: it is compared with " + strings.Join(names, " or ")
	}
	if !plainMatcher.MatchString(h.Matcher) {
		if slices.ContainsFunc(names, h.match.MatchString) || strings.Contains(h.Matcher, "__") || strings.Contains(h.Matcher, "mcp") {
			return ""
		}
		return fmt.Sprintf("the matcher %s fits %s", h.Matcher, what)
	}
	fits := false
	for word := range strings.SplitSeq(h.Matcher, "|") {
		switch {
		case slices.Contains(names, word) || strings.HasPrefix(word, "mcp__"):
			fits = true
		case h.event.claude && h.event.about == "tool" && slices.Contains(onlyClaude[:], word): // part of many lists
		case h.event.about == "tool":
			if like := h.like(word, names); like != "" {
				return fmt.Sprintf("the matcher names %s, which is no tool for this event; did you mean %s?", word, like)
			}
			return fmt.Sprintf("the matcher names %s, which is no tool", word)
		}
	}
	if fits {
		return ""
	}
	return fmt.Sprintf("the matcher %s fits %s", h.Matcher, what)
}

// names are what a matcher may be compared with.
func (h Entry) names(tools []string) (names []string) {
	switch h.event.about {
	case "source":
		return []string{"startup", "resume"}
	case "trigger":
		return []string{"auto"}
	case "reason":
		return []string{"other"}
	case "notification":
		return []string{permissionPrompt, elicitationDialog}
	}
	if h.event.name == "transform_terminal_output" {
		return []string{"terminal"}
	}
	for _, tool := range slices.Concat(mapped[:], tools) {
		if h.event.claude {
			if tool == "search_files" {
				names = append(names, "Glob")
			}
			tool = claudeName(tool, nil).name
		}
		names = append(names, tool)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// like is the name that a wrong one was meant to be: that of the other form, or a similar one.
func (h Entry) like(word string, names []string) string {
	for _, tool := range mapped {
		switch theirs := claudeName(tool, nil).name; {
		case h.event.claude && word == tool:
			return theirs
		case !h.event.claude && word == theirs:
			return tool
		}
	}
	if !h.event.claude && word == "Glob" {
		return "search_files"
	}
	return nearest(word, names)
}
