package chat

import (
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
	in, inOK := o.In.(*os.File)
	out, outOK := o.Out.(*os.File)
	if !inOK || !outOK {
		return errors.New("the chat needs a terminal")
	}
	if o.MayAttend != nil {
		if err := o.MayAttend(); err != nil {
			return err
		}
	}
	a := o.App()
	if err := a.CheckSpend(); err != nil {
		return err
	}
	o.warn()
	d, err := o.display()
	if err != nil {
		return err
	}
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	skills, err := a.Skills()
	if err != nil {
		return err
	}
	notes := make(chan string, 16)
	client := o.chatClient(notes)
	if err := o.offer(ctx, client); err != nil {
		return err
	}
	id, err := tui.Run(ctx, tui.Options{
		In: in, Out: out, First: first, Display: d, History: cfg.Home().History(), Term: cfg.Getenv("TERM"), Skills: skills,
		Client: client, From: o.from(true), Start: tui.Start{Run: o.Run, Resume: o.resume, Attach: o.attach}, Notes: notes,
		Greeting: []string{"Hermes " + app.Version + "   /help for commands, Ctrl+C to stop a turn, Ctrl+D to quit"},
	})
	o.goodbye(client, id)
	return err
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
