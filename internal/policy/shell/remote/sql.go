package remote

import (
	"strings"

	"hermes/internal/policy/shell/code"
	"hermes/internal/policy/shell/track"
)

// Sql looks for statements that delete tables or all their rows in the arguments
// and input of a command. It skips programs that only show, search or store
// text: to them it is data.
func Sql(l *track.Line, name string, args []string, in track.Input) {
	switch name {
	case "echo", "printf", "cat", "grep", "egrep", "fgrep", "rg", "ag", "ack", "git", "gh", "tee", "sed", "awk", "less", "head", "tail", "find", "ls", "truncate":
		return
	}
	texts := args
	if code.IsStatement(name) {
		texts = []string{name + " " + strings.Join(args, " ")}
	}
	for _, text := range append([]string{in.Text}, texts...) {
		if len(text) > 8 && code.Destroys(text) {
			l.Ask("destructive-sql", "deletes database tables or all their rows")
			return
		}
	}
}
