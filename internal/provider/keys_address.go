package provider

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/httpc"
	"hermes/internal/redact"
)

// The rules of this file keep a key with the address it was given for. A key that an
// entry of the settings has goes to the address of that entry: its own base URL, or
// else the one of the catalogue. If another setting or a variable names a different
// server, the call fails before any request.

// own returns the entry of the section providers under the first of these names, in
// any case.
func (c *Catalogue) own(names []string) (id string, set Custom, ok bool) {
	for _, n := range names {
		if set, ok = c.cfg.Custom[n]; ok {
			return n, set, true
		}
	}
	for _, n := range names {
		for _, id := range slices.Sorted(maps.Keys(c.cfg.Custom)) {
			if strings.EqualFold(id, n) {
				return id, c.cfg.Custom[id], true
			}
		}
	}
	return "", Custom{}, false
}

// Entry returns the key of the entry in the section providers that holds the settings
// of a provider, "" if there is none.
func (c *Catalogue) Entry(name string) string {
	names := []string{strings.TrimPrefix(name, "custom:")}
	if r, known := c.row(strings.ToLower(name)); known {
		names = append(append(names, r.Name), r.Aliases...)
	}
	id, _, _ := c.own(names)
	return id
}

// holds names the field of an entry that has a key, "" if none has.
func (s Custom) holds() string {
	switch {
	case s.Key != "":
		return "api_key"
	case s.KeyEnv != "":
		return "key_env"
	}
	for _, name := range slices.Sorted(maps.Keys(s.Header)) {
		if secretHeader(name) {
			return "headers." + name
		}
	}
	return ""
}

// secretHeader reports whether a header's value is a key.
func secretHeader(name string) bool {
	return strings.EqualFold(name, "Authorization") || strings.EqualFold(name, "Cookie") || redact.SecretName(name)
}

// withoutSecrets returns the headers that may go to any server.
func withoutSecrets(h http.Header) http.Header {
	out := h.Clone()
	maps.DeleteFunc(out, func(name string, _ []string) bool { return secretHeader(name) })
	return out
}

// keyMayGo returns an error if the key of an entry would be sent to a server that the
// entry does not name. section is the entry's, by the setting or variable that names
// the address.
func (e endpoint) keyMayGo(section, by, address string) error {
	field := e.custom.holds()
	if field == "" || e.home == "" || isLocal(e.home) || sameServer(e.home, address) {
		return nil
	}
	return fmt.Errorf("%s.%s is a key for %s and is not sent to %s, which %s names; if it is meant for that server, set %s.base_url in config.yaml to its address",
		section, field, hostOf(e.home), hostOf(address), by, section)
}

// withholdLogins keeps a login that was taken over from another program from every
// server but the service's own, and those on the user's machine or network. Where the
// service's own is not known, such a login goes nowhere else.
func (e *endpoint) withholdLogins() {
	pool, ok := e.keys.(interface{ WithoutPrograms() hermes.Keys })
	e.loginHome = cmp.Or(e.home, e.LoginURL)
	if !ok || isLocal(e.BaseURL) || sameServer(e.BaseURL, e.loginHome) {
		return
	}
	own := pool.WithoutPrograms()
	e.withheld = e.keys.Any() && !own.Any()
	e.keys = own
}

// sameServer reports whether two addresses have the same scheme, host and port.
func sameServer(a, b string) bool {
	x, err := url.Parse(a)
	if err != nil {
		return false
	}
	y, err := url.Parse(b)
	return err == nil && httpc.Origin(x) == httpc.Origin(y)
}
