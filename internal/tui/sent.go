package tui

import (
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/markup"
)

// sent is a text of the user that the session has not begun to answer.
type sent struct {
	text  string
	say   hermes.Say // with the key by which the session takes it once only; the zero value for that of a command
	state sending
	at    int64     // unsure: at which attachment it was sent
	swept bool      // on its way: the queue was emptied meanwhile
	since time.Time // on its way: when it was sent; zero once the user was told that it takes long
}

// sending says where a text is.
type sending int

const (
	onItsWay sending = iota // the session has not answered yet
	accepted                // the session has taken it
	unsent                  // it was not sent: the session is out of reach
	unsure                  // the session was lost before it answered
)

// wait adds a text that waits.
func (c *conversation) wait(s sent) { c.waiting = append(c.waiting, s) }

// texts are those that wait.
func (c *conversation) texts() []string {
	var list []string
	for _, s := range c.waiting {
		list = append(list, s.text)
	}
	return list
}

// find returns the message with a key, or nil if it does not wait.
func (c *conversation) find(key string) *sent {
	i := slices.IndexFunc(c.waiting, func(s sent) bool { return key != "" && s.say.Key == key })
	if i < 0 {
		return nil
	}
	return &c.waiting[i]
}

// begun removes a message from those that wait. Attached text may follow the
// text of the user, and what waited longer goes before one that an earlier process took.
func (c *conversation) begun(text string) {
	i := slices.IndexFunc(c.waiting, func(s sent) bool { return s.text == text || strings.HasPrefix(text, s.text+"\n") })
	if i < 0 {
		i = slices.IndexFunc(c.waiting, func(s sent) bool { return s.state == unsure && strings.Contains("\n"+text+"\n", "\n"+s.text+"\n") })
	}
	if i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
	}
}

// drained notes that nothing waits in the session: what it took has begun, or was dropped.
func (c *conversation) drained() {
	c.waiting = slices.DeleteFunc(c.waiting, func(s sent) bool { return s.state == accepted || s.say.Key == "" })
	for i := range c.waiting {
		c.waiting[i].swept = c.waiting[i].state == onItsWay
	}
}

// accept notes that the session has taken a message.
func (c *conversation) accept(key string) {
	s := c.find(key)
	switch {
	case s == nil: // it has begun already
	case s.swept:
		c.begun(s.text)
	default:
		s.state = accepted
	}
}

// takeBack returns the messages that wait, which are dropped. One that the session may have taken
// goes on waiting.
func (c *conversation) takeBack() string {
	var texts []string
	c.waiting = slices.DeleteFunc(c.waiting, func(s sent) bool {
		if s.state == unsure {
			return false
		}
		texts = append(texts, s.text)
		return true
	})
	return strings.Join(texts, "\n\n")
}

// giveUp returns the messages that the session will not take any more, or perhaps has taken.
func (c *conversation) giveUp() string {
	var texts []string
	c.waiting = slices.DeleteFunc(c.waiting, func(s sent) bool {
		if s.state != unsent && s.state != unsure {
			return false
		}
		texts = append(texts, s.text)
		return true
	})
	return strings.Join(texts, "\n\n")
}

// answerTime is how long the process of a session may take to answer until the user is told.
const answerTime = 5 * time.Second

// slow says that another process does not answer: it may be suspended.
func (m *model) slow() {
	for i := range m.conv.waiting {
		s := &m.conv.waiting[i]
		if s.state != onItsWay || s.since.IsZero() || m.now().Sub(s.since) < answerTime || m.conv.lost {
			continue
		}
		s.since = time.Time{}
		m.say(m.Warn(markup.Clip("The process of the session does not answer. It may be busy, or suspended. Ctrl+D detaches.", m.width)))
	}
}

// expects reports whether a message is on its way to another process.
func (c *conversation) expects() bool {
	return slices.ContainsFunc(c.waiting, func(s sent) bool { return s.state == onItsWay && !s.since.IsZero() })
}

// unanswered notes that the session was lost before it answered a message, which was sent
// at an attachment.
func (m *model) unanswered(key string, at int64) []any {
	s := m.conv.find(key)
	if s == nil {
		return nil // it has begun
	}
	s.state, s.at = unsure, at
	if m.conv.lost || at == m.conv.attachments {
		return nil // until the session is in reach again
	}
	return m.deliver()
}

// fate is what became of a message whose answer was lost, now that the session is in reach.
type fate int

const (
	notKnown   fate = iota // it has its answer, or will have it
	hasBegun               // it is in the transcript
	sendAgain              // its process takes it once, or it was never sent
	waitsThere             // another process has it in its queue
	notThere               // another process does not have it
)

// fate is that of a message that waits. What is found in the queue is removed there.
func (c *conversation) fate(s sent, queue *[]hermes.QueuedMessage) fate {
	switch {
	case s.state == unsent, s.state == unsure && s.at >= c.since:
		return sendAgain
	case s.state != unsure:
		return notKnown
	case inQueue(queue, s.text):
		return waitsThere
	}
	return notThere
}

// fateOfFirst is that of the only message.
func (c *conversation) fateOfFirst() fate {
	if len(c.waiting) == 0 {
		return hasBegun
	}
	queue := slices.Clone(c.queue)
	s := c.waiting[0]
	if s.state == unsure && s.at == c.attachments {
		return notKnown // the loss is not noticed yet
	}
	return c.fate(s, &queue)
}

// deliver sends what could not be sent, now that the session is in reach. What it may have taken is
// sent again if the same process would know it by its key. After another one took over, a
// message that neither began nor waits there did not arrive, and goes back to the input.
func (m *model) deliver() []any {
	var do []any
	var back []string
	queue := slices.Clone(m.conv.queue)
	var rest []sent
	for _, s := range m.conv.waiting {
		switch m.conv.fate(s, &queue) {
		case sendAgain:
			s.state, s.swept = onItsWay, false
			do = append(do, submitDo{op: s.say})
		case waitsThere:
			s.state = accepted
		case notThere:
			back = append(back, s.text)
			continue
		}
		rest = append(rest, s)
	}
	if m.conv.waiting = rest; len(back) > 0 {
		m.notArrived(back)
	}
	return do
}

// inQueue reports whether a text waits in the session since an earlier process took it, and
// removes it there. Long ones are cut there.
func inQueue(queue *[]hermes.QueuedMessage, text string) bool {
	i := slices.IndexFunc(*queue, func(q hermes.QueuedMessage) bool {
		start, cut := strings.CutSuffix(q.Text, "…")
		return q.From.Client == "" && (q.Text == text || cut && strings.HasPrefix(text, start))
	})
	if i >= 0 {
		*queue = slices.Delete(*queue, i, i+1)
	}
	return i >= 0
}

// notArrived puts messages back into the input.
func (m *model) notArrived(texts []string) {
	what := "Your message did not arrive. It is"
	if len(texts) > 1 {
		what = "Your messages did not arrive. They are"
	}
	m.say(m.Warn(markup.Clip(what+" in the input again: press Enter to send.", m.width)))
	m.input.Back(strings.Join(texts, "\n\n"))
}
