package tui

import (
	"slices"

	"hermes"

	"hermes/internal/command"
	"hermes/internal/protocol"
)

// conversation is the session of the chat, as far as the chat knows it.
type conversation struct {
	opened, closed bool // closed: the session is gone for good
	lost           bool // it is out of reach; the chat attaches again
	foreign        bool // it ran in another process when the chat attached
	id, title      string
	window         int
	mode           hermes.RightsMode
	spoken         bool  // it has at least one message
	early          []any // actions that wait until it is open
	reached
	waiting  []sent                 // messages that were sent and not yet started
	queue    []hermes.QueuedMessage // what waits, as the session reports it
	resuming int                    // requests that may begin a turn and are not yet taken
	children map[string]string      // the goals of its child sessions, by id
}

// reached is how often the chat attached to the session, and since which one it is that of
// an epoch.
type reached struct{ attachments, since, epoch int64 }

// open adopts the opened session and returns the actions that waited for it.
func (c *conversation) open(msg openedMsg) (early []any) {
	c.opened, c.closed, c.id, c.spoken, c.foreign = true, false, msg.id, msg.resumed, msg.foreign
	early, c.early = c.early, nil
	return early
}

// learn adopts what a snapshot says about the session.
func (c *conversation) learn(s protocol.Snapshot) {
	c.title, c.window, c.queue, c.mode = s.Session.Title, s.Configured.Window, s.Queue, s.Mode
}

// nextMode returns the action that goes on to the next mode: ask, accept-edits, plan, and ask
// again. No key leads to yolo.
func (c *conversation) nextMode() []any {
	if !c.opened {
		return nil
	}
	next := hermes.ModeAsk
	switch c.mode {
	case "", hermes.ModeAsk:
		next = hermes.ModeAcceptEdits
	case hermes.ModeAcceptEdits:
		next = hermes.ModePlan
	}
	return []any{submitDo{op: hermes.SetMode{Mode: next}}}
}

// attached notes that the chat is attached, and reports whether another process is the owner now.
func (c *conversation) attached(epoch int64) bool {
	c.attachments++
	if epoch == c.epoch {
		return false
	}
	c.epoch, c.since = epoch, c.attachments
	return true
}

// later returns an action now, or keeps it until the session is open.
func (c *conversation) later(do any) []any {
	if begins(do) {
		c.resuming++
	}
	if c.opened {
		return []any{do}
	}
	c.early = append(c.early, do)
	return nil
}

// begins reports whether an action may begin a turn without a message that waits.
func begins(do any) bool {
	switch do := do.(type) {
	case submitDo:
		_, ok := do.op.(hermes.Continue)
		return ok
	case commandDo:
		_, isSkill := calledSkill(do.line)
		return isSkill || runs(do.line, "retry", "continue", "learn", "refine")
	}
	return false
}

// The lines are run by the process of the session. What the chat knows of commands is their
// names, from the table of the package command: it must know which lines skip the queue of its
// requests (/stop), show at once what waits (/queue, /steer), or are done without the session
// (/quit), before it has an outcome.

// runs reports whether a line runs one of the commands.
func runs(line string, names ...string) bool {
	name, _, _ := command.Split(line)
	c, _ := command.Find(name, command.Terminal)
	return slices.Contains(names, c.Name)
}

// calledSkill reports whether a line has no command of its own, so that it may call a skill.
func calledSkill(line string) (name string, ok bool) {
	name, _, ok = command.Split(line)
	if !ok {
		return "", false
	}
	c, _ := command.Find(name, command.Terminal)
	return name, c.Name != name && !slices.Contains(c.Aliases, name)
}

// taken notes that the session took an action, or refused it.
func (c *conversation) taken(do any) {
	if begins(do) {
		c.resuming = max(c.resuming-1, 0) // it may be of the session before
	}
}

// preparing reports whether a turn was asked for that has not begun.
func (c *conversation) preparing() bool { return c.opened && (len(c.waiting) > 0 || c.resuming > 0) }

// others are the waiting messages that other frontends sent.
func (c *conversation) others(self string) []hermes.QueuedMessage {
	var list []hermes.QueuedMessage
	for _, q := range c.queue {
		if q.From.Client != "" && q.From.Client != self {
			list = append(list, q)
		}
	}
	return list
}

// stored is the id of the session, if there is something to resume.
func (c *conversation) stored() string {
	if !c.spoken {
		return ""
	}
	return c.id
}
