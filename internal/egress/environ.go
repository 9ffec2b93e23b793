package egress

import (
	"net"
	"net/url"
	"strconv"
)

// Environ returns the variables that lead the programs inside to the proxy, which they see on
// 127.0.0.1 at a port. They hold the token of the session, and nothing else that is secret.
//
// curl, git, pip, go, cargo, wget, apt, gem and bundler read the usual ones. A few programs
// read a setting of the project first, or need a switch. Java reads none of them.
func (s *Session) Environ(port int) []string {
	at := url.URL{Scheme: "http", User: url.UserPassword("hermes", s.token.Reveal()), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	web := at.String()
	at.Scheme = "socks5h" // the names are looked up by the proxy
	all, none := at.String(), "localhost,.localhost,127.0.0.1,::1"
	return []string{
		"HTTP_PROXY=" + web, "http_proxy=" + web,
		"HTTPS_PROXY=" + web, "https_proxy=" + web,
		"ALL_PROXY=" + all, "all_proxy=" + all,
		"NO_PROXY=" + none, "no_proxy=" + none,
		"npm_config_proxy=" + web, "npm_config_https_proxy=" + web, "npm_config_noproxy=" + none,
		"YARN_HTTP_PROXY=" + web, "YARN_HTTPS_PROXY=" + web,
		"CARGO_HTTP_PROXY=" + web, // before http.proxy of the project
		"NODE_USE_ENV_PROXY=1",    // fetch of Node looks at the variables only then
	}
}
