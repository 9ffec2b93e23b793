package chat

import (
	"context"
	"errors"
	"fmt"
	"os"

	"hermes/internal/app"
	"hermes/internal/command"
	"hermes/internal/tui"
)

// runChat runs the chat in the terminal.
func (o *Options) runChat(ctx context.Context, first string) (err error) {
	in, inOK := o.IO.In.(*os.File)
	out, outOK := o.IO.Out.(*os.File)
	if !inOK || !outOK {
		return errors.New("the chat needs a terminal")
	}
	if o.MayAttend != nil {
		if err := o.MayAttend(); err != nil {
			return err
		}
	}
	o.App.Attended = true
	a := app.New(o.App)
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.CheckSpend(); err != nil {
		return err
	}
	o.warn(a)
	d, err := o.display(a)
	if err != nil {
		return err
	}
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	dir, err := a.Dir()
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
		In: in, Out: out, First: first, Display: d, Dir: dir, History: cfg.Home().History(),
		Greeting: []string{"Hermes " + app.Version + "   /help for commands, Ctrl+C to stop a turn, Ctrl+D to quit"},
		Trusted:  !cfg.Approvals().DestructiveSlashConfirm, Models: a.ModelReferences, Settings: a.Settings(), Memory: remembered, Learnings: a.Learned(), Skills: skills, Spend: spent, Limits: a.Limits, Term: cfg.Getenv("TERM"),
		Sessions: func(ctx context.Context) (command.Sessions, error) { return a.Sessions(ctx) },
		Open: func(ctx context.Context, w tui.Want) (tui.Session, bool, error) {
			if !w.First {
				o.Resume, o.asked.carryOn = w.Resume, false
			}
			s, err := o.open(ctx, a, w.Title, true, w.Waiting)
			if err != nil {
				return nil, false, err
			}
			return attaching{s, a, dir, w.Waiting}, o.Resume != "" || o.asked.carryOn, nil
		},
	})
	if id != "" {
		fmt.Fprintf(o.IO.Out, "Resume this session with: hermes --resume %s\n", id)
	}
	return err
}
