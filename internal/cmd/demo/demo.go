// Package demo is the command that shows Hermes at work without a key and
// without a network.
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

// Options are the wishes of the person.
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

// NewCmd makes the command. show finds out how to show things when it runs.
func NewCmd(o *Options, show func(*Options)) *cobra.Command {
	c := &cobra.Command{
		Use:   "demo",
		Short: "See the agent mend a small project and remember it; needs no key and no network",
		Args:  cobra.NoArgs,
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
	c.Flags().BoolVar(&o.Serve, "serve", false, "leave the scripted model running for other clients")
	c.Flags().BoolVar(&o.Demo.Fast, "fast", false, "without the pauses of a real model")
	c.Flags().StringVar(&o.Demo.Addr, "addr", "", "where to listen (a free port of 127.0.0.1)")
	return c
}

// runner is the real agent, told to use the scripted model.
type runner struct{ o *Options }

// Run does the task in a new session of the home that the demo made, as another start of the
// program would: nothing is shared but what was stored.
func (r runner) Run(ctx context.Context, task demo.Task) (out demo.Answer, err error) {
	opts := app.Options{Home: task.Home, BaseURL: task.BaseURL, Model: task.Model, Dir: task.Dir, Getenv: r.o.App.Getenv}
	opts.Toolsets = []string{"file", "terminal", "todo", "memory", "skills", "session_search"}
	a := app.New(opts)
	defer func() { err = errors.Join(err, a.Close()) }()
	m, err := a.Sessions(ctx)
	if err != nil {
		return out, err
	}
	s, err := m.Open(ctx, session.Open{Platform: "demo", Dir: task.Dir, Model: task.Model, Title: task.Title, Attended: true})
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
