package egress

import (
	"fmt"
	"strings"

	"hermes/internal/hostlist"
)

// Protocol is what is spoken with a host.
type Protocol string

// Protocols of a rule.
const (
	// ByPort is TLS on port 443, HTTP on port 80, SSH on port 22. On another port it is
	// anything, but what begins like TLS is checked like TLS.
	ByPort Protocol = ""
	TLS    Protocol = "tls"  // the first message must name the host
	HTTP   Protocol = "http" // each request must be for the host
	SSH    Protocol = "ssh"  // the client must begin with the version line of SSH
	Any    Protocol = "any"  // nothing is checked
)

// Rule covers hosts.
type Rule struct {
	Pattern  hostlist.Pattern
	Protocol Protocol
	// Private allows the addresses of this machine and its network, but never a metadata
	// service. It counts only if the pattern names one host and its port.
	Private bool
}

// ParseRule reads a pattern of hostlist.Parse with an optional protocol: example.org,
// *.example.org:8443, ssh.github.com:443/ssh. A rule that allows covers ports 443 and 80
// unless it names a port. Private is false.
func ParseRule(text string) (Rule, error) {
	host, protocol, _ := strings.Cut(text, "/")
	switch p := Protocol(protocol); p {
	case ByPort, TLS, HTTP, SSH, Any:
		pattern, err := hostlist.Parse(host)
		return Rule{Pattern: pattern, Protocol: p}, err
	}
	return Rule{}, fmt.Errorf("rule %q: unknown protocol; use tls, http, ssh or any", text)
}

// String writes the rule as ParseRule reads it.
func (r Rule) String() string {
	if r.Protocol == ByPort {
		return r.Pattern.String()
	}
	return r.Pattern.String() + "/" + string(r.Protocol)
}

// allows reports whether the rule, as one that allows, covers a target.
func (r Rule) allows(t target) bool {
	if r.Pattern.Port == 0 && t.port != 443 && t.port != 80 {
		return false
	}
	return r.Pattern.Match(t.host, t.port)
}

func (r Rule) private() bool { return r.Private && r.Pattern.Exact() }

// on returns the protocol of a rule on a port.
func (p Protocol) on(port uint16) Protocol {
	if p != ByPort {
		return p
	}
	switch port {
	case 443:
		return TLS
	case 80:
		return HTTP
	case 22:
		return SSH
	}
	return ByPort
}

// Registries are the hosts from which package managers install: npm, PyPI, Go, Rust, Maven,
// Ruby, Debian and Ubuntu. Whether they are allowed is the user's setting. Each is a possible
// exit: a process that reaches it can publish there with an account of its own, or ask for
// names that tell something.
func Registries() []Rule {
	hosts := []string{
		"registry.npmjs.org", "registry.yarnpkg.com",
		"pypi.org", "files.pythonhosted.org",
		"proxy.golang.org", "sum.golang.org",
		"index.crates.io", "static.crates.io", "crates.io",
		"repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org",
		"rubygems.org", "index.rubygems.org",
		"deb.debian.org", "security.debian.org", "archive.ubuntu.com", "security.ubuntu.com", "ports.ubuntu.com", "*.archive.ubuntu.com",
	}
	rules := make([]Rule, len(hosts))
	for i, h := range hosts {
		below := strings.HasPrefix(h, "*.")
		rules[i] = Rule{Pattern: hostlist.Pattern{Host: strings.TrimPrefix(h, "*."), Below: below}}
	}
	return rules
}
