package tui

import (
	"cmp"
	"errors"

	"hermes"
	"hermes/internal/command"
	"hermes/internal/markup"
	"hermes/internal/protocol"
	"hermes/internal/text"
	"hermes/internal/tui/input"
)

// update changes the model by a message and returns the actions to carry out.
func (m *model) update(msg any) []any {
	switch msg := msg.(type) {
	case input.Key:
		return m.key(msg)
	case pasteMsg:
		m.paste(string(msg))
	case sizeMsg:
		m.height = msg.height
		m.resize(msg.width - 1)
	case tickMsg:
		m.turn.spin++
		m.leave.tick(m.now())
		m.slow()
	case eventMsg:
		return m.happened(msg.Envelope)
	case noteMsg:
		m.say(m.Faint(markup.Clip(markup.OneLine(string(msg)), m.width)))
	case openedMsg:
		return m.isOpen(msg)
	case lostMsg:
		m.lost(msg.err)
	case foundMsg:
		return m.found(msg.state)
	case goneMsg:
		m.isGone(msg.err)
	case submittedMsg:
		return m.submitted(msg)
	case ranMsg:
		m.ran(msg)
	case namesMsg:
		m.input.Offer(msg.word, msg.names)
	}
	return nil
}

// isOpen adopts the opened session and returns the actions that waited for it.
func (m *model) isOpen(msg openedMsg) []any {
	if msg.err != nil {
		m.say(m.errorLines(msg.err.Error())...)
		m.conv = conversation{}
		return []any{quitDo{}}
	}
	early := m.conv.open(msg)
	m.turn, m.usage, m.last = runningTurn{}, hermes.Usage{}, msg.state.Context
	if t := msg.state.Turn; t != nil {
		m.turn.start(t.Began)
	}
	m.conv.learn(msg.state)
	m.model = cmp.Or(msg.state.Configured.Model, msg.state.Session.Model, m.model)
	if msg.resumed {
		m.resumed(msg)
	}
	if msg.untitled != nil {
		m.complain(msg.untitled)
	}
	// A first message replaces the open question. In a session of another process, its own
	// frontend asks again.
	if msg.state.Parked && len(early) == 0 && !msg.foreign {
		return m.conv.later(submitDo{op: hermes.Continue{}})
	}
	return early
}

// resumed shows where the session stopped that was resumed or attached to.
func (m *model) resumed(msg openedMsg) {
	s := msg.state
	word := "Resumed: "
	if msg.foreign {
		word = "Attached: "
	}
	m.say(m.Faint(markup.Clip(word+markup.OneLine(cmp.Or(s.Session.Title, s.Session.ID))+", "+text.Plural(s.Session.Messages, "message", "messages"), m.width)))
	for _, said := range msg.last {
		if said.Role == hermes.RoleUser {
			m.say(m.userLines(said)...)
			continue
		}
		m.say(markup.Render(said.Visible(), m.prose(m.width))...)
	}
	m.stopped(s, !msg.foreign)
	if left := leftWaiting(s); left != "" {
		m.say(m.Warn(left))
	}
}

// leftWaiting says what waits for an answer since an earlier process ended.
func leftWaiting(s protocol.Snapshot) string {
	if len(s.Queue) == 0 || s.Turn != nil {
		return ""
	}
	return text.Plural(len(s.Queue), "message waits", "messages wait") + " for an answer. Your next message goes with it; /continue answers now, /stop drops it."
}

// happened handles an event of the session, or of a child of it.
func (m *model) happened(e protocol.Envelope) []any {
	if e.Parent != "" {
		return m.inChild(e)
	}
	m.event(e.Event)
	switch e := e.Event.(type) {
	case hermes.TurnStarted:
		m.started()
		if !m.ofOther(e.From) {
			m.conv.begun(e.Message.Visible())
		}
	case hermes.StepStarted, hermes.CallStarted: // a continued turn has no TurnStarted
		if !m.turn.busy {
			m.started()
		}
	case hermes.Steered:
		m.conv.begun(e.Text)
	case hermes.Queued:
		m.conv.queue = e.Messages
		if len(e.Messages) == 0 && m.turn.busy {
			m.conv.drained()
		}
	case hermes.Titled:
		m.conv.title = e.Title
	case hermes.Configured:
		m.conv.window, m.model = e.Window, cmp.Or(e.Model, m.model)
	case hermes.ModeChanged:
		m.conv.mode = e.Mode
	case hermes.Asked:
		return m.asked(e, "")
	case hermes.AnswerTaken:
		m.answered(e, "")
	case hermes.CommandDone:
		return m.commandDone(e)
	case hermes.TurnDone:
		m.turn.end()
		if m.d.BellDone {
			return []any{bellDo{}}
		}
	}
	return nil
}

// inChild handles an event of a child session: its questions are shown here.
func (m *model) inChild(e protocol.Envelope) []any {
	switch d := e.Event.(type) {
	case hermes.TurnStarted:
		if m.conv.children == nil {
			m.conv.children = map[string]string{}
		}
		m.conv.children[e.Session] = d.Message.Visible()
	case hermes.Asked:
		return m.asked(d, e.Session)
	case hermes.AnswerTaken:
		m.answered(d, e.Session)
	case hermes.Closed:
		delete(m.conv.children, e.Session)
	}
	return nil
}

// started notes that a turn runs.
func (m *model) started() {
	m.turn.start(m.now())
	m.conv.spoken = true
}

// ran notes that a command has run. Without an outcome it says why.
func (m *model) ran(msg ranMsg) {
	m.conv.taken(commandDo{msg.line})
	if msg.err != nil {
		m.failed(msg.line, msg.err)
	}
}

// failed shows why a command failed.
func (m *model) failed(line string, err error) {
	_, args, _ := command.Split(line)
	m.conv.begun(args)
	if _, ok := calledSkill(line); ok && errors.Is(err, hermes.ErrInterrupted) {
		m.input.Before(line)
	}
	m.complain(err)
}

// commandDone shows the outcome of a slash command and runs the action that only the
// chat can carry out. Of a command of another frontend it shows that it was run.
func (m *model) commandDone(e hermes.CommandDone) []any {
	if e.From.Client != m.self {
		m.say(m.Faint(markup.Clip(markup.OneLine(e.From.String()+" ran "+e.Line), m.width)))
		return nil
	}
	if e.Failure != nil {
		m.failed(e.Line, e.Failure)
		return nil
	}
	if !m.turn.busy && runs(e.Line, "stop") {
		m.conv.waiting, m.conv.queue = nil, nil // nothing waits any more
	}
	if e.Confirm != "" {
		if e.Text != "" { // what it is about
			m.say(markup.Render(e.Text, m.prose(m.width))...)
		}
		var lines []string
		for _, l := range wrapPlain(markup.Visible(e.Confirm), max(min(m.width, maxProse)-2, 8)) {
			lines = append(lines, m.Warn("▌ ")+l)
		}
		m.say(lines...)
		m.asks = append(m.asks, newConfirm(e.ConfirmLine, m.now()))
		return nil
	}
	if e.Text != "" {
		m.say(markup.Render(e.Text, m.prose(m.width))...)
	}
	switch e.Action {
	case hermes.ActionQuit:
		return []any{quitDo{}}
	case hermes.ActionNew:
		return m.newSession(e.Arg)
	case hermes.ActionClear:
		return append([]any{clearDo{}}, m.newSession(e.Arg)...)
	case hermes.ActionSwitch:
		return []any{openDo{want{resume: e.Arg}}}
	case hermes.ActionCopy:
		return []any{copyDo{e.Arg}}
	case hermes.ActionRedraw:
		return []any{redrawDo{}}
	case hermes.ActionThinking:
		m.d.Reasoning = e.Arg == "show"
	}
	return nil
}

func (m *model) newSession(title string) []any {
	m.reset()
	m.say(m.Faint("New session"))
	return []any{openDo{want{title: title}}}
}

// reset forgets everything of the current session. The text of the model stays on the screen.
func (m *model) reset() {
	m.finish()
	m.conv, m.turn = conversation{early: m.conv.early}, runningTurn{}
	m.asks, m.calls, m.step = nil, nil, step{}
	m.input.Unstash()
}

// paste takes a pasted text, which never chooses the answer to a question.
func (m *model) paste(text string) {
	last := m.input.Pressed(m.now())
	if a := m.ask(); a != nil && a.chooses() && (a.confirm != "" || a.arm(last, m.now())) {
		m.input.Stash()
		a.pasted, a.at = true, len(a.options)-1
	}
	m.input.Paste(text)
}
