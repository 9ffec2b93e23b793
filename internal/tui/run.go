package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/charmbracelet/x/term"

	"hermes"
	"hermes/internal/command"
)

// Session is what the chat needs of a session. *session.Session implements it.
type Session interface {
	command.Session
	Subscribe(buffer int) (events <-chan hermes.Event, cancel func())
	Close() error
}

// Options say what the chat works with.
type Options struct {
	In  *os.File
	Out *os.File
	// Open opens a session. It runs in the background, so that the prompt
	// appears at once. resumed reports that the session has earlier messages.
	Open func(ctx context.Context, w Want) (s Session, resumed bool, err error)
	// Greeting is printed first, line by line.
	Greeting []string
	// First is sent as the first message, literally, never as a command.
	First   string
	Display Display
	// History is the file of sent messages; empty keeps none.
	History string
	// Dir is the folder that paths are completed from.
	Dir string
	// Trusted skips the confirmation of commands such as /new.
	Trusted bool
	// Commands is what the program lends to each command. The chat sets its
	// Session, Where and Confirmed.
	Commands command.Call
	Now      func() time.Time // nil is time.Now
	// Term is the value of TERM; with "dumb" the chat works line by line.
	Term string
}

// call is a call of a command in a session.
func (o *Options) call(s Session, confirmed bool) command.Call {
	c := o.Commands
	c.Session, c.Where, c.Confirmed = s, command.Terminal, confirmed
	return c
}

// Want says which session to open.
type Want struct {
	First  bool   // the one that the command line asks for
	Title  string // of a new session; may be empty
	Resume string // the id of the session to resume
	// Waiting shows the user a sentence while the session opens.
	Waiting func(string)
}

// Run chats until the user quits. It returns the id of the last session if it
// has messages, so that it can be resumed. If In or Out is not a terminal, the
// chat works line by line. The last session is closed before Run returns.
func Run(ctx context.Context, o Options) (id string, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Display.Plain || o.Term == "dumb" || !term.IsTerminal(o.In.Fd()) || !term.IsTerminal(o.Out.Fd()) {
		o.Display.Plain = true
		return runPlain(ctx, o)
	}
	tty, err := openTerminal(o.In, o.Out, o.Term)
	if err != nil {
		return "", fmt.Errorf("prepare the terminal: %w", err)
	}
	width, height := tty.size()
	c := &chat{
		o: o, model: newModel(o, width, height),
		drawing: drawing{tty: tty, screen: &screen{w: o.Out, width: width}},
	}
	return c.run(ctx)
}

// chat is the loop around the model: it reads keys and events, draws, and
// carries out the actions of the model.
type chat struct {
	o     Options
	model *model
	drawing
	attached
	*background
	quitting bool
}

func (c *chat) run(ctx context.Context) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer func() { // the shell must get its terminal back in any case
		_ = c.screen.stop()
		c.tty.restore()
	}()
	if err := c.screen.start(); err != nil {
		return "", err
	}
	c.model.greet(c.o.Greeting)
	c.show()
	keys, err := c.tty.read(ctx)
	if err != nil {
		return "", err
	}
	c.background = newBackground(ctx)
	c.do(openDo{Want{First: true}})
	if c.o.First != "" {
		c.doAll(c.model.speak(c.o.First))
	}
	err = c.loop(ctx, keys)
	c.show()
	stopped := c.screen.stop()
	c.tty.restore()
	close(c.done)
	c.drop()
	cancel()
	c.background.wait()
	c.tty.stop()
	c.attached.wait()
	return c.model.conv.stored(), errors.Join(err, stopped)
}

func (c *chat) loop(ctx context.Context, keys <-chan any) error {
	ticker := time.NewTicker(tickTime)
	defer ticker.Stop()
	ticking := true
	frame := time.NewTimer(0)
	defer frame.Stop()
	for !c.quitting {
		if moving := c.model.moving(); moving != ticking {
			ticking = moving // an idle chat sleeps
			if ticker.Stop(); moving {
				ticker.Reset(tickTime)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case msg, ok := <-keys:
			if !ok {
				return nil // the terminal is gone
			}
			if _, ok := msg.(sizeMsg); !ok { // the size is read below
				c.doAll(c.model.update(msg))
			}
			c.dirty = true
		case e, ok := <-c.events:
			if !ok {
				c.events = nil
				e = hermes.Closed{}
			}
			c.doAll(c.model.update(eventMsg{e}))
			c.dirty = true
		case msg := <-c.msgs:
			c.take(msg)
			c.dirty = true
		case <-ticker.C:
			c.model.update(tickMsg{})
			c.dirty = true
		case <-frame.C:
		}
		if !c.dirty {
			continue
		}
		if wait := c.drawing.wait(c.model); wait > 0 {
			frame.Reset(wait)
			continue
		}
		c.show()
	}
	return nil
}

// take passes a message of a goroutine on to the model.
func (c *chat) take(msg any) {
	if got, ok := msg.(gotSession); ok {
		c.adopt(got)
		return
	}
	c.doAll(c.model.update(msg))
}

// show draws the model, and quits if the terminal is gone.
func (c *chat) show() {
	if c.draw(c.model) != nil {
		c.quitting = true
	}
}
