package tui

import (
	"hermes"
	"hermes/internal/command"
	"hermes/internal/markup"
	"hermes/internal/session"
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
	case eventMsg:
		return m.happened(msg.event)
	case waitingMsg:
		m.say(m.Faint(markup.Clip(markup.OneLine(string(msg)), m.width)))
	case openedMsg:
		return m.isOpen(msg)
	case stateMsg:
		m.setState(msg.state)
	case submittedMsg:
		m.submitted(msg)
	case ranMsg:
		return m.ran(msg)
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
	m.turn.busy, m.usage, m.last = msg.state.Running, hermes.Usage{}, msg.state.Last
	m.setState(msg.state)
	if msg.resumed {
		m.resumed(msg.state)
	}
	if msg.state.Asking && len(early) == 0 { // a first message replaces the open question
		return m.conv.later(submitDo{hermes.Continue{}})
	}
	return early
}

func (m *model) setState(st session.State) {
	m.conv.learn(st)
	if st.Row.Model != "" {
		m.model = st.Row.Model
	}
}

// resumed shows where the resumed session stopped.
func (m *model) resumed(st session.State) {
	name := st.Row.ID
	if st.Row.Title != "" {
		name = st.Row.Title
	}
	var shown []hermes.Message
	for _, msg := range st.Transcript {
		if msg.Role != hermes.RoleTool && !msg.Synthetic && msg.Visible() != "" {
			shown = append(shown, msg)
		}
	}
	m.say(m.Faint(markup.Clip("Resumed: "+markup.OneLine(name)+", "+text.Plural(len(shown), "message", "messages"), m.width)))
	for _, msg := range shown[max(len(shown)-2, 0):] {
		if msg.Role == hermes.RoleUser {
			m.say(m.userLines(msg)...)
			continue
		}
		m.say(markup.Render(msg.Visible(), m.prose(m.width))...)
	}
	switch {
	case st.Asking:
		m.say(m.Warn("Waiting for your answer."))
	case st.Cut:
		m.say(m.Warn("The last turn was cut off. Use /continue to resume it."))
	}
	if left := leftWaiting(st); left != "" {
		m.say(m.Warn(left))
	}
}

// leftWaiting says what waits for an answer since an earlier process ended.
func leftWaiting(st session.State) string {
	if st.Queued == 0 || st.Running {
		return ""
	}
	return text.Plural(st.Queued, "message waits", "messages wait") + " for an answer. Your next message goes with it; /continue answers now, /stop drops it."
}

// happened handles an event of the session.
func (m *model) happened(e hermes.Event) []any {
	m.event(e)
	switch e := e.(type) {
	case hermes.TurnStarted:
		m.started()
		m.conv.begun(e.Message.Visible())
	case hermes.StepStarted, hermes.CallStarted: // a continued turn has no TurnStarted
		if !m.turn.busy {
			m.started()
		}
	case hermes.Steered:
		m.conv.begun(e.Text)
	case hermes.Queued:
		m.conv.queued = len(e.Messages)
		if len(e.Messages) == 0 && m.turn.busy {
			m.conv.waiting = nil
		}
	case hermes.Titled:
		m.conv.title = e.Title
	case hermes.Asked:
		return m.asked(e)
	case hermes.AnswerTaken:
		m.answered(e.ID)
	case hermes.TurnDone:
		m.turn.end()
		if m.d.BellDone {
			return []any{stateDo{}, bellDo{}}
		}
		return []any{stateDo{}}
	case hermes.Closed:
		m.conv.closed, m.turn.busy = true, false
	}
	return nil
}

// started notes that a turn runs.
func (m *model) started() {
	m.turn.start(m.now())
	m.conv.spoken = true
}

// ran shows the result of a slash command and runs the action that only the
// chat can carry out.
func (m *model) ran(msg ranMsg) []any {
	m.conv.taken(commandDo{line: msg.line})
	if msg.err != nil {
		_, args, _ := command.Split(msg.line)
		m.conv.begun(args)
		m.complain(msg.err)
		return nil
	}
	if !m.turn.busy && runs(msg.line, "stop") {
		m.conv.waiting, m.conv.queued = nil, 0 // nothing waits any more
	}
	if q := msg.result.Confirm; q != "" {
		var lines []string
		for _, l := range wrapPlain(markup.Visible(q), max(min(m.width, maxProse)-2, 8)) {
			lines = append(lines, m.Warn("▌ ")+l)
		}
		m.say(lines...)
		m.asks = append(m.asks, newConfirm(msg.line, m.now()))
		return nil
	}
	if len(msg.result.Message) > 0 {
		return m.submit(msg.result.Message)
	}
	if text := msg.result.Text; text != "" {
		m.say(markup.Render(text, m.prose(m.width))...)
	}
	switch msg.result.Action {
	case hermes.ActionQuit:
		return []any{quitDo{}}
	case hermes.ActionNew:
		return m.newSession(msg.result.Arg)
	case hermes.ActionClear:
		return append([]any{clearDo{}}, m.newSession(msg.result.Arg)...)
	case hermes.ActionSwitch:
		return []any{openDo{Want{Resume: msg.result.Arg}}}
	case hermes.ActionCopy:
		return []any{copyDo{msg.result.Arg}}
	case hermes.ActionRedraw:
		return []any{redrawDo{}}
	case hermes.ActionThinking:
		m.d.Reasoning = msg.result.Arg == "show"
	}
	return []any{stateDo{}}
}

func (m *model) newSession(title string) []any {
	m.reset()
	m.say(m.Faint("New session"))
	return []any{openDo{Want{Title: title}}}
}

// reset forgets everything of the current session.
func (m *model) reset() {
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
