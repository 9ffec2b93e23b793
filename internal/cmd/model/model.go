// Package model is the command `hermes model`, which shows, lists and chooses
// models.
//
// It does not know how services are found and asked; the app does. Start at NewCmd.
package model

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"hermes/internal/cmd/factory"
)

// Catalogue are the models and their services.
type Catalogue interface {
	// Current is the configured model, and a text that says where it is set.
	Current(ctx context.Context) (ref, source string, err error)
	// Services lists the services of the catalogue.
	Services() ([]Service, error)
	// Models asks one service for its models.
	Models(ctx context.Context, service string) ([]string, error)
	// Resolve checks a reference and returns it in full.
	Resolve(ctx context.Context, ref string) (string, error)
	// Save makes a reference the default and returns what was written where.
	Save(ctx context.Context, ref string) (string, error)
}

// Service is a row of the catalogue. Missing says what the service lacks, and is
// empty if it is ready. Guessed means that it is not configured: it may be a
// local server that does not run. Own is a server of the user, which can be
// asked for its models at no cost.
type Service struct {
	Name, Title, Missing string
	Guessed, Own         bool
}

// Options are the flags and arguments of the command.
type Options struct {
	*factory.Factory
	Catalogue
	In       io.Reader
	Out      io.Writer
	Ref      string
	Provider string
	All      bool
}

// NewCmd makes the command; a catalogue replaces that of the app in tests.
func NewCmd(f *factory.Factory, k Catalogue) *cobra.Command {
	if k == nil {
		k = catalogue{f}
	}
	o := &Options{Factory: f, Catalogue: k}
	c := &cobra.Command{
		Use:   "model [REFERENCE]",
		Short: "Show or choose the model",
		Long: "Show the model in use and the ready services, and choose a model on a terminal.\n" +
			"With a reference such as openrouter:vendor/name, make that model the default.",
		Example: "  hermes model\n  hermes model anthropic:claude-sonnet-4-5",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.In, o.Out = c.InOrStdin(), c.OutOrStdout()
			if len(args) > 0 {
				o.Ref = args[0]
			}
			return run(c.Context(), o)
		},
	}
	list := &cobra.Command{
		Use:     "list [PROVIDER]",
		Short:   "List the models of all ready services, or of one service",
		Example: "  hermes model list\n  hermes model list openrouter",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.Out = c.OutOrStdout()
			if len(args) > 0 {
				o.Provider = args[0]
			}
			return listModels(c.Context(), o)
		},
	}
	list.Flags().BoolVar(&o.All, "all", false, "also list the services that are not ready")
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

// ask lets the user choose from a list; an empty answer chooses nothing.
func ask(ctx context.Context, o *Options, refs []string) (string, error) {
	if o.Choose == nil {
		return chooseModel(o.In, o.Out, refs)
	}
	current, _, err := o.Current(ctx)
	if err != nil { // show has reported it
		current = ""
	}
	index, err := o.Choose("Model", refs, slices.Index(refs, current))
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

// unlisted warns if the user's own server does not list the model. This is most
// likely a typo, though some servers accept any name. It is "" if the server does
// not answer, and for public services, which are not asked.
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

// shown is the name of a service, with the title of the user's own one if it says more.
func (s Service) shown() string {
	name, own := strings.CutPrefix(s.Name, "custom:")
	if !own || s.Title == "" || s.Title == name {
		return s.Name
	}
	return s.Name + " (" + s.Title + ")"
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
			names = append(names, s.shown())
		}
	}
	if len(names) == 0 {
		fmt.Fprintln(o.Out, "No service is set up. Run `hermes model list --all` to see all services and what they need.")
		return nil
	}
	fmt.Fprintln(o.Out, "Ready services:", strings.Join(names, ", "))
	return nil
}
