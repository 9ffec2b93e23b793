package prompt

import (
	"fmt"
	"path/filepath"
	"strings"

	"hermes/internal/text"
)

// longestName bounds a name from outside, such as that of a folder, in characters.
const longestName = 500

// environment describes where commands run.
func environment(p Environment) string {
	var lines []string
	if p.Backend != "" && p.Backend != "local" {
		lines = append(lines, strings.ReplaceAll(fixed("remote"), "{backend}", p.Backend))
	}
	shell := p.Shell
	if shell != "" {
		shell = filepath.Base(shell)
	}
	for _, f := range [...]struct{ name, value string }{
		{"System", p.OS}, {"User", p.User}, {"Home folder", p.Home}, {"Working folder", p.Dir}, {"Shell", shell}, {"Sandbox", p.Isolation},
	} {
		if f.value != "" {
			lines = append(lines, fmt.Sprintf("%s: %s", f.name, text.OneLine(f.value, longestName)))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "# Environment\n\n" + strings.Join(lines, "\n")
}

// session is the last line: the day, never the time, so that prompts of one day
// are equal.
func session(in Input) string {
	var parts []string
	if !in.Started.IsZero() {
		parts = append(parts, "This session began on "+in.Started.Format("Monday, 2 January 2006")+".")
	}
	if in.SessionID != "" {
		parts = append(parts, "Its id is "+text.OneLine(in.SessionID, longestName)+".")
	}
	return strings.Join(parts, " ")
}
