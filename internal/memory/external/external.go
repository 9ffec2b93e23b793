// Package external is what all external memory services share: how one is chosen and
// opened, how it is reached, and what is sent to it and accepted from it. Each service is
// in a folder of its own below this one; local needs no service.
//
// The package must not know which services exist: internal/app lists them. Start at
// [Open], then [Client] for a service that is reached by HTTP, and [SearchTool].
package external

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"hermes"
)

// Service describes an external memory service. At most one is used.
type Service struct {
	Name, Title string
	Missing     string // what must be set first; "" if nothing
	Make        func() hermes.MemoryProvider
}

// Env is what services are made from. All fields must be set.
type Env struct {
	Getenv func(name string) string
	Client func() *http.Client
	// User is the user of a service, unless a variable names one: each profile is another.
	User string
}

// Access says how to reach a service by the variables of its key, address and user.
func (e Env) Access(key, address, user string) Access {
	return Access{
		BaseURL: e.Getenv(address), Key: hermes.Secret(e.Getenv(key)), HTTP: e.Client(),
		User: cmp.Or(e.Getenv(user), e.User), Agent: "hermes",
	}
}

// Missing says what must be set before a service with these variables can be used: a key,
// or the address of one that needs none. It is "" if nothing is missing.
func (e Env) Missing(key, address string) string {
	if e.Getenv(key) != "" || e.Getenv(address) != "" {
		return ""
	}
	return "set " + key + " with `hermes config set " + key + " …`"
}

// Open makes the provider of a service by its name, or returns why it cannot be used. mask
// removes secrets from what is searched for and stored.
func Open(list []Service, name string, mask func(text string) string) (hermes.MemoryProvider, error) {
	for _, s := range list {
		switch {
		case s.Name == name && s.Missing != "":
			return nil, errors.New("the memory service is not used: " + s.Missing)
		case s.Name == name:
			return masked{newAhead(s.Make()), mask}, nil
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
