package provider

import (
	"strings"

	"hermes"
)

// Pool returns the name of a service's pool of credentials, and those that the
// settings and the environment give, also where the service cannot be asked for
// want of one. It fails where the name is unknown.
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
