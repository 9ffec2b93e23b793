// Package hostlist decides whether a host is on a list: exact names, everything below a
// name, everything below a top-level domain, each with or without a port.
//
// One package judges for the tools that fetch pages and for the proxy of sandboxed
// processes, so that a blocked site is blocked for both. It looks nothing up: names and
// addresses are compared as netguard.Canonical writes them. It must not know the
// configuration. Start reading at Pattern; source.go reads lists from files.
package hostlist

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"hermes/internal/netguard"
)

// Pattern is one entry of a list. The zero value matches nothing.
type Pattern struct {
	// Host is a name or an address in its plain form, or "" with Below for every host.
	Host string
	// Below matches the names below Host, at any depth, and not Host itself.
	Below bool
	// Port limits the pattern to one port; 0 is any.
	Port uint16
}

// Parse reads a pattern:
//
//	example.org        this name only
//	*.example.org      every name below it, but not itself
//	*.zip              every name of a top-level domain
//	*                  every host
//	93.184.216.34      an address; IPv6 with brackets if a port follows
//	example.org:8443   any of these with a port
func Parse(text string) (Pattern, error) {
	host, port, err := split(strings.TrimSpace(text))
	if err != nil {
		return Pattern{}, fmt.Errorf("host pattern %q: %w", text, err)
	}
	if host == "*" {
		return Pattern{Below: true, Port: port}, nil
	}
	name, below := strings.CutPrefix(host, "*.")
	plain, err := netguard.Canonical(name)
	if err != nil {
		return Pattern{}, fmt.Errorf("host pattern %q: %w; write example.org, *.example.org or example.org:443", text, err)
	}
	if _, err := netip.ParseAddr(plain); err == nil && below {
		return Pattern{}, fmt.Errorf("host pattern %q: an address has no names below it", text)
	}
	return Pattern{Host: plain, Below: below, Port: port}, nil
}

// split takes a port off. A bare IPv6 address has none.
func split(text string) (host string, port uint16, err error) {
	host, digits, has := strings.Cut(text, ":")
	if rest, ok := strings.CutPrefix(text, "["); ok {
		var after string
		host, after, ok = strings.Cut(rest, "]")
		if digits, has = strings.CutPrefix(after, ":"); !ok || !strings.Contains(host, ":") || after != "" && !has {
			return "", 0, errors.New("the brackets are not those of an address")
		}
	} else if strings.Count(text, ":") > 1 {
		return text, 0, nil
	}
	if !has {
		return host, 0, nil
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n == 0 {
		return "", 0, errors.New("the port is not a number between 1 and 65535")
	}
	return host, uint16(n), nil
}

// Match reports whether the pattern covers a host, in its plain form, and a port. An address
// matches also if it leads to the IPv4 address of the pattern by way of NAT64 or the like.
func (p Pattern) Match(host string, port uint16) bool {
	if p.Port != 0 && p.Port != port {
		return false
	}
	if !p.Below {
		return p.Host != "" && slices.Contains(spellings(host), p.Host)
	}
	return host != "" && (p.Host == "" || strings.HasSuffix(host, "."+p.Host))
}

// Exact reports whether the pattern names one host and one port.
func (p Pattern) Exact() bool { return !p.Below && p.Host != "" && p.Port != 0 }

// String writes the pattern as Parse reads it.
func (p Pattern) String() string {
	host := p.Host
	if strings.Contains(host, ":") && p.Port != 0 {
		host = "[" + host + "]"
	}
	if p.Below {
		host = strings.TrimSuffix("*."+host, ".")
	}
	if p.Port != 0 {
		host += ":" + strconv.Itoa(int(p.Port))
	}
	return host
}

// spellings are the host and the IPv4 address that receives its traffic.
func spellings(host string) []string {
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Is4In6() {
			return []string{host, a.Unmap().String()}
		}
		if inner, ok := netguard.Embedded(a); ok {
			return []string{host, inner.String()}
		}
	}
	return []string{host}
}

// List is a set of patterns. A look-up costs the same for ten entries and for a million. The
// zero value is empty; a List must not be changed while it is used.
type List struct {
	exact, below map[string][]uint16 // the ports of an entry; 0 is any
}

// Add puts a pattern on the list.
func (l *List) Add(p Pattern) {
	if l.exact == nil {
		l.exact, l.below = map[string][]uint16{}, map[string][]uint16{}
	}
	m := l.exact
	if p.Below {
		m = l.below
	}
	if !slices.Contains(m[p.Host], p.Port) {
		m[p.Host] = append(m[p.Host], p.Port)
	}
}

// Match returns the first pattern that covers a host, in its plain form, and a port.
func (l *List) Match(host string, port uint16) (Pattern, bool) {
	if host == "" || l.exact == nil {
		return Pattern{}, false
	}
	for _, h := range spellings(host) {
		if n, ok := covers(l.exact[h], port); ok {
			return Pattern{Host: h, Port: n}, true
		}
	}
	for rest := host; rest != ""; {
		_, rest, _ = strings.Cut(rest, ".")
		if n, ok := covers(l.below[rest], port); ok {
			return Pattern{Host: rest, Below: true, Port: n}, true
		}
	}
	return Pattern{}, false
}

func covers(ports []uint16, port uint16) (uint16, bool) {
	for _, p := range ports {
		if p == 0 || p == port {
			return p, true
		}
	}
	return 0, false
}
