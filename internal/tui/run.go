package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/charmbracelet/x/term"

	"hermes"
	"hermes/internal/protocol"
	"hermes/internal/tui/input"
)

// Options say what the chat works with.
type Options struct {
	In  *os.File
	Out *os.File
	// Term is the value of TERM; with "dumb" the chat works line by line.
	Term string
	// Client reaches the sessions, for the frontend From: what the process of a session takes
	// this one for.
	Client protocol.Client
	From   hermes.From
	// Start says which session to begin with.
	Start Start
	// Notes are sentences of the program for the user, such as what the opening session waits
	// for; nil has none.
	Notes <-chan string
	// Greeting is printed first, line by line.
	Greeting []string
	// First is sent as the first message, literally, never as a command.
	First   string
	Display Display
	// History is the file of sent messages; empty keeps none.
	History string
	// Skills are offered when the user types a slash; nil has none.
	Skills input.Skills
	// Places lists names for Tab in sessions that do not work on this machine; nil takes all for those of
	// this machine.
	Places Places
	Now    func() time.Time // nil is time.Now
}

// Places knows the files of the sessions that do not work on this machine. Its methods may be called
// concurrently.
type Places interface {
	// Elsewhere reports whether a session does not work on this machine; "" is a new one. It is fast.
	Elsewhere(session string) bool
	// Names lists the names that a word may become where a session works, of which folders end in
	// a slash. It starts nothing there and does not take long; what cannot be listed is empty.
	Names(ctx context.Context, session, word string) []string
}

// Run chats until the user quits. It returns the id of the last session if it
// has messages, so that it can be resumed. If In or Out is not a terminal, the
// chat works line by line. Before Run returns, the last session was told that the chat goes
// away: without another frontend it closes.
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
		drawing: drawing{tty: tty, screen: &screen{w: o.Out, width: width}}, attached: attached{client: o.Client, from: o.From},
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
	seen     catchup // of the session
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
	c.do(openDo{want{first: true}})
	if c.o.First != "" {
		c.doAll(c.model.speak(c.o.First))
	}
	err = c.loop(ctx, keys)
	stopped := c.end(c.model)
	c.tty.restore()
	close(c.done)
	c.drop()
	cancel()
	for _, l := range c.background.wait() {
		c.leave(l)
	}
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
		case u, ok := <-c.updates():
			if !ok {
				return nil // ctx has ended
			}
			c.follow(u)
			c.dirty = true
		case text := <-c.o.Notes:
			c.model.update(noteMsg(text))
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
