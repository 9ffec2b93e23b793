package model

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// probeTime is how long a server on this machine may take to answer.
const probeTime = time.Second

// running filters out guessed servers that do not answer. It asks all of them at
// the same time.
func running(ctx context.Context, o *Options, services []Service) []Service {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	silent := make([]bool, len(services))
	var wg sync.WaitGroup
	for i, s := range services {
		if s.Guessed && s.Missing == "" {
			wg.Go(func() {
				_, err := o.Models(ctx, s.Name)
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
func ready(ctx context.Context, o *Options) ([]string, error) {
	services, err := o.Services()
	if err != nil {
		return nil, err
	}
	var refs []string
	for _, s := range services {
		if s.Missing != "" || o.Provider != "" && s.Name != o.Provider {
			continue
		}
		list, err := o.Models(ctx, s.Name)
		if err != nil {
			if !s.Guessed {
				fmt.Fprintln(o.Out, err)
			}
			continue
		}
		for _, m := range list {
			refs = append(refs, s.Name+":"+m)
		}
	}
	return refs, nil
}

func listModels(ctx context.Context, o *Options) error {
	if o.Provider != "" {
		list, err := o.Models(ctx, o.Provider)
		if err != nil {
			return err
		}
		for _, m := range list {
			fmt.Fprintln(o.Out, o.Provider+":"+m)
		}
		return nil
	}
	refs, err := ready(ctx, o)
	if err != nil {
		return err
	}
	for _, r := range refs {
		fmt.Fprintln(o.Out, r)
	}
	services, err := o.Services()
	if err != nil || !o.All {
		return err
	}
	there := running(ctx, o, services)
	width := 0
	for _, s := range services {
		width = max(width, len(s.Name))
	}
	for _, s := range services {
		switch {
		case s.Missing != "":
			// The row already names the service.
			fmt.Fprintf(o.Out, "%-*s  %s\n", width, s.Name, strings.TrimPrefix(s.Missing, fmt.Sprintf("provider %q ", s.Name)))
		case !slices.Contains(there, s):
			fmt.Fprintf(o.Out, "%-*s  no such server is running on this machine\n", width, s.Name)
		}
	}
	return nil
}
