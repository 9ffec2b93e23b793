// Package netguard decides which addresses may be fetched, and fetches them.
//
// Untrusted text can make a model fetch any address. So netguard allows only http
// and https URLs with a host, and only if every address of the host is public:
// not this machine, not its local network, and never the metadata service of a
// cloud, which hands out credentials. It resolves a name once and connects to an
// address that was checked. It checks every redirect again and sends no
// credentials to another host. It limits size and time.
//
// It must not know the configuration: Guard is a value that says what is allowed. Every
// request that a tool sends goes through one.
// It resolves and connects, and keeps only idle connections. Start reading at
// Guard; address.go has the ranges, host.go how hosts are written, client.go the
// connections.
package netguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Guard says what may be fetched. The zero value allows public addresses only.
// It must not be changed after its first use and may be used concurrently.
type Guard struct {
	// Private allows the addresses of this machine and its local network, but
	// never those of a metadata service.
	Private bool
	// Own are hosts of this machine or its local network that the user chose, such as a
	// server in the settings. They are allowed without Private.
	Own []string
	// Resolve finds the addresses of a name; nil asks the system.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Networks lists the addresses of this machine with their networks; nil asks the system.
	Networks func() []netip.Prefix
	// Proxy chooses the proxy of a request, as http.Transport.Proxy does; nil
	// is none. A proxy resolves names itself. So for a proxied request only the
	// URL is checked, and the addresses if the name resolves here too.
	Proxy func(*http.Request) (*url.URL, error)
	// Blocked names the rule of the user that forbids a host, in its plain form; nil forbids
	// none. It is asked before a name is looked up, and for every redirect.
	Blocked func(host string, port uint16) (rule string, blocked bool)
	// IPv4 connects over IPv4 only.
	IPv4 bool
	// Connect opens a connection to an address that was checked, or to a proxy;
	// nil uses the network.
	Connect func(ctx context.Context, network, address string) (net.Conn, error)
}

// resolveTime bounds the look-up of one name.
const resolveTime = 10 * time.Second

// Refused says why something is not fetched, in words for the user.
type Refused struct {
	Host string // as it was checked; empty if the URL has none
	Why  string
	// Private is set if Guard.Private would allow it.
	Private bool
}

// Unknown reports whether the host has no address here, which may be so for a moment only.
func (r *Refused) Unknown() bool { return r.Why == unresolved }

func (r *Refused) Error() string {
	if r.Host == "" {
		return "the address is blocked: " + r.Why
	}
	return fmt.Sprintf("%s is blocked: %s", r.Host, r.Why)
}

// Judge decides whether a URL may be fetched and returns the current addresses of
// its host, all of them checked. It fails with a *Refused. The addresses are
// empty if a proxy resolves the name.
func (g *Guard) Judge(ctx context.Context, raw string) ([]netip.Addr, error) {
	u, err := parse(raw)
	if err != nil {
		return nil, &Refused{Why: err.Error()}
	}
	if err := g.forbidden(u); err != nil {
		return nil, err
	}
	if proxied, err := g.proxied(&http.Request{Method: http.MethodGet, URL: u}); err != nil || proxied {
		if err != nil {
			return nil, err
		}
		return nil, g.byName(ctx, u.Hostname())
	}
	return g.addresses(ctx, u.Hostname())
}

// forbidden refuses a host that a rule of the user names. The host of u is in its plain form.
func (g *Guard) forbidden(u *url.URL) error {
	if g.Blocked == nil {
		return nil
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil { // it names none
		port = 443
		if u.Scheme == "http" {
			port = 80
		}
	}
	if rule, blocked := g.Blocked(u.Hostname(), uint16(port)); blocked {
		return &Refused{Host: u.Hostname(), Why: fmt.Sprintf("the rule %s forbids it", rule)}
	}
	return nil
}

// local reports whether a host may be private.
func (g *Guard) local(host string) bool { return g.Private || slices.Contains(g.Own, host) }

func (g *Guard) proxied(r *http.Request) (bool, error) {
	if g.Proxy == nil {
		return false, nil
	}
	u, err := g.Proxy(r)
	return u != nil, err
}

// byName checks a host whose name a proxy resolves.
func (g *Guard) byName(ctx context.Context, host string) error {
	_, err := g.addresses(ctx, host)
	if r, ok := errors.AsType[*Refused](err); ok && r.Why == unresolved {
		return nil
	}
	return err
}

// unresolved is the reason for names without an address.
const unresolved = "its name could not be resolved"

// addresses resolves a host, in its plain form, and checks all its addresses.
func (g *Guard) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, g.admit(host, a)
	}
	if k, what := judgeName(host); k != Public && (k != Private || !g.local(host)) {
		return nil, refuse(host, k, what)
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTime)
	defer cancel()
	list, err := g.resolve(ctx, host)
	if err != nil || len(list) == 0 {
		if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) {
			return nil, cause
		}
		return nil, &Refused{Host: host, Why: unresolved}
	}
	for _, a := range list {
		if err := g.admit(host, a); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (g *Guard) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if g.Resolve != nil {
		return g.Resolve(ctx, host)
	}
	list, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	for i, a := range list {
		list[i] = a.Unmap() // the plain form of IPv4
	}
	return list, err
}

// admit refuses an address that must not be reached.
func (g *Guard) admit(host string, a netip.Addr) error {
	networks := Networks
	if g.Networks != nil {
		networks = g.Networks
	}
	k, what := ClassifyOn(a, networks())
	if k == Public || k == Private && g.local(host) {
		return nil
	}
	return refuse(host, k, what)
}

func refuse(host string, k Class, what string) error {
	return &Refused{Host: host, Why: "it is " + what, Private: k == Private}
}

// On reads a switch that allows private addresses, from an environment variable
// or a quoted setting: true, 1 and yes mean on, everything else means off.
func On(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "true", "1", "yes":
		return true
	}
	return false
}

// Blocks names the rule of the user that forbids the host of a URL, without looking anything up. A URL that
// cannot be read counts as forbidden if there are rules.
func (g *Guard) Blocks(raw string) (rule string, blocked bool) {
	if g.Blocked == nil {
		return "", false
	}
	u, err := parse(raw)
	if err != nil {
		return err.Error(), true
	}
	refused, blocked := errors.AsType[*Refused](g.forbidden(u))
	if !blocked {
		return "", false
	}
	return refused.Why, true
}
