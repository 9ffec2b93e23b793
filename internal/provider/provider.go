// Package provider owns the catalogue of model services, the resolution of
// references such as "openrouter:vendor/name", the search for local model
// servers, what they say about their models, and the order of the model chain. The
// layers that need no service are in package chain.
//
// Settings and the environment come in as values (Config); the package reads
// neither. It is the only package that names the protocols (transports.go). It must
// not know sessions, prompts or tools.
//
// Start reading at Catalogue.Model, then resolve.go. The services are listed in
// catalogue.go, the order of the layers in chain.go.
package provider

import (
	"context"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/internal/chain"
	"hermes/internal/httpc"
	"hermes/internal/ratelimit"
	"hermes/internal/serverinfo"
)

// Catalogue resolves references to models. It may be used concurrently.
type Catalogue struct {
	cfg   Config
	rows  []Row
	index map[string]int // of rows, by name and alias

	learned  *serverinfo.Book // what servers said about their models
	quirks   chain.Table      // what endpoints refuse
	failover *chain.Failover  // which model answers each turn, and which ones pause
	limits   *ratelimit.Book  // what services said about their limits

	mu       sync.Mutex
	found    []found             // local servers that answered
	asked    map[string][]string // models of the user's own servers, by address
	reported bool                // Note was called
	judged   map[string]bool     // models whose tools were looked for

	known sync.Map // what quietly returned, by reference; few, because users write them
}

// New returns a catalogue. It does no I/O; it fails if a proxy setting is
// invalid.
func New(cfg Config) (*Catalogue, error) {
	if cfg.Getenv == nil {
		cfg.Getenv = func(string) string { return "" }
	}
	if cfg.Client == nil {
		client, err := Client(cfg.Getenv, cfg.UserAgent)
		if err != nil {
			return nil, err
		}
		cfg.Client = client
	}
	cfg.Client = httpc.WithinOrigin.Client(cfg.Client)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Sleep == nil {
		cfg.Sleep = sleep
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Float64
	}
	if cfg.LongestWait == 0 {
		cfg.LongestWait = longestWait
	}
	if cfg.UnattendedWait == 0 {
		cfg.UnattendedWait = cfg.LongestWait
	}
	if cfg.Local == nil {
		cfg.Local = usualPorts()
	}
	c := &Catalogue{
		cfg: cfg, rows: catalogue(), index: map[string]int{}, learned: serverinfo.NewBook(cfg.Answers), failover: chain.NewFailover(), limits: ratelimit.NewBook(),
		asked: map[string][]string{}, judged: map[string]bool{},
	}
	for i, r := range c.rows {
		c.index[r.Name] = i
		for _, a := range r.Aliases {
			c.index[a] = i
		}
	}
	for _, s := range cfg.Local {
		if i, ok := c.index[s.Provider]; ok && s.BaseURL != "" {
			c.rows[i].BaseURL = s.BaseURL
		}
	}
	return c, nil
}

// Client returns an HTTP client with the proxies that the environment names,
// in both spellings. If one is invalid, the error names the variable.
func Client(getenv func(string) string, userAgent string) (*http.Client, error) {
	return proxied(getenv, httpc.Options{UserAgent: userAgent})
}

func proxied(getenv func(string) string, o httpc.Options) (*http.Client, error) {
	choose, err := httpc.ProxiesOf(getenv).Func()
	if err != nil {
		return nil, err
	}
	o.Proxy = choose
	return httpc.New(o)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// KeyVariables returns the variables that hold keys of the services of the
// catalogue, each with the title of the service. The map is shared: do not change it.
var KeyVariables = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for _, r := range catalogue() {
		for _, name := range r.KeyVars {
			out[name] = r.Title
		}
	}
	return out
})

// Known reports whether the catalogue has a service with a name or alias, in any case.
func Known(name string) bool {
	return slices.ContainsFunc(catalogue(), func(r Row) bool {
		return strings.EqualFold(r.Name, name) || slices.ContainsFunc(r.Aliases, func(a string) bool { return strings.EqualFold(a, name) })
	})
}

// Rows returns the services of the catalogue, in its order.
func (c *Catalogue) Rows() []Row { return append([]Row(nil), c.rows...) }

// Configured returns the ids of the services that can be used now, as Provider
// takes them. The user's own services come first.
func (c *Catalogue) Configured() []string {
	var ids []string
	if c.baseURL() != "" && c.Ready("custom") == "" {
		ids = append(ids, "custom")
	}
	for _, id := range slices.Sorted(maps.Keys(c.cfg.Custom)) {
		if _, known := c.row(id); !known && c.Ready("custom:"+id) == "" {
			ids = append(ids, "custom:"+id)
		}
	}
	for _, r := range c.rows {
		if c.Ready(r.Name) == "" {
			ids = append(ids, r.Name)
		}
	}
	return ids
}

// Ready returns the empty string if a service can be used with the current
// configuration, or else says in plain words what is missing.
func (c *Catalogue) Ready(name string) (missing string) {
	e, err := c.endpoint(name)
	if err != nil {
		return err.Error()
	}
	return e.missing()
}

// row returns the service of this name or alias.
func (c *Catalogue) row(name string) (Row, bool) {
	i, ok := c.index[name]
	if !ok {
		return Row{}, false
	}
	return c.rows[i], true
}
