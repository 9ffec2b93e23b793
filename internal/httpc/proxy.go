package httpc

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Proxies holds the values of the usual proxy variables. Look for them in both
// spellings, lower case first.
type Proxies struct {
	HTTP  string // HTTP_PROXY: for http URLs
	HTTPS string // HTTPS_PROXY: for https URLs
	All   string // ALL_PROXY: used if one of the other two is empty
	None  string // NO_PROXY: hosts to connect to directly
}

// Func returns the proxy function for http.Transport and Options.Proxy. A proxy
// is a URL (http, https, socks5, socks5h) or host:port. None is a list, separated
// by commas or blanks: host names (with their subdomains), .domain suffixes, IP
// addresses and CIDR ranges, each with an optional port, or * for everything.
// Loopback addresses never use a proxy. If a proxy is invalid, the error names
// the setting.
func (p Proxies) Func() (func(*http.Request) (*url.URL, error), error) {
	plain, err := parseProxy("HTTP_PROXY", first(p.HTTP, p.All))
	if err != nil {
		return nil, err
	}
	secure, err := parseProxy("HTTPS_PROXY", first(p.HTTPS, p.All))
	if err != nil {
		return nil, err
	}
	if plain == nil && secure == nil {
		return nil, nil
	}
	direct := parseNone(p.None)
	return func(req *http.Request) (*url.URL, error) {
		proxy := plain
		if req.URL.Scheme == "https" {
			proxy = secure
		}
		if proxy == nil || direct.covers(req.URL) {
			return nil, nil
		}
		return proxy, nil
	}, nil
}

func first(a, b string) string {
	if a = strings.TrimSpace(a); a != "" {
		return a
	}
	return strings.TrimSpace(b)
}

func parseProxy(name, value string) (*url.URL, error) {
	if value == "" {
		return nil, nil
	}
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	u, err := url.Parse(value)
	if err != nil || u.Host == "" {
		// The text of the error could show a password of the URL.
		return nil, fmt.Errorf("%s is not a valid proxy address; write it as http://host:port", name)
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
		return u, nil
	case "socks":
		u.Scheme = "socks5"
		return u, nil
	}
	return nil, fmt.Errorf("%s has the unknown proxy type %q; use http, https, socks5 or socks5h", name, u.Scheme)
}

// exception is one entry of NO_PROXY.
type exception struct {
	host   string // without the leading dot
	below  bool   // only subdomains of host, not host itself
	prefix netip.Prefix
	port   string
}

type exceptions []exception

func parseNone(list string) exceptions {
	var es exceptions
	for _, entry := range strings.FieldsFunc(strings.ToLower(list), func(r rune) bool {
		return r == ',' || r == ' ' || r == '\t' || r == ';'
	}) {
		es = append(es, parseException(entry))
	}
	return es
}

func parseException(entry string) exception {
	if prefix, err := netip.ParsePrefix(entry); err == nil {
		return exception{prefix: prefix}
	}
	var e exception
	if host, port, err := net.SplitHostPort(entry); err == nil {
		entry, e.port = host, port
	}
	entry = strings.Trim(entry, "[]")
	if addr, err := netip.ParseAddr(entry); err == nil {
		e.prefix = netip.PrefixFrom(addr, addr.BitLen())
		return e
	}
	if entry == "*" {
		e.host = entry
		return e
	}
	entry = strings.TrimSuffix(entry, ".")
	entry = strings.TrimPrefix(entry, "*") // *.example.org is .example.org
	e.host = strings.TrimPrefix(entry, ".")
	e.below = entry != e.host
	return e
}

func (es exceptions) covers(u *url.URL) bool {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	addr, err := netip.ParseAddr(host)
	isAddr := err == nil
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || isAddr && addr.Unmap().IsLoopback() {
		return true
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	for _, e := range es {
		if e.port != "" && e.port != port {
			continue
		}
		if e.host == "*" || isAddr && e.prefix.IsValid() && e.prefix.Contains(addr.Unmap()) {
			return true
		}
		if e.host == "" || isAddr {
			continue
		}
		if host == e.host && !e.below || strings.HasSuffix(host, "."+e.host) {
			return true
		}
	}
	return false
}

func onlyIPv4(d *net.Dialer) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if network == "tcp" {
			network = "tcp4"
		}
		return d.DialContext(ctx, network, addr)
	}
}
