// Package demo is the command `hermes demo`, which shows Hermes at work without a
// key or a network. It runs the real agent; internal/demo owns the scripted model
// and the texts. Start at NewCmd.
package demo

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/demo"
	"hermes/internal/tui"
)

// NewCmd makes the command. appearance says how the work is shown, and how wide.
func NewCmd(f *factory.Factory, appearance func() (tui.Display, int)) *cobra.Command {
	var o demo.Options
	var serve bool
	cmd := factory.Verb("demo", "Watch the agent fix a small project and remember it, without a key or network", "hermes demo\n  hermes demo --serve", cobra.NoArgs, func(ctx context.Context, c *factory.Call) error {
		ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
		defer stop()
		r := runner{out: c.Out, global: f.Global}
		r.display, o.Width = appearance()
		r.demo = o
		if serve {
			return demo.Serve(ctx, c.Out, o)
		}
		return demo.Run(ctx, r, c.Out, o)
	})
	cmd.Flags().BoolVar(&serve, "serve", false, "only serve the scripted model, for any client")
	cmd.Flags().BoolVar(&o.Fast, "fast", false, "skip the pauses of a real model")
	cmd.Flags().StringVar(&o.Addr, "addr", "", "address to listen on (default: a free port of 127.0.0.1)")
	return cmd
}

// runner is the real agent with the scripted model.
type runner struct {
	global  app.Options
	demo    demo.Options
	out     io.Writer
	display tui.Display
}

// audience is the frontend of the demo: its questions are answered for the user.
var audience = hermes.From{Client: "demo", Platform: "demo", Name: "the demo", Attends: true}

// Run does the task in a new session of the demo's home. Like a new start of the program, it shares
// only what was stored.
func (r runner) Run(ctx context.Context, task demo.Task) (out demo.Answer, err error) {
	a := app.New(app.Options{Home: task.Home, BaseURL: task.BaseURL, BaseModel: task.Model, Getenv: r.global.Getenv, Announce: r.global.Announce})
	defer func() { err = errors.Join(err, a.Close()) }()
	client := a.Local(nil)
	run := hermes.RunSpec{
		Origin: hermes.Origin{Platform: "demo"}, Workspace: hermes.Workspace{Dir: task.Dir}, Model: hermes.ModelChoice{Ref: task.Model},
		Tools: hermes.ToolChoice{Enabled: []string{"file", "terminal", "todo", "memory", "skills", "session_search"}},
	}
	s, err := client.Open(ctx, audience, run)
	if err == nil {
		err = client.Do(ctx, s.ID, audience, hermes.SetTitle{Title: task.Title})
	}
	if err != nil {
		return out, err
	}
	p := &answer{Printer: tui.NewPrinter(r.out, r.out, r.display, r.demo.Width, nil), runner: r, client: client, id: s.ID, ctx: ctx}
	done, err := tui.Ask(ctx, client, s.ID, audience, []hermes.Part{{Text: task.Prompt}}, p)
	if err == nil {
		err = done.Err()
	}
	if err == nil && done.Outcome == hermes.OutcomeInterrupted {
		err = hermes.ErrInterrupted
	}
	return demo.Answer{Session: s.ID, Text: done.Text}, err
}
