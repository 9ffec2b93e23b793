package tui

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/markup"
	"hermes/internal/protocol"
)

// follow prints an update of the session.
func (c *plainChat) follow(u protocol.Update, ok bool) error {
	switch {
	case !ok:
		return hermes.ErrClosed
	case u.Failed != nil:
		return u.Failed
	case u.Lost != nil && !c.lost:
		c.lost = true
		c.printer.out.endLine()
		c.out.write(lostText(u.Lost) + "\n")
	case u.Snapshot != nil:
		c.lost = false
		c.conv.attached(u.Snapshot.Epoch)
	}
	c.seen.take(u)
	return nil
}

// happened prints an event of the session, or of a child of it.
func (c *plainChat) happened(e protocol.Envelope) {
	switch d := e.Event.(type) {
	case hermes.Asked:
		a := newAsk(d, c.o.Now())
		if e.Parent != "" {
			a.session, a.origin = e.Session, "A child session asks"
		}
		c.asks = append(c.asks, a)
		if !c.busy {
			c.printer.out.endLine()
			c.out.write("A question waits for an answer. Press Enter to see it.\n")
		}
		return
	case hermes.AnswerTaken:
		c.answered(d, e)
		return
	}
	if e.Parent != "" {
		return
	}
	switch d := e.Event.(type) {
	case hermes.TurnStarted:
		c.spoken = true
		if !c.printer.renderer.ofOther(d.From) {
			c.conv.begun(d.Message.Visible())
			break
		}
		c.printer.out.endLine()
		c.out.write(markup.OneLine(d.From.String()) + ": " + markup.Visible(d.Message.Visible()) + "\n")
	case hermes.Steered:
		c.conv.begun(d.Text)
	case hermes.Queued:
		c.conv.queue = d.Messages
	case hermes.CommandDone:
		if d.From.Client == c.from.Client {
			c.ran = &d
			return
		}
		c.printer.out.endLine()
		c.out.write(markup.OneLine(d.From.String()+" ran "+d.Line) + "\n")
	case hermes.TurnDone:
		c.done = &d
	}
	c.printer.Event(e.Event)
}

// answered closes a question.
func (c *plainChat) answered(d hermes.AnswerTaken, e protocol.Envelope) {
	c.asks = slices.DeleteFunc(c.asks, func(a *ask) bool { return a.id == d.ID && (a.session == "" || a.session == e.Session) })
	if d.Answered && c.printer.renderer.ofOther(d.By) {
		c.printer.out.endLine()
		c.out.write("answered by " + markup.OneLine(d.By.String()) + "\n")
	}
}

// ask puts the open questions to the user. At the end of the input they stay open.
func (c *plainChat) ask(ctx context.Context) error {
	for len(c.asks) > 0 {
		q := c.asks[0]
		c.asks = c.asks[1:]
		c.printer.out.endLine()
		for _, line := range q.lines(c.printer.renderer.theme, 80) {
			c.out.write(line + "\n")
		}
		reply, ok, err := c.reply(ctx, q)
		if err != nil {
			return err
		}
		var op hermes.Op = hermes.Stop{}
		to := c.session.id
		switch {
		case ok:
			op, to = reply, cmp.Or(q.session, to)
		case !c.busy: // the turn of another frontend
			return nil
		}
		if err := c.client.Do(context.WithoutCancel(ctx), to, c.from, op); err != nil {
			c.complain(err)
		}
	}
	return nil
}

// reply reads an answer. An approval is denied by a text that is no choice, which
// becomes the reason. A question is dismissed by an empty line. Both stay open if
// there is no line.
func (c *plainChat) reply(ctx context.Context, q *ask) (r hermes.Reply, ok bool, err error) {
	if q.approval != nil {
		for _, o := range q.options {
			c.out.write("  " + o.key + "  " + o.label + ". " + q.covers(o, "") + "\n")
		}
		c.out.write("Allow? [" + q.letters() + "]: ")
		line, ok, err := c.line(ctx)
		if err != nil || !ok {
			return q.denial(""), false, err
		}
		if i := q.named(line); i >= 0 {
			return hermes.Reply{ID: q.id, Approval: q.options[i].answer}, true, nil
		}
		return q.denial(q.reason(line)), true, nil
	}
	for _, o := range q.options {
		c.out.write("  " + o.key + ". " + markup.OneLine(o.label) + "\n")
	}
	c.out.write("Answer: ")
	line, ok, err := c.line(ctx)
	texts, own := q.chosenByLine(strings.TrimSpace(line))
	if own && err == nil {
		c.out.write("Your answer: ")
		line, ok, err = c.line(ctx)
		texts = append(texts, strings.TrimSpace(line))
	}
	if strings.Join(texts, "") == "" {
		return q.dismissal(), ok, err
	}
	return q.answer(texts...), ok, err
}
