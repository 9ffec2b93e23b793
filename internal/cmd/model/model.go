// Package model is the command `hermes model`, which shows, lists and chooses
// models.
//
// It does not know how services are found and asked; the app does. Start at NewCmd.
package model

import (
	"context"
	"fmt"
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

// noun makes the verbs.
type noun struct {
	*factory.Factory
	Catalogue
}

// NewCmd makes the command; a catalogue replaces that of the app in tests.
func NewCmd(f *factory.Factory, k Catalogue) *cobra.Command {
	if k == nil {
		k = catalogue{f}
	}
	n := noun{f, k}
	cmd := factory.Verb("model [REFERENCE]", "Show or choose the model", "hermes model\n  hermes model anthropic:claude-sonnet-4-5", cobra.MaximumNArgs(1), func(ctx context.Context, c *factory.Call) error {
		ref := c.Arg(0)
		if ref == "" {
			if err := n.show(ctx, c); err != nil || !n.Terminal() {
				return err
			}
			refs, err := n.ready(ctx, c)
			if err != nil || len(refs) == 0 {
				return err
			}
			if ref, err = n.ask(ctx, c, refs); err != nil || ref == "" {
				return err
			}
		}
		return n.choose(ctx, c, ref)
	})
	cmd.Long = "Show the model in use and the ready services, and choose a model on a terminal.\n" +
		"With a reference such as openrouter:vendor/name, make that model the default."
	cmd.AddCommand(n.list())
	return cmd
}

// ask lets the user choose from a list; an empty answer chooses nothing.
func (n noun) ask(ctx context.Context, c *factory.Call, refs []string) (string, error) {
	if n.Choose == nil {
		return chooseModel(c.In, c.Out, refs)
	}
	current, _, _ := n.Current(ctx) // show has reported the error
	index, err := n.Choose("Model", refs, slices.Index(refs, current))
	if err != nil || index < 0 {
		return "", err
	}
	return refs[index], nil
}

func (n noun) choose(ctx context.Context, c *factory.Call, ref string) error {
	full, err := n.Resolve(ctx, ref)
	if err != nil {
		return err
	}
	where, err := n.Save(ctx, full)
	if err != nil {
		return err
	}
	c.Say("New sessions use %s (%s).", full, where)
	if note := n.unlisted(ctx, full); note != "" {
		c.Say("%s", note)
	}
	return nil
}

// unlisted warns if the user's own server does not list the model. This is most
// likely a typo, though some servers accept any name. It is "" if the server does
// not answer, and for public services, which are not asked.
func (n noun) unlisted(ctx context.Context, full string) string {
	services, err := n.Services()
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
		list, err := n.Models(ctx, s.Name)
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

func (n noun) show(ctx context.Context, c *factory.Call) error {
	ref, source, err := n.Current(ctx)
	if err != nil {
		c.Say("%v", err)
	} else {
		c.Say("Model: %s (%s)", ref, source)
	}
	services, err := n.Services()
	if err != nil {
		return err
	}
	var names []string
	for _, s := range n.running(ctx, services) {
		if s.Missing == "" {
			names = append(names, s.shown())
		}
	}
	if len(names) == 0 {
		c.Say("No service is set up. Run `hermes model list --all` to see all services and what they need.")
		return nil
	}
	c.Say("Ready services: %s", strings.Join(names, ", "))
	return nil
}
