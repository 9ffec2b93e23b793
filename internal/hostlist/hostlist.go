// Package hostlist matches hosts against a list of rules, as a user writes them.
//
// A rule is one host (example.org, 192.0.2.1, [2001:db8::1]), all names below a name
// (*.example.org, *.ru), or every host (*). It does not match more than it says:
// example.org is not www.example.org, and *.example.org is not example.org. A port
// after a colon limits a rule to that port. Blank lines and what follows # are
// ignored.
//
// Hosts and rules are compared in one form (Canonical), so that no other spelling of a
// name or an address slips through. The package resolves nothing and does not know
// whether its lists allow or deny. Start reading at Parse; files.go reads lists from
// files that may change.
package hostlist

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Rule is one line of a list.
type Rule struct {
	Text string // as it was written
	From string // where it was written; empty if it was not read from a file
	Line int    // its line there, from 1
}

// String returns the rule and where it was written.
func (r Rule) String() string {
	if r.From == "" {
		return strconv.Quote(r.Text)
	}
	return fmt.Sprintf("%q (%s, line %d)", r.Text, r.From, r.Line)
}

// List is a list of rules. The zero value matches no host. It may be used
// concurrently.
type List struct {
	hosts map[key]Rule // one host each
	below map[key]Rule // all names below a name; the empty name is every host
}

// key is what a rule is about. Port 0 is any port.
type key struct {
	name string
	port uint16
}

// Parse reads rules, one a line. The list has all rules that are valid, also if there
// is an error, which names each line that is not.
func Parse(lines []string) (List, error) {
	return parse("", slices.Values(lines))
}

// parse reads the lines of a source.
func parse(from string, lines func(yield func(string) bool)) (List, error) {
	l := List{hosts: map[key]Rule{}, below: map[key]Rule{}}
	var bad []error
	n := 0
	for line := range lines {
		n++
		text, _, _ := strings.Cut(line, "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if err := l.add(Rule{text, from, n}); err != nil && len(bad) < maxReported {
			bad = append(bad, fmt.Errorf("%s, line %d: %w", source(from), n, err))
		}
	}
	return l, errors.Join(bad...)
}

// maxReported bounds the lines that an error names.
const maxReported = 20

func source(from string) string {
	if from == "" {
		return "host list"
	}
	return from
}

// add adds a rule. Of two rules about the same the first one counts.
func (l *List) add(r Rule) error {
	name, port, err := splitPort(r.Text)
	if err != nil {
		return fmt.Errorf("%q: %w", r.Text, err)
	}
	into := l.hosts
	switch rest, below := strings.CutPrefix(name, "*."); {
	case name == "*":
		name, into = "", l.below
	case below:
		name, into = rest, l.below
	}
	if name != "" {
		if name, err = Canonical(name); err != nil {
			return fmt.Errorf("%q: %w; write a host such as example.org or *.example.org", r.Text, err)
		}
	}
	if _, known := into[key{name, port}]; !known {
		into[key{name, port}] = r
	}
	return nil
}

// splitPort takes the port off a host. An IPv6 address with a port is in brackets.
func splitPort(text string) (host string, port uint16, err error) {
	host = text
	digits := ""
	if rest, ok := strings.CutPrefix(text, "["); ok {
		inside, after, closed := strings.Cut(rest, "]")
		if !closed || after != "" && after[0] != ':' {
			return "", 0, errors.New("its brackets are not closed")
		}
		host = inside
		digits = strings.TrimPrefix(after, ":")
		if after == "" {
			return host, 0, nil
		}
	} else if strings.Count(text, ":") == 1 {
		host, digits, _ = strings.Cut(text, ":")
	} else {
		return host, 0, nil
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n == 0 {
		return "", 0, errors.New("its port is not a number from 1 to 65535")
	}
	return host, uint16(n), nil
}

// Match reports whether a rule matches a host and port. A host that is not valid (see
// Canonical) matches no rule: refuse it before.
func (l List) Match(host string, port uint16) bool {
	_, ok := l.Find(host, port)
	return ok
}

// Find returns the rule that matches a host and port.
func (l List) Find(host string, port uint16) (Rule, bool) {
	name, err := Canonical(host)
	if err != nil {
		return Rule{}, false
	}
	if r, ok := pick(l.hosts, name, port); ok {
		return r, true
	}
	if !isAddress(name) { // no address is below another
		for rest := name; ; {
			_, above, more := strings.Cut(rest, ".")
			if !more {
				break
			}
			if r, ok := pick(l.below, above, port); ok {
				return r, true
			}
			rest = above
		}
	}
	return pick(l.below, "", port)
}

func pick(rules map[key]Rule, name string, port uint16) (Rule, bool) {
	if r, ok := rules[key{name, 0}]; ok {
		return r, true
	}
	r, ok := rules[key{name, port}]
	return r, ok && port != 0
}

// Len returns the number of rules.
func (l List) Len() int { return len(l.hosts) + len(l.below) }
