package tui

import (
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/command"
	"hermes/internal/markup"
	"hermes/internal/session"
)

// leaveTime is how long a second Ctrl+C leaves.
const leaveTime = 2 * time.Second

// complaintTime is how long the same error must be away to be said again.
const complaintTime = 2 * time.Second

// update changes the model by a message and returns what is to be done.
func (m *model) update(msg any) []any {
	switch msg := msg.(type) {
	case keyMsg:
		return m.key(msg)
	case pasteMsg:
		m.pasted(string(msg))
	case sizeMsg:
		m.height = msg.height
		m.resize(msg.width - 1)
	case tickMsg:
		m.spin++
		if m.leaving && m.now().After(m.leaveBy) {
			m.leaving = false
		}
	case eventMsg:
		return m.happened(msg.event)
	case waitingMsg:
		m.say(m.faint(markup.Clip(oneLine(markup.Visible(string(msg))), m.width)))
	case openedMsg:
		return m.isOpen(msg)
	case stateMsg:
		m.stands(msg.state)
	case submittedMsg:
		m.submitted(msg)
	case ranMsg:
		return m.ran(msg)
	}
	return nil
}

// isOpen takes the session that was asked for and gives it what waited.
func (m *model) isOpen(msg openedMsg) []any {
	if msg.err != nil {
		m.say(m.errorLines(msg.err.Error())...)
		m.waiting, m.early = nil, nil
		return []any{quitDo{}}
	}
	m.opened, m.closed, m.busy = true, false, msg.state.Running
	m.id, m.usage, m.last = msg.id, hermes.Usage{}, msg.state.Last
	m.spoken = msg.resumed
	m.stands(msg.state)
	if msg.resumed {
		m.resumed(msg.state)
	}
	early := m.early
	m.early = nil
	if msg.state.Asking && len(early) == 0 { // who sends words at once says something else
		return []any{submitDo{session.Continue{}}}
	}
	return early
}

func (m *model) stands(st session.State) {
	m.title, m.window = st.Row.Title, st.Window
	if st.Row.Model != "" {
		m.model = st.Row.Model
	}
}

// resumed recalls where an old session stopped.
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
	m.say(m.faint(markup.Clip("resumed: "+oneLine(name)+", "+plural(len(shown), "message"), m.width)))
	for _, msg := range shown[max(len(shown)-2, 0):] {
		if msg.Role == hermes.RoleUser {
			m.say(m.personLines(msg)...)
			continue
		}
		m.say(markup.Render(msg.Visible(), m.prose(m.width))...)
	}
	switch {
	case st.Asking:
		m.say(m.warn("It waits for your answer."))
	case st.Cut:
		m.say(m.warn("The last turn was cut off. /continue goes on with it."))
	}
}

// happened takes an event of the session.
func (m *model) happened(e hermes.Event) []any {
	m.event(e)
	switch e := e.(type) {
	case hermes.TurnStarted:
		m.busy, m.stopping, m.began, m.spoken = true, false, m.now(), true
		m.begun(e.Message.Visible())
	case hermes.StepStarted, hermes.CallStarted: // a turn that goes on has no start
		if !m.busy {
			m.busy, m.stopping, m.began, m.spoken = true, false, m.now(), true
		}
	case hermes.Steered:
		m.begun(e.Text)
	case hermes.Queued:
		m.queued = e.Waiting
		if e.Waiting == 0 && m.busy {
			m.waiting = nil
		}
	case hermes.Titled:
		m.title = e.Title
	case hermes.Asked:
		return m.asked(e)
	case hermes.AnswerTaken:
		m.answered(e.ID)
	case hermes.TurnDone:
		m.busy, m.stopping = false, false
		if m.d.BellDone {
			return []any{stateDo{}, bellDo{}}
		}
		return []any{stateDo{}}
	case hermes.Closed:
		m.closed, m.busy = true, false
	}
	return nil
}

// begun takes a message off those that wait. What was attached to it may stand
// below what was written.
func (m *model) begun(text string) {
	if i := slices.IndexFunc(m.waiting, func(w string) bool { return w == text || strings.HasPrefix(text, w+"\n") }); i >= 0 {
		m.waiting = slices.Delete(m.waiting, i, i+1)
	}
}

func (m *model) asked(e hermes.Asked) []any {
	a := newAsk(e, m.now())
	m.flush()
	m.say(a.lines(m.theme, m.width)...)
	m.asks = append(m.asks, a)
	m.menu.close()
	m.find = nil
	if a == m.ask() {
		m.present()
	}
	if m.d.BellAsk {
		return []any{bellDo{}}
	}
	return nil
}

// present prepares the input for the question that is now shown.
func (m *model) present() {
	a := m.ask()
	if a == nil {
		return
	}
	a.shown = m.now()
	if a.typing {
		m.stash()
	}
}

// stash lays aside what is being written, for an answer.
func (m *model) stash() {
	if m.draft == nil {
		draft := m.input
		m.draft = &draft
		m.input = newEditor()
	}
}

func (m *model) unstash() {
	if m.draft != nil {
		m.input, m.draft = *m.draft, nil
	}
}

// answered closes a question, whoever answered it.
func (m *model) answered(id string) {
	i := slices.IndexFunc(m.asks, func(a *ask) bool { return a.id == id && a.confirm == "" })
	if i < 0 {
		return
	}
	m.asks = slices.Delete(m.asks, i, i+1)
	if i == 0 {
		m.unstash()
		m.present()
	}
}

// resolve answers the question that is shown and records the answer.
func (m *model) resolve(reply session.Reply, words string) []any {
	m.asks = m.asks[1:]
	m.unstash()
	m.say(m.faint(markup.Clip("  "+words, m.width)))
	m.present()
	return []any{submitDo{reply}}
}

// submitted tells the person what the session could not take, and gives back
// the words: not among lines that a terminal pastes as if they were typed.
// Those are in the history.
func (m *model) submitted(msg submittedMsg) {
	if msg.err == nil {
		return
	}
	if say, ok := msg.op.(session.Say); ok && len(say.Parts) > 0 {
		text := hermes.Message{Parts: say.Parts}.Visible()
		m.begun(text)
		if m.input.empty() && !m.burst {
			m.input.set(text)
		}
	}
	m.complain(msg.err)
}

// complain says an error, once for many things that end with it in a row.
func (m *model) complain(err error) {
	text, last := err.Error(), m.complained
	m.complained = m.now()
	if text == m.complaint && m.complained.Sub(last) < complaintTime {
		return
	}
	m.complaint = text
	m.say(m.errorLines(text)...)
}

// ran shows what a slash command gave and does what only the chat can do.
func (m *model) ran(msg ranMsg) []any {
	if msg.err != nil {
		_, args, _ := command.Split(msg.line)
		m.begun(args)
		m.complain(msg.err)
		return nil
	}
	if name, _, _ := command.Split(msg.line); !m.busy && isStop(name) {
		m.waiting, m.queued = nil, 0 // whatever was listed there, nothing waits now
	}
	if q := msg.result.Confirm; q != "" {
		var lines []string
		for _, l := range wrapPlain(markup.Visible(q), max(min(m.width, maxProse)-2, 8)) {
			lines = append(lines, m.warn("▌ ")+l)
		}
		m.say(lines...)
		m.asks = append(m.asks, newConfirm(msg.line, m.now()))
		return nil
	}
	if text := msg.result.Text; text != "" {
		m.say(markup.Render(text, m.prose(m.width))...)
	}
	switch msg.result.Action {
	case command.Quit:
		return []any{quitDo{}}
	case command.New:
		return m.anew(msg.result.Arg)
	case command.Clear:
		return append([]any{clearDo{}}, m.anew(msg.result.Arg)...)
	case command.Switch:
		return []any{openDo{Want{Resume: msg.result.Arg}}}
	case command.Copy:
		return []any{copyDo{msg.result.Arg}}
	case command.Redraw:
		return []any{redrawDo{}}
	case command.Send:
		m.waiting = append(m.waiting, hermes.Message{Parts: msg.result.Message}.Visible())
		return m.later(submitDo{session.Say{Parts: msg.result.Message}})
	case command.Thinking:
		m.d.Reasoning = msg.result.Arg == "show"
	}
	return []any{stateDo{}}
}

func isStop(name string) bool {
	c, _ := command.Find(name, command.Terminal)
	return c.Name == "stop"
}

func (m *model) anew(title string) []any {
	m.reset()
	m.say(m.faint("new session"))
	return []any{openDo{Want{Title: title}}}
}

// reset forgets what belongs to the session that is left.
func (m *model) reset() {
	m.opened, m.busy, m.stopping = false, false, false
	m.waiting, m.asks, m.calls, m.queued = nil, nil, nil, 0
	m.unstash()
	m.answer, m.thinking = nil, nil
	m.received.Reset()
	m.held = ""
	m.title, m.id = "", ""
}

// send gives the session what was written, or runs it as a command.
func (m *model) send() []any {
	text := strings.TrimSpace(m.input.value())
	if text == "" {
		return nil
	}
	m.input = newEditor()
	m.menu.close()
	m.burst = m.now().Sub(m.sent) < settle
	m.sent = m.now()
	if err := m.past.add(text); err != nil {
		m.hint = "the history could not be written: " + err.Error()
	}
	if name, args, ok := command.Split(text); ok {
		switch c, _ := command.Find(name, command.Terminal); {
		case c.Name == "queue" && m.busy && args != "":
			m.waiting = append(m.waiting, args)
		case c.Name != "steer" || !m.busy: // what is steered is shown when it is taken
			m.say(m.faint(markup.Clip("› "+oneLine(text), m.width)))
		}
		return m.later(commandDo{line: text, confirmed: m.trusted})
	}
	return m.speak(text)
}

// speak sends a message as it is.
func (m *model) speak(text string) []any {
	m.waiting = append(m.waiting, text)
	return m.later(submitDo{session.Say{Parts: []hermes.Part{{Text: text}}}})
}

// later does a thing now, or when the session is there. Leaving needs none.
func (m *model) later(do any) []any {
	if c, ok := do.(commandDo); ok && !m.opened {
		if name, _, _ := command.Split(c.line); name == "quit" || name == "exit" {
			return []any{quitDo{}}
		}
	}
	if m.opened {
		return []any{do}
	}
	m.early = append(m.early, do)
	return nil
}

func (m *model) pasted(text string) {
	m.lastKey = m.now()
	if !m.input.paste(text) {
		m.hint = "that is too long to paste: put it in a file and name the file"
	}
	m.suggest()
}
