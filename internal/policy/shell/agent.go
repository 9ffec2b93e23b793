package shell

import "slices"

// otherAgent judges programs that let another model work on this machine: it knows
// neither the approvals nor the rules of this session.
func (j *judge) otherAgent(name string, rest []string) {
	switch name {
	case "claude", "codex", "gemini", "aider", "opencode", "cursor-agent", "amp", "crush", "qwen", "auggie", "kiro-cli", "openhands", "interpreter":
	case "gh":
		if slices.Contains(plainWords(rest), "alias") {
			j.hiddenTexts("", rest)
		}
		return
	default:
		return
	}
	if asksHelp(rest) || certainOption(rest, func(a string) bool { return a == "-v" || a == "-h" }) {
		return
	}
	j.ask("other-agent", "starts another agent, which does not know what this session may do")
}
