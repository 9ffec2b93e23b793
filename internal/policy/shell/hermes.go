package shell

// hermes judges commands with which the agent would change or stop itself.
func (j *judge) hermes(rest []string, background bool) {
	for _, words := range possibleCalls(rest) {
		if startsAgent(words, rest) {
			j.ask("self-start", "starts another Hermes, which does not know what this session has read and may do")
			return
		}
		j.hermesCommand(words, rest, background)
	}
}

func (j *judge) hermesCommand(words, rest []string, background bool) {
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
				j.refuse("self-terminate", "stops the gateway that runs this session")
				return
			}
			j.ask("self-terminate", "stops or restarts Hermes itself")
		case background && (verb == "" || verb == "run" || verb == "start"):
			j.ask("gateway-background", "starts the gateway in the background without supervision")
		}
	case "update", "uninstall", "panic":
		j.ask("self-terminate", "replaces or stops Hermes itself")
	case "config", "skills", "cron", "mcp", "plugins", "auth", "pairing", "tools", "model", "setup", "hooks", "approvals", "profile", "fallback", "permissions":
		switch verb {
		case "show", "get", "list", "path", "check", "status", "view", "search", "help":
			if hasLong(rest, "--reveal") {
				j.ask("self-secret", "shows a secret of Hermes")
			}
		default:
			j.ask("self-config", "changes Hermes' own settings")
		}
	case "doctor":
		if hasLong(rest, "--fix") {
			j.ask("self-config", "changes Hermes' own settings")
		}
	case "memory", "learning", "learnings", "journey", "curator", "bundles", "sessions", "session", "undo", "spend", "replay":
		switch verb {
		case "list", "ls", "show", "status", "search", "pending", "diff", "stats", "list-archived", "export", "help":
		case "":
			if words[0] != "undo" {
				return
			}
			fallthrough
		default:
			j.ask("self-memory", "changes what Hermes remembers, or approves pending changes")
		}
	}
}

// startsAgent reports whether a call of Hermes talks to a model: it has only
// options, chat, or a question on the command line.
func startsAgent(words, rest []string) bool {
	if certainShort(rest, "hV", "pmqz") || asksHelp(rest) {
		return false
	}
	return len(words) == 0 || words[0] == "chat" || hasShort(rest, "zq") || hasLong(rest, "--prompt") || hasLong(rest, "--query")
}
