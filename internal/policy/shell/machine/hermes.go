package machine

import (
	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/track"
)

// Hermes judges commands with which the agent would change or stop itself.
func Hermes(l *track.Line, rest []string, background bool) {
	for _, words := range getopt.PossibleCalls(rest) {
		if startsAgent(words, rest) {
			l.Ask("self-start", "starts another Hermes, which does not know what this session has read and may do")
			return
		}
		hermesCommand(l, words, rest, background)
	}
}

func hermesCommand(l *track.Line, words, rest []string, background bool) {
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
			if l.Context.Gateway {
				l.Refuse("self-terminate", "stops the gateway that runs this session")
				return
			}
			l.Ask("self-terminate", "stops or restarts Hermes itself")
		case background && (verb == "" || verb == "run" || verb == "start"):
			l.Ask("gateway-background", "starts the gateway in the background without supervision")
		}
	case "update", "uninstall", "panic":
		l.Ask("self-terminate", "replaces or stops Hermes itself")
	case "config", "skills", "cron", "mcp", "plugins", "auth", "pairing", "tools", "model", "setup", "hooks", "approvals", "profile", "fallback", "permissions", "trust":
		switch verb {
		case "show", "get", "list", "path", "check", "status", "view", "search", "help", "doctor":
			if getopt.HasLong(rest, "--reveal") {
				l.Ask("self-secret", "shows a secret of Hermes")
			}
			if getopt.HasLong(rest, "--run") { // hooks doctor
				l.Ask("self-config", "runs the hooks of Hermes")
			}
			if words[0] == "plugins" && verb == "doctor" && !getopt.HasLong(rest, "--no-start") {
				l.Ask("self-config", "starts the plugins of Hermes")
			}
		default:
			l.Ask("self-config", "changes Hermes' own settings")
		}
	case "doctor":
		if getopt.HasLong(rest, "--fix") {
			l.Ask("self-config", "changes Hermes' own settings")
		}
	case "checkpoints":
		switch verb {
		case "", "list", "ls", "diff", "help":
		case "restore":
			if !getopt.HasLong(rest, "--preview") {
				l.Ask("self-checkpoints", "restores files from a checkpoint")
			}
		default:
			l.Ask("self-checkpoints", "removes checkpoints of files")
		}
	case "worktree":
		if verb == "remove" || verb == "rm" {
			l.Ask("self-checkpoints", "removes a worktree of a session")
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
			l.Ask("self-memory", "changes what Hermes remembers, or approves pending changes")
		}
	}
}

// startsAgent reports whether a call of Hermes talks to a model: it has only
// options, chat, or a question on the command line.
func startsAgent(words, rest []string) bool {
	if getopt.CertainShort(rest, "hV", "pmqz") || getopt.AsksHelp(rest) {
		return false
	}
	return len(words) == 0 || words[0] == "chat" || getopt.HasShort(rest, "zq") || getopt.HasLong(rest, "--prompt") || getopt.HasLong(rest, "--query")
}
