package memory

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"hermes"
)

// External describes an external memory service. At most one is used.
type External struct {
	Name, Title string
	Missing     string // what must be set first; "" if nothing
	make        func() hermes.MemoryProvider
}

// ExternalConfig is what the services need. All fields must be set.
type ExternalConfig struct {
	Open   func(ctx context.Context) (hermes.Recollections, error) // for the local one
	Getenv func(name string) string
	Client func() *http.Client
	// User is the user of a service, unless a variable names one: each profile is another.
	User string
	Mask func(text string) string // removes secrets from what is searched for and stored
}

// Externals lists the external memory services.
func Externals(c ExternalConfig) []External {
	// service says how to reach one by the variables of its key, address and user.
	service := func(key, address, user string) Service {
		return Service{
			BaseURL: c.Getenv(address), Key: hermes.Secret(c.Getenv(key)), Client: c.Client(),
			User: cmp.Or(c.Getenv(user), c.User), Agent: "hermes",
		}
	}
	missing := func(key, address string) string {
		if c.Getenv(key) != "" || c.Getenv(address) != "" {
			return ""
		}
		return "set " + key + " with `hermes config set " + key + " …`"
	}
	list := []External{
		{
			Name: "local", Title: "search by words and similarity, in this profile's database, offline",
			make: func() hermes.MemoryProvider { return NewLocal(c.Open) },
		},
		{
			Name: "honcho", Title: "Honcho, a service that builds a profile of you", Missing: missing("HONCHO_API_KEY", "HONCHO_BASE_URL"),
			make: func() hermes.MemoryProvider {
				return NewHoncho(service("HONCHO_API_KEY", "HONCHO_BASE_URL", "HONCHO_PEER_ID"), c.Getenv("HONCHO_WORKSPACE_ID"))
			},
		},
		{
			Name: "mem0", Title: "Mem0, a service that stores facts", Missing: missing("MEM0_API_KEY", "MEM0_BASE_URL"),
			make: func() hermes.MemoryProvider {
				return NewMem0(service("MEM0_API_KEY", "MEM0_BASE_URL", "MEM0_USER_ID"))
			},
		},
		{
			Name: "supermemory", Title: "Supermemory, a service that stores a profile and memories", Missing: missing("SUPERMEMORY_API_KEY", "SUPERMEMORY_BASE_URL"),
			make: func() hermes.MemoryProvider {
				return NewSupermemory(service("SUPERMEMORY_API_KEY", "SUPERMEMORY_BASE_URL", "SUPERMEMORY_CONTAINER_TAG"))
			},
		},
	}
	for i, row := range list {
		list[i].make = func() hermes.MemoryProvider { return masked{newAhead(row.make()), c.Mask} }
	}
	return list
}

// OpenExternal makes the provider of a service by its name; nil with a reason if it cannot be
// used.
func OpenExternal(list []External, name string) (hermes.MemoryProvider, error) {
	for _, row := range list {
		switch {
		case row.Name == name && row.Missing != "":
			return nil, errors.New("the memory service is not used: " + row.Missing)
		case row.Name == name:
			return row.make(), nil
		}
	}
	return nil, errors.New("memory.provider is not a known service; run `hermes memory setup` to list them")
}

// masked removes secrets from what is sent to a service.
type masked struct {
	hermes.MemoryProvider
	mask func(text string) string
}

func (m masked) Recall(ctx context.Context, q hermes.RecallQuery) (hermes.Recalled, error) {
	q.Text = m.mask(q.Text)
	return m.MemoryProvider.Recall(ctx, q)
}

func (m masked) Observe(ctx context.Context, t hermes.MemoryTurn) error {
	t.Said, t.Answer = m.mask(t.Said), m.mask(t.Answer)
	return m.MemoryProvider.Observe(ctx, t)
}

// OwnersOnly restricts the tools of a service to the owner where each user has their own
// memory, as configured or as a session says: they refuse sessions of other users.
func OwnersOnly(p hermes.MemoryProvider, perUser bool) hermes.MemoryProvider {
	return ownersOnly{p, perUser}
}

type ownersOnly struct {
	hermes.MemoryProvider
	perUser bool
}

func (o ownersOnly) Tools() []hermes.Tool {
	var out []hermes.Tool
	for _, t := range o.MemoryProvider.Tools() {
		out = append(out, ownersTool{t, o.perUser})
	}
	return out
}

type ownersTool struct {
	hermes.Tool
	perUser bool
}

func (t ownersTool) Run(ctx context.Context, c *hermes.Call) (hermes.Result, error) {
	if s := c.Host.Session(); s.User != "" && PerUser(s, t.perUser) {
		return hermes.Result{}, errors.New("this memory belongs to the owner; say what you need to know, or use the memory tool")
	}
	return t.Tool.Run(ctx, c)
}
