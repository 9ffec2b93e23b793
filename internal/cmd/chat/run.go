package chat

import (
	"context"
	"errors"
	"fmt"
	"os"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/command"
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
	remembered, err := a.Memory()
	if err != nil {
		return err
	}
	skills, err := a.Skills()
	if err != nil {
		return err
	}
	spent, err := a.Spend()
	if err != nil {
		return err
	}
	id, err := tui.Run(ctx, tui.Options{
		In: in, Out: out, First: first, Display: d, Dir: o.Run.Workspace.Dir, History: cfg.Home().History(),
		Greeting: []string{"Hermes " + app.Version + "   /help for commands, Ctrl+C to stop a turn, Ctrl+D to quit"},
		Trusted:  !cfg.Approvals().DestructiveSlashConfirm, Term: cfg.Getenv("TERM"),
		Commands: command.Call{
			Models: a.Models().References, Limits: a.Models().Limits, Settings: a.Settings(), Memory: remembered, Learnings: a.Learned(), Skills: skills, Spend: spent,
			Sessions: func(ctx context.Context) (command.Sessions, error) { return a.Sessions(ctx) },
		},
		Open: func(ctx context.Context, w tui.Want) (tui.Session, bool, error) {
			if !w.First {
				o.Resume, o.asked.carryOn = w.Resume, false
			}
			run := o.Run
			if !w.First && w.Resume != "" { // it has tools and a prompt of its own
				run.Tools, run.Prompt = hermes.ToolChoice{}, hermes.PromptChoice{}
			}
			s, err := o.open(ctx, run, w.Title, w.Waiting)
			if err != nil {
				return nil, false, err
			}
			return attaching{tui.Wrap(s, o.from(true)), a, o.Run.Workspace.Dir, w.Waiting}, o.Resume != "" || o.asked.carryOn, nil
		},
	})
	if id != "" {
		fmt.Fprintf(o.Out, "Resume this session with: hermes --resume %s\n", id)
	}
	return err
}
