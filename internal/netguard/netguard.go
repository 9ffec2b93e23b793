// Package netguard decides which addresses may be fetched, and fetches them.
//
// Whoever makes a model fetch a page chooses what the program connects to. So
// only http and https URLs with a host are let through, and only where every
// address that the host resolves to is public: not this machine, not the
// network round it, and never the metadata service of a cloud, which hands out
// credentials. A name is resolved once and the connection goes to an address
// that was judged; every redirect is judged again and takes no credentials to
// another host; size and time are bounded.
//
// It knows no configuration: Guard is a value that says what is admitted. It
// resolves and connects, and keeps nothing but idle connections. Start reading
// at Guard; address.go has the ranges, host.go how hosts are written, client.go
// the connections.
package netguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Guard says what may be fetched. The zero value admits public addresses
// alone. It is not changed after its first use and may be used concurrently.
type Guard struct {
	// Private admits the addresses of this machine and of the network round
	// it, but never those of a metadata service.
	Private bool
	// Resolve finds the addresses of a name; nil asks the system.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Proxy chooses the proxy of a request, as http.Transport.Proxy does; nil
	// is none. A proxy resolves by itself: of what goes through one only the
	// URL is judged, and the addresses where the name resolves here too.
	Proxy func(*http.Request) (*url.URL, error)
	// Connect opens a connection to an address that was judged, or to a proxy;
	// nil is the network.
	Connect func(ctx context.Context, network, address string) (net.Conn, error)
}

// resolveTime bounds the look-up of one name.
const resolveTime = 10 * time.Second

// Refused says why something is not fetched, in words for a person.
type Refused struct {
	Host string // as it was judged; empty where the URL has none
	Why  string
	// Private is set where Guard.Private would admit it.
	Private bool
}

func (r *Refused) Error() string {
	if r.Host == "" {
		return "the address is refused: " + r.Why
	}
	return fmt.Sprintf("%s is refused: %s", r.Host, r.Why)
}

// Judge decides whether a URL may be fetched and returns the addresses that its
// host has now, all of them judged. It fails with a *Refused. The addresses are
// empty where a proxy resolves.
func (g *Guard) Judge(ctx context.Context, raw string) ([]netip.Addr, error) {
	u, err := parse(raw)
	if err != nil {
		return nil, &Refused{Why: err.Error()}
	}
	if proxied, err := g.proxied(&http.Request{Method: http.MethodGet, URL: u}); err != nil || proxied {
		if err != nil {
			return nil, err
		}
		return nil, g.byName(ctx, u.Hostname())
	}
	return g.addresses(ctx, u.Hostname())
}

func (g *Guard) proxied(r *http.Request) (bool, error) {
	if g.Proxy == nil {
		return false, nil
	}
	u, err := g.Proxy(r)
	return u != nil, err
}

// byName judges a host whose address somebody else finds.
func (g *Guard) byName(ctx context.Context, host string) error {
	_, err := g.addresses(ctx, host)
	if r, ok := errors.AsType[*Refused](err); ok && r.Why == unresolved {
		return nil
	}
	return err
}

// unresolved refuses names that have no address.
const unresolved = "its name could not be resolved"

// addresses resolves a host, in its plain form, and judges all that it has.
func (g *Guard) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, g.admit(host, a)
	}
	if k, what := judgeName(host); k != public && (k != private || !g.Private) {
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
		list[i] = a.Unmap() // the form that Go gives to IPv4
	}
	return list, err
}

// admit refuses an address that is not to be reached.
func (g *Guard) admit(host string, a netip.Addr) error {
	k, what := judge(a)
	if k == public || k == private && g.Private {
		return nil
	}
	return refuse(host, k, what)
}

func refuse(host string, k kind, what string) error {
	return &Refused{Host: host, Why: "it is " + what, Private: k == private}
}

// On reads a switch that admits private addresses, as a variable of the
// environment or a quoted value has it: true, 1 and yes are on, all else, also
// a quoted "false", is off.
func On(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "true", "1", "yes":
		return true
	}
	return false
}
