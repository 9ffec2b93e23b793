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

	"hermes/internal/app"
	"hermes/internal/demo"
	"hermes/internal/tui"

	"hermes"
	"hermes/internal/session"
)

// Options are the flags of the command.
type Options struct {
	App   app.Options
	Serve bool
	Demo  demo.Options
	Out   io.Writer
	Err   io.Writer
	// Display is how the work is shown, and Width how wide.
	Display tui.Display
	Width   int
}

// NewCmd makes the command. show sets how to show things when the command runs.
func NewCmd(o *Options, show func(*Options)) *cobra.Command {
	c := &cobra.Command{
		Use:     "demo",
		Short:   "Watch the agent fix a small project and remember it, without a key or network",
		Example: "  hermes demo\n  hermes demo --serve",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Out, o.Err = c.OutOrStdout(), c.ErrOrStderr()
			show(o)
			o.Demo.Width = o.Width
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
			defer stop()
			if o.Serve {
				return demo.Serve(ctx, o.Out, o.Demo)
			}
			return demo.Run(ctx, runner{o}, o.Out, o.Demo)
		},
	}
	c.Flags().BoolVar(&o.Serve, "serve", false, "only serve the scripted model, for any client")
	c.Flags().BoolVar(&o.Demo.Fast, "fast", false, "skip the pauses of a real model")
	c.Flags().StringVar(&o.Demo.Addr, "addr", "", "address to listen on (default: a free port of 127.0.0.1)")
	return c
}

// runner is the real agent with the scripted model.
type runner struct{ o *Options }

// Run does the task in a new session of the demo's home. Like a new start of the program, it shares
// only what was stored.
func (r runner) Run(ctx context.Context, task demo.Task) (out demo.Answer, err error) {
	a := app.New(app.Options{Home: task.Home, BaseURL: task.BaseURL, BaseModel: task.Model, Getenv: r.o.App.Getenv, Announce: r.o.App.Announce})
	defer func() { err = errors.Join(err, a.Close()) }()
	m, err := a.Sessions(ctx)
	if err != nil {
		return out, err
	}
	run := hermes.RunSpec{
		Origin: hermes.Origin{Platform: "demo"}, Workspace: hermes.Workspace{Dir: task.Dir}, Model: hermes.ModelChoice{Ref: task.Model},
		Tools: hermes.ToolChoice{Enabled: []string{"file", "terminal", "todo", "memory", "skills", "session_search"}},
	}
	s, err := m.Open(ctx, session.Open{Run: run, Title: task.Title, Attended: true})
	if err != nil {
		return out, err
	}
	p := &answer{Printer: tui.NewPrinter(r.o.Out, r.o.Out, r.o.Display, r.o.Width, nil), runner: r, session: s, ctx: ctx}
	done, err := tui.Ask(ctx, s, []hermes.Part{{Text: task.Prompt}}, p)
	if err == nil {
		err = done.Err
	}
	if err == nil && done.Outcome == hermes.OutcomeInterrupted {
		err = hermes.ErrInterrupted
	}
	return demo.Answer{Session: s.ID(), Text: done.Text}, err
}
