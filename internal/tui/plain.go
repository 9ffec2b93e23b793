package tui

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"hermes"
	"hermes/internal/command"
	"hermes/internal/markup"
)

// plainChat is the chat without a live region: a line in, an answer out. It
// is for terminals without escape sequences and for piped input.
type plainChat struct {
	o       Options
	out     writer
	printer *rawPrinter
	lines   chan string // closed at the end of the input
	session Session
	spoken  bool // the session has at least one message
}

func runPlain(ctx context.Context, o Options) (id string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &plainChat{o: o, out: writer{w: o.Out}, lines: make(chan string)}
	for _, line := range o.Greeting {
		c.out.write(line + "\n")
	}
	waits, err := c.open(ctx, Want{First: true})
	if err != nil {
		return "", err
	}
	defer func() {
		if c.spoken {
			id = c.session.ID()
		}
		err = errors.Join(err, c.session.Close())
	}()
	go c.read(ctx) // ends with the context or the input; a blocked read ends with the process
	if o.First != "" {
		if err := c.turn(ctx, hermes.Say{Parts: []hermes.Part{{Text: o.First}}}); err != nil {
			return "", err
		}
		waits = false
	}
	if waits {
		if err := c.turn(ctx, hermes.Continue{}); err != nil {
			return "", err
		}
	}
	for {
		c.out.write("> ")
		if c.out.err != nil {
			return "", c.out.err // the answers would not be seen
		}
		line, ok := c.line(ctx)
		if !ok {
			c.out.endLine()
			return "", nil
		}
		for strings.HasSuffix(line, "\\") {
			c.out.write("  ")
			next, more := c.line(ctx)
			line = strings.TrimSuffix(line, "\\") + "\n" + next
			if !more {
				break
			}
		}
		quit, err := c.take(ctx, strings.TrimSpace(line))
		if err != nil || quit {
			return "", err
		}
	}
}

// open opens a session and reports whether it waits for an answer.
func (c *plainChat) open(ctx context.Context, w Want) (waits bool, err error) {
	w.Waiting = func(text string) { c.out.write(markup.OneLine(text) + "\n") }
	s, resumed, err := c.o.Open(ctx, w)
	if err != nil {
		return false, err
	}
	c.session, c.spoken = s, resumed
	c.printer = &rawPrinter{out: writer{w: c.o.Out}, notes: writer{w: c.o.Out}, renderer: newRenderer(c.o.Display, 80, c.o.Now)}
	if resumed {
		st, err := s.State(ctx)
		if err != nil {
			return false, err
		}
		c.out.write(fmt.Sprintf("Resumed: %s\n", markup.OneLine(cmp.Or(st.Row.Title, st.Row.ID))))
		if left := leftWaiting(st); left != "" {
			c.out.write(left + "\n")
		}
		waits = st.Asking
	}
	return waits, nil
}

func (c *plainChat) read(ctx context.Context) {
	defer close(c.lines)
	in := bufio.NewReader(c.o.In)
	for {
		line, err := in.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); err == nil || line != "" {
			select {
			case c.lines <- line:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (c *plainChat) line(ctx context.Context) (string, bool) {
	select {
	case line, ok := <-c.lines:
		return line, ok
	case <-ctx.Done():
		return "", false
	}
}

// take runs a line as a message or a command and reports whether to quit.
func (c *plainChat) take(ctx context.Context, line string) (quit bool, err error) {
	if line == "" {
		return false, nil
	}
	if _, _, ok := command.Split(line); ok {
		return c.command(ctx, line, c.o.Trusted)
	}
	return false, c.turn(ctx, hermes.Say{Parts: []hermes.Part{{Text: line}}})
}

func (c *plainChat) command(ctx context.Context, line string, confirmed bool) (bool, error) {
	s := &deferring{Session: c.session}
	r, err := command.Run(ctx, line, c.o.call(s, confirmed))
	if err != nil {
		c.out.write(markup.Visible(err.Error()) + "\n")
		return false, nil
	}
	if r.Confirm != "" {
		c.out.write(r.Confirm + " [y/N] ")
		if answer, _ := c.line(ctx); newConfirm(line, c.o.Now()).named(answer) != 0 {
			return false, nil
		}
		return c.command(ctx, line, true)
	}
	if r.Text != "" {
		c.out.write(markup.Plain(r.Text, 80) + "\n")
	}
	if s.op != nil {
		return false, c.turn(ctx, s.op)
	}
	if len(r.Message) > 0 {
		return false, c.turn(ctx, hermes.Say{Parts: r.Message})
	}
	switch r.Action {
	case hermes.ActionQuit:
		return true, nil
	case hermes.ActionSwitch:
		before := c.session
		waits, err := c.open(ctx, Want{Resume: r.Arg})
		if err != nil {
			c.out.write(markup.Visible(err.Error()) + "\n")
			return false, nil
		}
		if err := before.Close(); err != nil {
			c.out.write(markup.Visible(err.Error()) + "\n")
		}
		if waits {
			return false, c.turn(ctx, hermes.Continue{})
		}
	case hermes.ActionThinking:
		c.printer.renderer.d.Reasoning = r.Arg == "show"
	case hermes.ActionNew, hermes.ActionClear:
		if err := c.session.Close(); err != nil {
			c.out.write(markup.Visible(err.Error()) + "\n")
		}
		_, err := c.open(ctx, Want{Title: r.Arg})
		return false, err
	}
	return false, nil
}

// deferring keeps an op that begins a turn instead of submitting it, so that
// the turn can be followed from its start.
type deferring struct {
	Session
	op hermes.Op
}

// Submit passes on ops that do not begin a turn.
func (h *deferring) Submit(ctx context.Context, op hermes.Op) error {
	switch op.(type) {
	case hermes.Say, hermes.Steer, hermes.Retry, hermes.Continue, hermes.Compress:
		h.op = op
		return nil
	}
	return h.Session.Submit(ctx, op)
}

// turn runs one turn. Ctrl+C interrupts the turn and not the chat.
func (c *plainChat) turn(ctx context.Context, op hermes.Op) error {
	stop, release := signal.NotifyContext(ctx, os.Interrupt)
	defer release()
	done, err := follow(stop, c.session, op, asking{c, stop})
	switch {
	case err == nil && done.Failure != nil:
		c.out.write(markup.Visible(done.Err().Error()) + "\n")
	case errors.Is(err, hermes.ErrClosed), c.printer.Err() != nil:
		return err
	case err != nil:
		c.out.write(markup.Visible(err.Error()) + "\n")
	}
	return nil
}

// asking prints a turn and asks the user its questions.
type asking struct {
	*plainChat
	ctx context.Context
}

func (a asking) Err() error { return a.printer.Err() }

func (a asking) Event(e hermes.Event) {
	if _, ok := e.(hermes.TurnStarted); ok {
		a.spoken = true
	}
	asked, ok := e.(hermes.Asked)
	if !ok {
		a.printer.Event(e)
		return
	}
	a.printer.out.endLine()
	q := newAsk(asked, a.o.Now())
	for _, line := range q.lines(a.printer.renderer.theme, 80) {
		a.out.write(line + "\n")
	}
	var op hermes.Op = hermes.Stop{} // at the end of the input the question stays open
	if reply, ok := a.reply(a.ctx, q); ok {
		op = reply
	}
	if err := a.session.Submit(context.WithoutCancel(a.ctx), op); err != nil {
		a.out.write(markup.Visible(err.Error()) + "\n")
	}
}

// reply reads an answer. An approval is denied by a text that is no choice, which
// becomes the reason. A question is dismissed by an empty line. Both stay open if
// there is no line.
func (c *plainChat) reply(ctx context.Context, q *ask) (hermes.Reply, bool) {
	if q.approval != nil {
		for _, o := range q.options {
			c.out.write("  " + o.key + "  " + o.label + ". " + q.covers(o, "") + "\n")
		}
		c.out.write("Allow? [" + q.letters() + "]: ")
		line, ok := c.line(ctx)
		if !ok {
			return q.denial(""), false
		}
		if i := q.named(line); i >= 0 {
			return hermes.Reply{ID: q.id, Approval: q.options[i].answer}, true
		}
		return q.denial(q.reason(line)), true
	}
	for _, o := range q.options {
		c.out.write("  " + o.key + ". " + markup.OneLine(o.label) + "\n")
	}
	c.out.write("Answer: ")
	line, ok := c.line(ctx)
	texts, own := q.chosenByLine(strings.TrimSpace(line))
	if own {
		c.out.write("Your answer: ")
		line, ok = c.line(ctx)
		texts = append(texts, strings.TrimSpace(line))
	}
	if strings.Join(texts, "") == "" {
		return q.dismissal(), ok
	}
	return q.answer(texts...), ok
}
