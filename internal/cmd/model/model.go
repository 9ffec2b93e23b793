// Package model is the command that shows and chooses the model.
//
// It knows what it needs as a small interface (Deps); the root gives it the
// real catalogue and configuration.
package model

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Deps is what the command works with.
type Deps struct {
	// Current is the configured model, and in words where it comes from.
	Current func(ctx context.Context) (ref, source string, err error)
	// Services lists the services of the catalogue.
	Services func() ([]Service, error)
	// Models asks one service for its models.
	Models func(ctx context.Context, service string) ([]string, error)
	// Resolve checks a reference and returns it in full.
	Resolve func(ctx context.Context, ref string) (string, error)
	// Save makes a reference the default and returns what was written where.
	Save func(ctx context.Context, ref string) (string, error)
	// Terminal tells whether the person can be asked.
	Terminal func() bool
	// Pick shows a list to choose from and returns the place of the choice, or
	// -1; current is the place of the model in use, or -1. Nil asks line by
	// line.
	Pick func(title string, items []string, current int) (int, error)
}

// Service is a row of the catalogue: Missing says in plain words what it
// lacks to be used, and is empty if it can be. Guessed says that nobody set it
// up: it may be a server that does not run. Own is a server of the person's,
// which costs nothing to ask for its models.
type Service struct {
	Name, Title, Missing string
	Guessed, Own         bool
}

// Options are the wishes of the person.
type Options struct {
	Deps
	In       io.Reader
	Out      io.Writer
	Ref      string
	Provider string
	All      bool
}

// NewCmd makes the command.
func NewCmd(d Deps, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Deps: d}
	c := &cobra.Command{
		Use:   "model [REFERENCE]",
		Short: "Show or choose the model that answers",
		Long: "Without an argument the command shows the model in use and the services that are ready,\n" +
			"and on a terminal lets you choose. With a reference, such as openrouter:vendor/name, it\n" +
			"makes that model the default.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.In, o.Out = c.InOrStdin(), c.OutOrStdout()
			if len(args) > 0 {
				o.Ref = args[0]
			}
			if runF != nil {
				return runF(c.Context(), o)
			}
			return run(c.Context(), o)
		},
	}
	list := &cobra.Command{
		Use:   "list [PROVIDER]",
		Short: "List the models of the services that are ready, or of one of them",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.Out = c.OutOrStdout()
			if len(args) > 0 {
				o.Provider = args[0]
			}
			return listModels(c.Context(), o)
		},
	}
	list.Flags().BoolVar(&o.All, "all", false, "list the services that are not ready, too")
	c.AddCommand(list)
	return c
}

func run(ctx context.Context, o *Options) error {
	if o.Ref != "" {
		return choose(ctx, o, o.Ref)
	}
	if err := show(ctx, o); err != nil {
		return err
	}
	if !o.Terminal() {
		return nil
	}
	refs, err := ready(ctx, o)
	if err != nil || len(refs) == 0 {
		return err
	}
	ref, err := ask(ctx, o, refs)
	if err != nil || ref == "" {
		return err
	}
	return choose(ctx, o, ref)
}

// ask lets the person choose from a list; an empty answer is no choice.
func ask(ctx context.Context, o *Options, refs []string) (string, error) {
	if o.Pick == nil {
		return pick(o.In, o.Out, refs)
	}
	current, _, err := o.Current(ctx)
	if err != nil { // it was told before
		current = ""
	}
	index, err := o.Pick("Model", refs, slices.Index(refs, current))
	if err != nil || index < 0 {
		return "", err
	}
	return refs[index], nil
}

func choose(ctx context.Context, o *Options, ref string) error {
	full, err := o.Resolve(ctx, ref)
	if err != nil {
		return err
	}
	where, err := o.Save(ctx, full)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "New sessions use %s (%s).\n", full, where)
	if note := unlisted(ctx, o, full); note != "" {
		fmt.Fprintln(o.Out, note)
	}
	return nil
}

// unlisted is a warning where a server of one's own does not list the model: a
// slip, most likely, though some servers take any name. It is "" where the
// server does not answer, and for the public services, which are not asked.
func unlisted(ctx context.Context, o *Options, full string) string {
	services, err := o.Services()
	if err != nil {
		return ""
	}
	for _, s := range services {
		name, ok := strings.CutPrefix(full, s.Name+":")
		if !ok || !s.Own {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, probeTime)
		defer cancel()
		list, err := o.Models(ctx, s.Name)
		if err != nil || len(list) == 0 || slices.Contains(list, name) {
			return ""
		}
		more := ""
		if len(list) > 5 {
			more = fmt.Sprintf(" and %d more", len(list)-5)
		}
		return fmt.Sprintf("Note: the server does not list %q. It has: %s%s.", name, strings.Join(list[:min(5, len(list))], ", "), more)
	}
	return ""
}

func show(ctx context.Context, o *Options) error {
	ref, source, err := o.Current(ctx)
	if err != nil {
		fmt.Fprintln(o.Out, err)
	} else {
		fmt.Fprintf(o.Out, "Model: %s (%s)\n", ref, source)
	}
	services, err := o.Services()
	if err != nil {
		return err
	}
	var names []string
	for _, s := range running(ctx, o, services) {
		if s.Missing == "" {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		fmt.Fprintln(o.Out, "No service is set up. `hermes model list --all` shows all and what each of them needs.")
		return nil
	}
	fmt.Fprintln(o.Out, "Ready services:", strings.Join(names, ", "))
	return nil
}
