package shell

import "slices"

// hermes judges commands that change or stop the agent from inside.
func (j *judge) hermes(rest []string, background bool) {
	words := ownWords(rest)
	if startsAgent(words, rest) {
		j.ask("self-start", "starts another Hermes, which does not know what this conversation has read and may do")
		return
	}
	if len(words) == 0 {
		return
	}
	verb := ""
	if len(words) > 1 {
		verb = words[1]
	}
	switch words[0] {
	case "gateway":
		switch {
		case verb == "stop" || verb == "restart" || verb == "uninstall":
			if j.context.Gateway {
				j.refuse("self-terminate", "stops the gateway that runs this very session")
				return
			}
			j.ask("self-terminate", "stops or restarts Hermes itself")
		case background && (verb == "" || verb == "run" || verb == "start"):
			j.ask("gateway-background", "starts the gateway in the background, where nobody watches it")
		}
	case "update", "uninstall", "panic":
		j.ask("self-terminate", "replaces or stops Hermes itself")
	case "config", "skills", "cron", "mcp", "plugins", "auth", "pairing", "tools", "model", "setup", "hooks", "approvals", "profile":
		switch verb {
		case "show", "get", "list", "path", "check", "status", "view", "search", "help":
		default:
			j.ask("self-config", "changes Hermes' own settings")
		}
	case "memory", "learning", "learnings", "curator", "bundles", "sessions", "session", "undo", "spend", "replay":
		switch verb {
		case "list", "ls", "show", "status", "search", "pending", "diff", "stats", "list-archived", "export", "help":
		case "":
			if words[0] != "undo" {
				return
			}
			fallthrough
		default:
			j.ask("self-memory", "changes what Hermes remembers, or lets through what waits for you")
		}
	}
}

// ownWords are the words of a call of Hermes without options and the values of
// its global ones.
func ownWords(args []string) []string {
	var rest []string
	for i := 0; i < len(args); i++ {
		if args[i] == "-p" || args[i] == "--profile" {
			i++
			continue
		}
		rest = append(rest, args[i])
	}
	return plainWords(rest)
}

// startsAgent reports that a call of Hermes talks to a model: nothing but
// options, chat, or a question on the command line.
func startsAgent(words, rest []string) bool {
	if hasShort(rest, "hV") || hasLong(rest, "--help") || hasLong(rest, "--version") {
		return false
	}
	return len(words) == 0 || words[0] == "chat" || hasShort(rest, "z") || hasLong(rest, "--prompt") ||
		slices.Contains(rest, "-q") || hasLong(rest, "--query")
}
