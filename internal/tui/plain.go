package tui

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"hermes"
	"hermes/internal/command"
	"hermes/internal/markup"
	"hermes/internal/protocol"
)

// plainChat is the chat without a live region: a line in, an answer out. It
// is for terminals without escape sequences and for piped input.
type plainChat struct {
	o       Options
	out     writer
	printer *rawPrinter
	lines   chan string // closed at the end of the input
	attached
	seen   catchup
	asks   []*ask              // questions that were not put to the user yet
	done   *hermes.TurnDone    // the last turn that ended, since a request began
	ran    *hermes.CommandDone // the outcome of the last command, since it was sent
	conv   conversation        // the message that is being sent, and what the session reports
	busy   bool                // a request runs, which asks the user
	lost   bool
	spoken bool // the session has at least one message
}

func runPlain(ctx context.Context, o Options) (id string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &plainChat{o: o, out: writer{w: o.Out}, lines: make(chan string), attached: attached{client: o.Client, from: o.From}}
	for _, line := range o.Greeting {
		c.out.write(line + "\n")
	}
	defer func() {
		c.drop()
		c.wait()
	}()
	waits, err := c.begin(ctx, want{first: true})
	if err != nil {
		return "", err
	}
	defer func() {
		if c.spoken {
			id = c.session.id
		}
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
	return "", c.talk(ctx)
}

// talk takes lines until the user quits.
func (c *plainChat) talk(ctx context.Context) error {
	for {
		if err := c.ask(ctx); err != nil {
			return err
		}
		c.out.write("> ")
		if c.out.err != nil {
			return c.out.err // the answers would not be seen
		}
		line, ok, err := c.line(ctx)
		if err != nil {
			return err
		}
		if !ok {
			c.out.endLine()
			return nil
		}
		for strings.HasSuffix(line, "\\") {
			c.out.write("  ")
			next, more, err := c.line(ctx)
			if err != nil {
				return err
			}
			line = strings.TrimSuffix(line, "\\") + "\n" + next
			if !more {
				break
			}
		}
		quit, err := c.take(ctx, strings.TrimSpace(line))
		if err != nil || quit {
			return err
		}
	}
}

// begin opens a session, leaves the one before, and reports whether the new one waits for an answer.
func (c *plainChat) begin(ctx context.Context, w want) (waits bool, err error) {
	got := c.opening(ctx, w)
	if got.opened.err != nil {
		if got.link != nil {
			c.leave(got.link)
		}
		return false, got.opened.err
	}
	c.drop()
	c.attached.take(got.link)
	opened, s := got.opened, got.opened.state
	c.spoken, c.asks, c.lost, c.conv = opened.resumed, nil, false, conversation{}
	c.conv.attached(s.Epoch)
	r := newRenderer(c.o.Display, 80, c.o.Now)
	c.printer = &rawPrinter{out: writer{w: c.o.Out}, notes: writer{w: c.o.Out}, renderer: r}
	if r.self = c.from.Client; opened.untitled != nil {
		c.complain(opened.untitled)
	}
	if opened.resumed {
		word := "Resumed"
		if opened.foreign {
			word = "Attached"
		}
		c.out.write(fmt.Sprintf("%s: %s\n", word, markup.OneLine(cmp.Or(s.Session.Title, s.Session.ID))))
		if left := leftWaiting(s); left != "" {
			c.out.write(left + "\n")
		}
	}
	c.seen = catchup{emit: c.happened}
	c.seen.take(got.update)
	return s.Parked && !opened.foreign, nil
}

// opening opens a session and prints the notes that come meanwhile.
func (c *plainChat) opening(ctx context.Context, w want) gotSession {
	opened := make(chan gotSession, 1)
	go func() { opened <- c.open(ctx, c.o.Start, w) }() // awaited below
	for {
		select {
		case text := <-c.o.Notes:
			c.out.write(markup.OneLine(text) + "\n")
		case got := <-opened:
			return got
		}
	}
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

// line reads a line, and prints what happens in the session meanwhile.
func (c *plainChat) line(ctx context.Context) (line string, ok bool, err error) {
	for {
		select {
		case line, ok := <-c.lines:
			return line, ok, nil
		case u, ok := <-c.updates():
			if err := c.follow(u, ok); err != nil {
				return "", false, err
			}
		case <-ctx.Done():
			return "", false, nil
		}
	}
}

func (c *plainChat) complain(err error) { c.out.write(markup.Visible(err.Error()) + "\n") }

// take runs a line as a message or a command and reports whether to quit.
func (c *plainChat) take(ctx context.Context, line string) (quit bool, err error) {
	if line == "" {
		return false, nil
	}
	if _, _, ok := command.Split(line); ok {
		return c.command(ctx, line)
	}
	return false, c.turn(ctx, hermes.Say{Parts: []hermes.Part{{Text: line}}})
}

// command runs a slash command, and prints the turn that it begins.
func (c *plainChat) command(ctx context.Context, line string) (quit bool, err error) {
	id := c.session.id
	if c.lost && runs(line, "quit") {
		return true, nil
	}
	err = c.request(ctx, func(ctx context.Context) error { return c.client.Command(ctx, id, c.from, line) }, func() bool {
		return c.ran != nil && (c.ran.Failure != nil || c.ran.Confirm != "" || c.done != nil || !c.seen.busy && !runs(line, "retry", "continue", "compress", "queue", "steer"))
	})
	if err != nil || c.ran == nil {
		return false, err
	}
	r := *c.ran
	if r.Failure != nil {
		c.complain(r.Failure)
		return false, nil
	}
	if r.Confirm != "" {
		if r.Text != "" {
			c.out.write(markup.Plain(r.Text, 80) + "\n")
		}
		c.out.write(r.Confirm + " [y/N] ")
		answer, _, err := c.line(ctx)
		if err != nil || newConfirm(line, c.o.Now()).named(answer) != 0 {
			return false, err
		}
		return c.command(ctx, r.ConfirmLine)
	}
	if r.Text != "" {
		c.out.write(markup.Plain(r.Text, 80) + "\n")
	}
	switch r.Action {
	case hermes.ActionQuit:
		return true, nil
	case hermes.ActionSwitch:
		waits, err := c.begin(ctx, want{resume: r.Arg})
		if err != nil {
			c.complain(err)
			return false, nil
		}
		if waits {
			return false, c.turn(ctx, hermes.Continue{})
		}
	case hermes.ActionThinking:
		c.printer.renderer.d.Reasoning = r.Arg == "show"
	case hermes.ActionNew, hermes.ActionClear:
		_, err := c.begin(ctx, want{title: r.Arg})
		return false, err
	}
	return false, nil
}

// turn runs one turn, and after a Continue those of the messages that waited.
func (c *plainChat) turn(ctx context.Context, op hermes.Op) error {
	id := c.session.id
	_, all := op.(hermes.Continue)
	if say, ok := op.(hermes.Say); ok {
		say.Key = rand.Text()
		c.conv.wait(sent{text: hermes.Message{Parts: say.Parts}.Visible(), say: say})
		op = say
	}
	return c.request(ctx, func(ctx context.Context) error { return c.client.Do(ctx, id, c.from, op) }, func() bool {
		if c.done == nil || all && len(c.conv.queue) > 0 && c.done.Failure == nil {
			return false
		}
		return true
	})
}

// request sends something to the session and prints what happens until it is over. Ctrl+C
// interrupts the turn and not the chat.
func (c *plainChat) request(ctx context.Context, send func(context.Context) error, over func() bool) error {
	ctx, release := signal.NotifyContext(ctx, os.Interrupt)
	defer release()
	whole := context.WithoutCancel(ctx)
	c.done, c.ran, c.busy = nil, nil, true
	defer func() { c.busy, c.conv.waiting = false, nil }()
	answered, interrupted := make(chan error, 1), ctx.Done()
	begin := func() { go func() { answered <- send(whole) }() } // ends when the session has answered
	begin()
	said, at, taken := len(c.conv.waiting) > 0, c.conv.attachments, false
	for !taken || !over() {
		select {
		case err := <-answered:
			switch {
			case err == nil:
				taken = true
			case said && unreached(err):
				if len(c.conv.waiting) > 0 { // else it has begun
					c.conv.waiting[0].state, c.conv.waiting[0].at = unsure, at
				}
			default:
				c.complain(err)
				return nil
			}
		case u, ok := <-c.updates():
			if err := c.follow(u, ok); err != nil {
				return err
			}
			if err := c.ask(ctx); err != nil {
				return err
			}
			if c.printer.Err() != nil && interrupted != nil {
				interrupted = nil
				c.stop(whole)
			}
		case <-interrupted:
			interrupted = nil
			c.stop(whole)
		}
		if taken || !said || c.lost {
			continue
		}
		switch c.conv.fateOfFirst() {
		case hasBegun:
			taken = true
		case sendAgain:
			at, c.conv.waiting[0].state = c.conv.attachments, onItsWay
			begin()
		case waitsThere:
			c.out.write(leftWaiting(protocol.Snapshot{Queue: c.conv.queue}) + "\n")
			return nil
		case notThere:
			c.out.write("Your message did not arrive. Send it again.\n")
			return nil
		}
	}
	if c.printer.Err() == nil && c.done != nil && c.done.Failure != nil {
		c.complain(c.done.Err())
	}
	return c.printer.Err()
}

// stop interrupts the turn.
func (c *plainChat) stop(ctx context.Context) {
	if err := c.client.Do(ctx, c.session.id, c.from, hermes.Stop{}); err != nil {
		c.complain(err)
	}
}
