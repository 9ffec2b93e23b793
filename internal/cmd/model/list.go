package model

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
)

// probeTime is how long a server on this machine may take to answer.
const probeTime = time.Second

// running filters out guessed servers that do not answer. It asks all of them at
// the same time.
func (n noun) running(ctx context.Context, services []Service) []Service {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	silent := make([]bool, len(services))
	var wg sync.WaitGroup
	for i, s := range services {
		if s.Guessed && s.Missing == "" {
			wg.Go(func() {
				_, err := n.Models(ctx, s.Name)
				silent[i] = err != nil
			})
		}
	}
	wg.Wait()
	var out []Service
	for i, s := range services {
		if !silent[i] {
			out = append(out, s)
		}
	}
	return out
}

// ready lists the references of all models of all ready services.
func (n noun) ready(ctx context.Context, c *factory.Call) ([]string, error) {
	services, err := n.Services()
	if err != nil {
		return nil, err
	}
	var refs []string
	for _, s := range services {
		if s.Missing != "" {
			continue
		}
		list, err := n.Models(ctx, s.Name)
		if err != nil && !s.Guessed {
			c.Say("%v", err)
		}
		for _, m := range list {
			refs = append(refs, s.Name+":"+m)
		}
	}
	return refs, nil
}

func (n noun) list() *cobra.Command {
	var all bool
	cmd := factory.Verb("list [PROVIDER]", "List the models of all ready services, or of one service", "hermes model list\n  hermes model list openrouter", cobra.MaximumNArgs(1), func(ctx context.Context, c *factory.Call) error {
		if service := c.Arg(0); service != "" {
			models, err := n.Models(ctx, service)
			for _, m := range models {
				c.Say("%s:%s", service, m)
			}
			return err
		}
		refs, err := n.ready(ctx, c)
		for _, r := range refs {
			c.Say("%s", r)
		}
		if err != nil || !all {
			return err
		}
		return n.printMissing(ctx, c)
	})
	cmd.Flags().BoolVar(&all, "all", false, "also list the services that are not ready")
	return cmd
}

// printMissing lists the services that are not ready, and why.
func (n noun) printMissing(ctx context.Context, c *factory.Call) error {
	services, err := n.Services()
	if err != nil {
		return err
	}
	there := n.running(ctx, services)
	width := 0
	for _, s := range services {
		width = max(width, len(s.Name))
	}
	for _, s := range services {
		switch {
		case s.Missing != "":
			// The row already names the service.
			c.Say("%-*s  %s", width, s.Name, strings.TrimPrefix(s.Missing, fmt.Sprintf("provider %q ", s.Name)))
		case !slices.Contains(there, s):
			c.Say("%-*s  no such server is running on this machine", width, s.Name)
		}
	}
	return nil
}
