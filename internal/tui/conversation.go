package tui

import (
	"slices"
	"strings"

	"hermes"

	"hermes/internal/command"
	"hermes/internal/session"
)

// conversation is the session of the chat, as far as the chat knows it.
type conversation struct {
	opened, closed bool // closed: the session has ended
	id, title      string
	window         int
	spoken         bool     // it has at least one message
	early          []any    // actions that wait until it is open
	waiting        []string // messages that were sent and not yet started
	queued         int      // how many messages the session reports as waiting
	resuming       int      // ops that resume or repeat a turn and are not yet taken
}

// open adopts the opened session and returns the actions that waited for it.
func (c *conversation) open(msg openedMsg) (early []any) {
	c.opened, c.closed, c.id, c.spoken = true, false, msg.id, msg.resumed
	early, c.early = c.early, nil
	return early
}

// learn adopts what the session says about itself.
func (c *conversation) learn(st session.State) { c.title, c.window = st.Row.Title, st.Window }

// later returns an action now, or keeps it until the session is open. Quitting
// needs no session.
func (c *conversation) later(do any) []any {
	if resumes(do) {
		c.resuming++
	}
	if c.opened {
		return []any{do}
	}
	if call, ok := do.(commandDo); ok {
		if name, _, _ := command.Split(call.line); name == "quit" || name == "exit" {
			return []any{quitDo{}}
		}
	}
	c.early = append(c.early, do)
	return nil
}

// resumes reports whether an action begins a turn without a message that waits.
func resumes(do any) bool {
	switch do := do.(type) {
	case submitDo:
		_, ok := do.op.(hermes.Continue)
		return ok
	case commandDo:
		return runs(do.line, "retry", "continue")
	}
	return false
}

// runs reports whether a line runs one of the commands.
func runs(line string, names ...string) bool {
	name, _, _ := command.Split(line)
	c, _ := command.Find(name, command.Terminal)
	return slices.Contains(names, c.Name)
}

// taken notes that the session took an action, or refused it.
func (c *conversation) taken(do any) {
	if resumes(do) {
		c.resuming = max(c.resuming-1, 0) // it may be of the session before
	}
}

// preparing reports whether a turn was asked for that has not begun.
func (c *conversation) preparing() bool { return c.opened && (len(c.waiting) > 0 || c.resuming > 0) }

// begun removes a message from those that wait. Attached text may follow the
// text of the user.
func (c *conversation) begun(text string) {
	if i := slices.IndexFunc(c.waiting, func(w string) bool { return w == text || strings.HasPrefix(text, w+"\n") }); i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
	}
}

// takeBack returns the messages that wait, which are dropped.
func (c *conversation) takeBack() string {
	text := strings.Join(c.waiting, "\n\n")
	c.waiting = nil
	return text
}

// stored is the id of the session, if there is something to resume.
func (c *conversation) stored() string {
	if !c.spoken {
		return ""
	}
	return c.id
}
