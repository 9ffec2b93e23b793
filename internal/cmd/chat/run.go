package chat

import (
	"cmp"
	"context"
	"errors"
	"os"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/protocol"
	"hermes/internal/protocol/router"
	"hermes/internal/tui"
)

// runChat runs the chat in the terminal.
func (o *Options) runChat(ctx context.Context, first string) (err error) {
	if o.MayAttend != nil {
		if err := o.MayAttend(); err != nil {
			return err
		}
	}
	if o.attach == "" {
		if err := o.App().CheckHalt(); err != nil {
			return err
		}
	}
	if err := o.App().CheckSpend(); err != nil {
		return err
	}
	o.warn()
	if err := o.offerHooks(ctx); err != nil {
		return err
	}
	notes := make(chan string, 16)
	client := o.chatClient(notes)
	if err := o.offer(ctx, client); err != nil {
		return err
	}
	id, err := o.inTerminal(ctx, tui.Options{First: first, Client: client, Start: tui.Start{Run: o.Run, Resume: o.resume, Attach: o.attach}, Notes: notes})
	o.goodbye(client, id)
	return err
}

// inTerminal runs the chat in the terminal with a client and a session to begin with. It returns the id
// of the last session if it has messages.
func (o *Options) inTerminal(ctx context.Context, t tui.Options) (id string, err error) {
	var inOK, outOK bool
	t.In, inOK = o.In.(*os.File)
	t.Out, outOK = o.Out.(*os.File)
	if !inOK || !outOK {
		return "", errors.New("the chat needs a terminal")
	}
	if t.Display, err = o.display(); err != nil {
		return "", err
	}
	a := o.App()
	cfg, err := a.Config()
	if err != nil {
		return "", err
	}
	t.Places = a.Places(t.Start.Run)
	t.From, t.Skills, t.History, t.Term = cmp.Or(t.From, o.from(true)), a.Callable(), cfg.Home().History(), cfg.Getenv("TERM")
	t.Greeting = []string{"Hermes " + app.Version + "   /help for commands, Ctrl+C to stop a turn, Ctrl+D to quit"}
	if line := a.Sandbox(ctx); line != "" {
		t.Greeting = append(t.Greeting, line)
	}
	if t.Start.Attach != "" {
		t.Greeting = []string{
			"Hermes " + app.Version + "   /help for commands, Ctrl+C to stop a turn",
			"This session runs in " + o.attachedIn + ". Ctrl+D detaches; the session goes on there.",
		}
	}
	return tui.Run(ctx, t)
}

// chatClient is how the chat reaches the sessions. What they wait for while they open goes to notes.
func (o *Options) chatClient(notes chan<- string) explained {
	return explained{o.App().Client(func(text string) {
		select {
		case notes <- text:
		default: // the chat has more than it can show
		}
	}), o}
}

// explained is a client whose errors of opening a session are worded for the command line.
type explained struct {
	*router.Client
	o *Options
}

// Open makes a session live.
func (c explained) Open(ctx context.Context, from hermes.From, run hermes.RunSpec) (protocol.SessionInfo, error) {
	info, err := c.Client.Open(ctx, from, run)
	return info, c.o.notOpen(err, run.Session)
}
