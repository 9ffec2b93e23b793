package httpc

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// Proxies holds the values of the usual proxy variables.
type Proxies struct {
	HTTP  string // HTTP_PROXY: for http URLs
	HTTPS string // HTTPS_PROXY: for https URLs
	All   string // ALL_PROXY: used if one of the other two is empty
	None  string // NO_PROXY: hosts to connect to directly
}

// ProxiesOf looks the proxy variables up in both spellings, lower case first.
func ProxiesOf(getenv func(string) string) Proxies {
	either := func(name string) string { return cmp.Or(getenv(strings.ToLower(name)), getenv(name)) }
	return Proxies{HTTP: either("HTTP_PROXY"), HTTPS: either("HTTPS_PROXY"), All: either("ALL_PROXY"), None: either("NO_PROXY")}
}

// Func returns the proxy function for http.Transport and Options.Proxy. A proxy
// is a URL (http, https, socks5, socks5h) or host:port. None is a list, separated
// by commas, semicolons or blanks: host names (with their subdomains), .domain
// suffixes, IP addresses and CIDR ranges, each with an optional port, or * for
// everything. Loopback addresses never use a proxy. If a proxy is invalid, the
// error names the setting.
func (p Proxies) Func() (func(*http.Request) (*url.URL, error), error) {
	plain, err := address("HTTP_PROXY", cmp.Or(strings.TrimSpace(p.HTTP), strings.TrimSpace(p.All)))
	if err != nil {
		return nil, err
	}
	secure, err := address("HTTPS_PROXY", cmp.Or(strings.TrimSpace(p.HTTPS), strings.TrimSpace(p.All)))
	if err != nil {
		return nil, err
	}
	if plain == "" && secure == "" {
		return nil, nil
	}
	direct := strings.FieldsFunc(p.None, func(r rune) bool { return strings.ContainsRune(", \t;", r) })
	for i, entry := range direct {
		if len(entry) > 1 {
			direct[i] = strings.TrimSuffix(entry, ".")
		}
	}
	choose := (&httpproxy.Config{HTTPProxy: plain, HTTPSProxy: secure, NoProxy: strings.Join(direct, ",")}).ProxyFunc()
	return func(req *http.Request) (*url.URL, error) {
		u := *req.URL
		name := strings.ToLower(u.Hostname())
		if host := strings.TrimSuffix(name, "."); host != name { // the same name, fully qualified
			u.Host, name = strings.TrimSuffix(host+":"+u.Port(), ":"), host
		}
		if name == "localhost" || strings.HasSuffix(name, ".localhost") {
			return nil, nil
		}
		return choose(&u)
	}, nil
}

// address returns the URL of a proxy, "" for none.
func address(name, value string) (string, error) {
	if value == "" {
		return "", nil
	}
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	u, err := url.Parse(value)
	if err != nil || u.Host == "" {
		// The text of the error could show a password of the URL.
		return "", fmt.Errorf("%s is not a valid proxy address; write it as http://host:port", name)
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
		return value, nil
	case "socks":
		u.Scheme = "socks5"
		return u.String(), nil
	}
	return "", fmt.Errorf("%s has the unknown proxy type %q; use http, https, socks5 or socks5h", name, u.Scheme)
}
