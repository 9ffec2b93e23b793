package terminal

import (
	"slices"

	"hermes/internal/policy/shell/inspect"
)

// meaning explains an exit code that is not a failure, or that has a special
// meaning, if it is certain which command gave it. benign reports whether the
// call succeeded.
func meaning(line string, code int) (note string, benign bool) {
	if code == 0 {
		return "", false
	}
	args := inspect.StatusCommand(line)
	if len(args) == 0 {
		return "", false
	}
	switch name := args[0]; {
	case name == "curl":
		return curlMeaning(code), false
	case code != 1:
		return "", false
	case isSearch(name) || name == "git" && subcommand(args) == "grep":
		return "no matches (not an error)", true
	case name == "diff" || name == "cmp" || name == "colordiff" || name == "sdiff" || name == "git" && subcommand(args) == "diff":
		return "differences were found (not an error)", true
	case name == "test" || name == "[" || name == "[[":
		return "the condition is false (not an error)", true
	case name == "find" && !slices.ContainsFunc(args, runsForFind):
		return "some folders could not be read; what was found is valid", true
	}
	return "", false
}

// runsForFind reports whether an argument of find runs a command, whose failure
// gives find's status.
func runsForFind(arg string) bool {
	return slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, arg)
}

func isSearch(name string) bool {
	return slices.Contains([]string{"grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "pgrep"}, name)
}

// subcommand is the first of git's arguments that is not an option.
func subcommand(args []string) string {
	for i := 1; i < len(args); i++ {
		switch {
		case args[i] == "-C" || args[i] == "-c":
			i++
		case args[i] == "" || args[i][0] != '-':
			return args[i]
		}
	}
	return ""
}

func curlMeaning(code int) string {
	switch code {
	case 6:
		return "the host name could not be resolved"
	case 7:
		return "could not connect to the host"
	case 22:
		return "the server answered with an HTTP error"
	case 28:
		return "the transfer timed out"
	case 35:
		return "the TLS handshake failed"
	case 52:
		return "the server sent no answer"
	case 56:
		return "the connection broke while receiving data"
	case 60:
		return "the server's certificate could not be verified"
	}
	return ""
}
