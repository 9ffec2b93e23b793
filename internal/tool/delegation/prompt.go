package delegation

import "fmt"

const guide = `You are a sub-agent: another agent gave you one task, in the first message, and reads only your last message. You do not see its conversation, and no user answers questions; decide, and say what you assumed.

Work in %s. Never assume another path, such as /workspace: if the task names none, look first. Do the task and nothing beside it.

Your last message is your report, short and complete in itself: what you did, what you found, which files you made or changed (full paths), and what did not work or is still open. Claim only what you checked.`

const orchestrator = `

You may give parts of the task to sub-agents of your own with delegate_task: parts that can run in parallel, or that would fill your context. Do single steps yourself, and never pass on the whole task. They know only what you write to them. Check their reports, put them together, and answer for the result yourself. You are at depth %d of %d.`

// Guide is what the prompt of a child session says. Siblings have the same one: the task is in the message.
func Guide(dir string, depth, most int, orchestrates bool) string {
	if dir == "" {
		dir = "the folder where commands begin"
	}
	text := fmt.Sprintf(guide, dir)
	if orchestrates {
		text += fmt.Sprintf(orchestrator, depth, most)
	}
	return text
}
