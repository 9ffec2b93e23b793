package chat

import (
	"context"
	"errors"
	"fmt"
	"os"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/command"
	"hermes/internal/protocol"
	"hermes/internal/protocol/local"
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
	client, err := o.chatClient(notes)
	if err != nil {
		return err
	}
	id, err := tui.Run(ctx, tui.Options{
		In: in, Out: out, First: first, Display: d, History: cfg.Home().History(), Term: cfg.Getenv("TERM"), Skills: skills,
		Client: client, From: o.from(true), Start: tui.Start{Run: o.Run, Resume: o.resume}, Notes: notes,
		Greeting: []string{"Hermes " + app.Version + "   /help for commands, Ctrl+C to stop a turn, Ctrl+D to quit"},
	})
	if id != "" {
		fmt.Fprintf(o.Out, "Resume this session with: hermes --resume %s\n", id)
	}
	return err
}

// chatClient is how the chat reaches the sessions. What they wait for while they open goes to notes.
func (o *Options) chatClient(notes chan<- string) (protocol.Client, error) {
	a := o.App()
	cfg, err := a.Config()
	if err != nil {
		return nil, err
	}
	remembered, err := a.Memory()
	if err != nil {
		return nil, err
	}
	skills, err := a.Skills()
	if err != nil {
		return nil, err
	}
	spent, err := a.Spend()
	if err != nil {
		return nil, err
	}
	c := o.sessions()
	c.Waiting = func(text string) {
		select {
		case notes <- text:
		default: // the chat has more than it can show
		}
	}
	c.Commands = command.Call{
		Confirmed: !cfg.Approvals().DestructiveSlashConfirm,
		Models:    a.Models().References, Limits: a.Models().Limits, Settings: a.Settings(), Memory: remembered, Learnings: a.Learned(), Skills: skills, Spend: spent,
		Sessions: func(ctx context.Context) (command.Sessions, error) { return a.Sessions(ctx) },
	}
	return explained{local.New(c), o}, nil
}

// explained is a client whose errors of opening a session are worded for the command line.
type explained struct {
	protocol.Client
	o *Options
}

// Open makes a session live.
func (c explained) Open(ctx context.Context, from hermes.From, run hermes.RunSpec) (protocol.SessionInfo, error) {
	info, err := c.Client.Open(ctx, from, run)
	return info, c.o.notOpen(err, run.Session)
}
