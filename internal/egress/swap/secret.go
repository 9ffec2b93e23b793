package swap

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
)

// minValue is the length of the shortest secret, in bytes: a shorter one would be found in
// replies that do not hold it.
const minValue = 8

// minLetters is how many of them must be letters or digits, which a placeholder replaces.
const minLetters = 6

// secret is a declaration that was checked.
type secret struct {
	name        string
	value       string
	placeholder string
	hosts       []hostRule
	methods     []string
	paths       []string
	headers     []string // canonical
	query       []string
}

// hostRule is one host of a declaration.
type hostRule struct {
	name  string
	below bool // all names below name, but not name itself
	port  uint16
}

func declare(d Secret) (*secret, error) {
	one := &secret{name: d.Name, value: d.Value.Reveal(), query: d.Query}
	if !isVariable(d.Name) {
		return nil, errors.New("its name must be that of a variable, such as GITHUB_TOKEN")
	}
	if err := checkValue(one.value); err != nil {
		return nil, err
	}
	if err := one.readHosts(d.Hosts); err != nil {
		return nil, err
	}
	if len(d.Methods) == 0 || len(d.Paths) == 0 {
		return nil, errors.New(`name its methods and paths; "*" is every method, "/" every path`)
	}
	for _, p := range d.Paths {
		if !strings.HasPrefix(p, "/") {
			return nil, fmt.Errorf("path %q: must begin with /", p)
		}
		one.paths = append(one.paths, strings.ReplaceAll(p, "%2f", "%2F"))
	}
	for _, m := range d.Methods {
		one.methods = append(one.methods, strings.ToUpper(m))
	}
	one.headers = headerNames(d.Headers)
	return one, one.choosePlaceholder(d.Placeholder)
}

func isVariable(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

func checkValue(value string) error {
	if len(value) < minValue {
		return fmt.Errorf("its value is shorter than %d bytes and could not be recognised in replies", minValue)
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' || c == 0x7f {
			return errors.New("its value holds a line break or another control character, which no header can carry")
		}
	}
	if letters(value) < minLetters {
		return fmt.Errorf("its value has fewer than %d letters and digits, too few for a placeholder of its shape", minLetters)
	}
	if strings.TrimSpace(value) != value {
		return errors.New("its value begins or ends with a space; remove it")
	}
	return nil
}

func (s *secret) readHosts(hosts []string) error {
	for _, h := range hosts {
		rule, err := readHost(h)
		if err != nil {
			return fmt.Errorf("host %q: %w", h, err)
		}
		s.hosts = append(s.hosts, rule)
	}
	if len(s.hosts) == 0 {
		return errors.New("name the hosts that it is for")
	}
	return nil
}

func readHost(text string) (hostRule, error) {
	rule := hostRule{port: 443}
	name, port, hasPort := strings.Cut(canonical(text), ":")
	if hasPort {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return rule, errors.New("its port is not a number from 1 to 65535; addresses with colons are not possible")
		}
		rule.port = uint16(n)
	}
	rule.name, rule.below = strings.CutPrefix(canonical(name), "*.")
	if !rule.below {
		rule.name = canonical(name)
	}
	if _, err := netip.ParseAddr(rule.name); err == nil {
		return rule, errors.New("write its name: an address has no authority of its own")
	}
	if rule.below && !strings.Contains(rule.name, ".") {
		return rule, errors.New("a wildcard needs two parts after it, such as *.example.org")
	}
	return rule, checkName(rule.name)
}

// checkName refuses what is not a plain name in ASCII.
func checkName(name string) error {
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return errors.New("not a host name")
		}
		for i := range len(label) {
			c := label[i]
			if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
				return errors.New("not a host name; write one with other letters in its form xn--…")
			}
		}
	}
	return nil
}

// canonical is a host in lower case without its final dot.
func canonical(host string) string {
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// headerNames returns canonical names; for nil, the headers in which services expect keys.
func headerNames(names []string) []string {
	if names == nil {
		names = []string{
			"Authorization", "X-Api-Key", "Api-Key", "X-Auth-Token", "X-Goog-Api-Key",
			"Private-Token", "Job-Token", "X-Vault-Token", "X-Access-Token",
		}
	}
	var out []string
	for _, n := range names {
		out = append(out, textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(n)))
	}
	return out
}

// forHost reports whether the secret is declared for a host.
func (s *secret) forHost(host string, port uint16) bool {
	return slices.ContainsFunc(s.hosts, func(h hostRule) bool {
		if h.port != port {
			return false
		}
		return h.name == host && !h.below || h.below && strings.HasSuffix(host, "."+h.name)
	})
}

func (s *secret) forMethod(method string) bool {
	return slices.Contains(s.methods, "*") || slices.Contains(s.methods, method) ||
		method == http.MethodHead && slices.Contains(s.methods, http.MethodGet)
}

func (s *secret) forHeader(name string) bool { return slices.Contains(s.headers, name) }

// says is the declaration in words.
func (s *secret) says() string {
	var hosts []string
	for _, h := range s.hosts {
		hosts = append(hosts, h.String())
	}
	text := fmt.Sprintf("%s is declared for %s %s on %s, in the header %s",
		s.name, strings.Join(s.methods, ", "), strings.Join(s.paths, ", "), strings.Join(hosts, ", "), strings.Join(s.headers, ", "))
	if len(s.query) > 0 {
		text += " and the query parameter " + strings.Join(s.query, ", ")
	}
	return text
}

func (h hostRule) String() string {
	name := h.name
	if h.below {
		name = "*." + name
	}
	if h.port != 443 {
		name += ":" + strconv.Itoa(int(h.port))
	}
	return name
}

// isWrite reports whether a request may change something at the service. A WebSocket may
// carry anything.
func isWrite(method string, upgrade bool) bool {
	return upgrade || method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}
