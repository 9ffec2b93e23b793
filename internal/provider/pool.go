package provider

import (
	"strings"

	"hermes"
)

// Pool returns the name of a service's credential pool, and the credentials from
// the settings and the environment. It also works for a service that cannot be
// used because it has no credential. It fails if the name is unknown.
func (c *Catalogue) Pool(name string) (pool string, given []hermes.Key, err error) {
	name = strings.ToLower(name)
	if ch, err := c.named(name, ""); err == nil {
		return ch.pool(), c.given(ch.endpoint), nil
	}
	e, err := c.endpoint(name)
	if e.id == "" {
		return "", nil, err
	}
	return e.pool(), c.given(e), nil
}

// Pools returns the pools of the services of the catalogue and of those with these names, with
// the credentials from the settings and the environment.
func (c *Catalogue) Pools(names ...string) map[string][]hermes.Key {
	for _, row := range c.rows {
		names = append(names, row.Name)
	}
	out := map[string][]hermes.Key{}
	for _, name := range names {
		if pool, given, err := c.Pool(name); err == nil {
			out[pool] = append(out[pool], given...)
		}
	}
	return out
}
