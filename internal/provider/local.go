package provider

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"hermes/internal/serverinfo"
)

// LocalServer is a model server that may run on this machine.
type LocalServer struct {
	Provider string // its row in the catalogue
	BaseURL  string
}

func usualPorts() []LocalServer {
	return []LocalServer{
		{"ollama", "http://127.0.0.1:11434/v1"},
		{"lmstudio", "http://127.0.0.1:1234/v1"},
		{"llamacpp", "http://127.0.0.1:8080/v1"},
		{"vllm", "http://127.0.0.1:8000/v1"},
	}
}

// found is a local server that answered, with its models.
type found struct {
	LocalServer
	models []string
}

// probeTime is how long a server on this machine may take to list its models,
// unless the settings say otherwise.
const probeTime = 500 * time.Millisecond

// local looks for servers, all in parallel, until it has found some. It returns
// those that answer, in the order of the list.
func (c *Catalogue) local(ctx context.Context) []found {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.found) > 0 {
		return c.found
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.cfg.Timeouts.Probe, probeTime))
	defer cancel()
	answers := make([]found, len(c.cfg.Local))
	var wg sync.WaitGroup
	for i, s := range c.cfg.Local {
		wg.Go(func() {
			answers[i] = found{LocalServer: s, models: c.ask(ctx, s)}
		})
	}
	wg.Wait()
	c.found = slices.DeleteFunc(answers, func(f found) bool { return len(f.models) == 0 })
	return c.found
}

func (c *Catalogue) ask(ctx context.Context, s LocalServer) []string {
	e, err := c.endpoint(s.Provider)
	if err != nil {
		return nil
	}
	list, err := c.list(ctx, e)
	if err != nil {
		return nil // no server, or not a model server
	}
	return serverinfo.Chatting(list)
}
