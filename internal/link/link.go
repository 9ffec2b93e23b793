// Package link finds links in what a model writes that may carry data away, and spells them so
// that no program opens them.
//
// A text that a model reads can make it write a link with a secret of the user in its path, query or
// host name. Many chat programs fetch a link as soon as they show it; others wait for a click. So a link to a host that
// the user does not know is changed if it has a part that looks like data rather than words:
//
//	https://evil.example/p?d=c2VjcmV0   becomes   hxxps://evil[.]example/p?d=c2VjcmV0
//
// Guard judges; stream.go does it for text that arrives in pieces; carries.go says what looks like data. The
// package does not know where the text comes from nor which hosts are known.
package link

import (
	"cmp"
	"html"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/publicsuffix"

	"hermes/internal/lazy"
	"hermes/internal/netguard"
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

// Hosts returns the hosts that texts name, in their plain form, each once: what the user writes makes
// them known.
func Hosts(texts ...string) []string {
	var hosts []string
	for _, t := range texts {
		for _, l := range find(plain(t)) {
			if l.host != "" && !slices.Contains(hosts, l.host) {
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

// found is a link in a text.
type found struct {
	start, end int
	host       string // in its plain form; "" if it has none that can be told
	data       bool   // it may carry data
}

// ofPage is how a link begins that has the scheme of its page: ](//host, [1]: //host, ="//host, url(//host, @import "//host, and
// in a list of several. Renderers drop blanks there, which are spelled %20 and %09 here.
const (
	blanks  = `(?:[\x00-\x20]|%20|%09)*`
	inList  = `(?:[,\s]|%20|%09)` + blanks
	ofPage  = `(?:\]\(` + blanks + `<?|` + inList + `|\]:` + blanks + `<?|(?:=|(?:url|image-set)\(|@import)` + blanks + `["']?` + blanks + `|^["']?)` + slashes
	slashes = `[/\\]` + blanks + `[/\\]`
)

// form is how a link is written.
type form int

const (
	full    form = iota // with a scheme, or with that of its page
	bare                // as chat programs find them
	tail                // of a bare one whose front was shown already
	address             // of mail
)

// The expressions of links. Where one has a group, the link is in it.
var (
	withScheme = lazy.Regexp(`(?i)(?:(?:https?|wss?|ftps?):[/\\]*|[a-z][a-z0-9+.-]{1,30}://|(?:mailto|sms(?:to)?|xmpp|whatsapp|slack|signal|sgnl|viber|facetime(?:-audio)?|skype|callto|msteams|matrix|weixin):|` + ofPage + `)[^\s<>"'` + "`" + `|]+`)
	short      = lazy.Regexp(`(?i)(?:\b|_)((?:tg|sips?):[^\s<>"'` + "`" + `|]+)`) // what words end with, too
	anyScheme  = lazy.Regexp(`(?i)(?:\]\(` + blanks + `<?|\]:` + blanks + `<?|<|(?:href|src|action|data)` + blanks + `=` + blanks + `["']?)` + blanks + `([a-z][a-z0-9+.-]{1,31}:[^\s<>"'` + "`" + `|]+)`)
	tails      = lazy.Regexp(`^\.(?:[\pL\pN_](?:[\pL\pN_-]{0,62}[\pL\pN_])?\.)*[\pL]{2,24}(?::\d{1,5})?[/?#][^\s<>"'` + "`" + `|]*`)
	mails      = lazy.Regexp(`[\pL\pN._%+=-]*@(?:[\pL\pN_](?:[\pL\pN_-]{0,62}[\pL\pN_])?\.)+[\pL]{2,24}(?:[/?#][^\s<>"'` + "`" + `|]*)?`)
	names      = lazy.Regexp(`(?i)(?:[\pL\pN_](?:[\pL\pN_-]{0,62}[\pL\pN_])?\.)+[\pL]{2,24}\.?(?::\d{1,5})?(?:[/?#][^\s<>"'` + "`" + `|]*)?`)
	numbers    = lazy.Regexp(`(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?[/?#][^\s<>"'` + "`" + `|]*`)
)

// harmless begins what looks like a link and has a scheme that no program knows.
var harmless = regexp.MustCompile(`^(?i:hxxps?):`)

// find returns the links of a text in plain form, in their order. Links inside of others are not
// listed.
func find(s string) []found {
	var list []found
	taken := func(at int) bool {
		return slices.ContainsFunc(list, func(f found) bool { return at >= f.start && at < f.end })
	}
	add := func(re *regexp.Regexp, as form) {
		for from := 0; from < len(s); {
			at := re.FindStringSubmatchIndex(s[from:])
			if at == nil {
				return
			}
			at = at[len(at)-2:]
			start, end := from+at[0], from+at[1]
			if unusable := harmless.FindString(s[start:end]); unusable != "" && as == full {
				from = start + len(unusable) // another one may be inside
				continue
			}
			if strings.IndexByte("/\\\"'", s[start]) >= 0 && start > 0 && as == full { // only at the beginning
				from = start + 1
				continue
			}
			from = end
			if taken(start) || as == bare && partOfOther(s, start, end) || as == tail && start > 0 {
				continue
			}
			if as != full { // as if its front was shown already
				start = end - len(strings.TrimLeftFunc(s[start:end], unspacedScript))
			}
			text := trimmed(s[start:end])
			if f, ok := read(text, as); ok {
				f.start, f.end = start, start+len(text)
				list = joined(list, f)
			}
		}
	}
	add(withScheme(), full)
	add(short(), full)
	add(anyScheme(), full)
	add(names(), bare)
	add(numbers(), bare)
	add(tails(), tail)
	add(mails(), address)
	slices.SortFunc(list, func(a, b found) int { return a.start - b.start })
	return list
}

// partOfOther reports whether what looks like a bare link is a piece of something else.
func partOfOther(s string, start, end int) bool {
	return start > 0 && strings.IndexByte("/\\.@_", s[start-1]) >= 0 || strings.HasPrefix(s[end:], "@")
}

// joined adds a link to a list. Where it ends inside of others, they are one link whose host is unclear.
func joined(list []found, f found) []found {
	for i := 0; i < len(list); i++ {
		if o := list[i]; f.start < o.end && o.start < f.end {
			f = found{start: min(f.start, o.start), end: max(f.end, o.end), data: f.data || o.data}
			list, i = slices.Delete(list, i, i+1), -1
		}
	}
	return append(list, f)
}

// trimmed leaves out what ends a sentence or a pair of brackets rather than a link.
func trimmed(s string) string {
	for {
		t := strings.TrimRight(s, ".,;:!*_~")
		for _, pair := range []string{"()", "[]", "{}"} {
			if strings.HasSuffix(t, pair[1:]) && strings.Count(t, pair[:1]) < strings.Count(t, pair[1:]) {
				t = t[:len(t)-1]
			}
		}
		if t == s {
			return s
		}
		s = t
	}
}

// read reads a link. One without a scheme counts only if its host has a name that chat programs
// know as one.
func read(s string, as form) (found, bool) {
	rest, scheme := s, ""
	switch {
	case as == address:
		return toAccount("mailto", s), true
	case as == bare && strings.HasPrefix(s, "."):
		return read(s, tail)
	case as == tail:
		rest = s[1:]
	case as == full:
		if _, after, ok := samePage(s); ok {
			rest = after
		} else if i := strings.IndexByte(s, ':'); i >= 0 && !startsWithDigit(s) {
			scheme, rest = strings.ToLower(s[:i]), strings.TrimLeft(s[i+1:], "/\\")
			if !hasHost(scheme) && rest == s[i+1:] {
				return toAccount(scheme, rest), true
			}
		}
	}
	end := strings.IndexAny(rest, "/\\?#")
	if end < 0 {
		end = len(rest)
	}
	authority, after := rest[:end], rest[end:]
	user := ""
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, authority = authority[:i], authority[i+1:]
		if as == bare || isWeb(scheme) { // programs differ in what the host is
			return found{data: true}, as == full
		}
	}
	name := portless(authority)
	host := canonical(name)
	if as != full {
		_, err := netip.ParseAddr(host)
		if suffix, icann := publicsuffix.PublicSuffix(host); host == "" || err != nil && !strings.HasPrefix(host, "www.") && (!icann || suffix == host && as == bare) {
			return found{}, false
		}
	}
	name = cmp.Or(host, strings.ToLower(name))
	after = untrusted(host, after)
	data := user != "" && carries(user, inQuery) || strings.Contains(user, ":") || nameCarries(name) || carriesAfter(after) || piecesCarry(name, after)
	if as == tail {
		host = ""
	}
	return found{host: host, data: data}, true
}

// samePage cuts a link without a scheme, which has that of its page, at its slashes.
func samePage(s string) (before, rest string, ok bool) {
	at := pageStart().FindStringIndex(s)
	if at == nil {
		return "", "", false
	}
	slashes := strings.IndexAny(s, "/\\")
	return strings.TrimRight(s[:slashes], " \t<"), strings.TrimLeft(s[at[1]:], "/\\"), true
}

var pageStart = lazy.Regexp(`(?i)^` + ofPage)

// toAccount reads a link that goes to an account rather than a host, such as an address of mail.
func toAccount(scheme, s string) found {
	if isPicture(scheme, s) {
		return found{}
	}
	to, query, _ := strings.Cut(s, "?")
	account, name, _ := strings.Cut(to, "@")
	name, path, _ := strings.Cut(strings.ToLower(name), "/")
	host := canonical(name)
	if strings.Contains(unescaped(query), "@") { // it names other accounts
		host = ""
	}
	if (scheme == "tel" || strings.HasPrefix(scheme, "sms")) && strings.Trim(account, "+-.()0123456789") == "" && len(account) <= maxNumber {
		account = ""
	}
	after := "/" + account + "/" + path + "?" + query
	return found{host: host, data: runsCode(scheme) || len(account) > maxAccount || name != "" && nameCarries(cmp.Or(host, name)) || carriesAfter(after) || piecesCarry(name, after)}
}

// runsCode reports whether what a link opens is a program, which may send whatever it has.
func runsCode(scheme string) bool {
	return scheme == "javascript" || scheme == "vbscript" || scheme == "data"
}

// isPicture reports whether a link is a picture itself, which is fetched from nowhere.
func isPicture(scheme, s string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(s), ";")
	return scheme == "data" && slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind)
}

// hasHost reports whether links with a scheme name a host also without slashes.
func hasHost(scheme string) bool { return isWeb(scheme) || strings.HasPrefix(scheme, "ftp") }

func isWeb(scheme string) bool {
	return scheme == "" || strings.HasPrefix(scheme, "http") || strings.HasPrefix(scheme, "ws")
}

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

func portless(authority string) string {
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.HasSuffix(authority, "]") {
		return authority[:i]
	}
	return authority
}

// canonical returns the plain form of a host, or "".
func canonical(name string) string {
	host, err := netguard.Canonical(strings.Trim(name, "[]"))
	if err != nil {
		return ""
	}
	return host
}

// local reports whether a host is this machine.
func local(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// plain returns a text as programs read links in it: without marks that Markdown, HTML and browsers drop, and
// with the dots that host names may have.
func plain(s string) string {
	if strings.Contains(s, "&") {
		s = html.UnescapeString(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		switch {
		case r == '\\' && i+1 < len(s) && strings.IndexByte(`!"#$%&'()*+,-./:;<=>?@[\]^_{|}~`, s[i+1]) >= 0:
		case visible(r) < 0:
		case r == 0x3002, r == 0xFF0E, r == 0xFF61:
			b.WriteByte('.')
		case r >= 0xFF01 && r <= 0xFF5E: // full width
			b.WriteRune(r - 0xFEE0)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// visible returns a character, or -1 if it is one that no one sees.
func visible(r rune) rune {
	if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || r == 0x034F {
		return -1
	}
	return r
}

// run returns a piece of text without whitespace, or in one pair of quotes or brackets, with its links
// spelled so that no program opens them, if they may carry data to an unknown host.
func (g Guard) run(s string) (text string, hosts []string) {
	if !strings.ContainsAny(s, ":./\\&%") && isASCII(s) {
		return s, nil
	}
	text = plain(s)
	p := unspaced(text)
	all := sendsMore().MatchString(p) || strings.Count(s, "")-strings.Count(strings.Map(visible, s), "") > maxMarks
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
	var b strings.Builder
	last := 0
	for _, f := range links {
		before := spacedLen(text, f.start-last)
		b.WriteString(text[:before])
		b.WriteString(defang(p[f.start:f.end]))
		text = text[before:]
		text = text[spacedLen(text, f.end-f.start):]
		last = f.end
		hosts = append(hosts, shown(f.host))
	}
	return b.String() + text, hosts
}

// suspects returns the links of a text that may not stay. all says that each of them may carry data.
func (g Guard) suspects(s string, all bool) []found {
	links := find(s)
	for i := range links {
		links[i].data = links[i].data || all
	}
	return slices.DeleteFunc(links, g.passes)
}

// otherReadings returns how a text may be read too: Markdown drops a backslash, which browsers read as a slash and CSS as
// the beginning of a number, and HTML may be in a value of HTML.
func otherReadings(s string) []string {
	var list []string
	if strings.Contains(s, `\`) {
		list = append(list, strings.ReplaceAll(s, `\`, "/"))
	}
	if css := escapes().ReplaceAllStringFunc(s, character); css != s {
		list = append(list, css)
	}
	if strings.Contains(s, "&amp;") {
		list = append(list, html.UnescapeString(s))
	}
	return list
}

// escapes finds characters that CSS has numbers for.
var escapes = lazy.Regexp(`\\[0-9a-fA-F]{1,6}\s?`)

func character(escape string) string {
	n, err := strconv.ParseUint(strings.TrimSpace(escape[1:]), 16, 32)
	if err != nil {
		return escape
	}
	return string(rune(n))
}

// sendsMore finds what sends more to the address of a link than is in it: other addresses of the page, and fields.
var sendsMore = lazy.Regexp(`(?i)<(?:base|form)(?:\s|/|%20|%09)|formaction`)

// quotesJoined returns a text of the same length in which the quotes, bars and brackets inside of a word of a link are letters.
func quotesJoined(s string) string {
	b := []byte(s)
	inside := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("=/?&#%+_-.", c) >= 0
	}
	for i := 1; i+1 < len(b); i++ {
		if strings.IndexByte("'\"`|<>", b[i]) >= 0 && inside(s[i-1]) && inside(s[i+1]) {
			b[i] = '_'
		}
	}
	return string(b)
}

// listApart returns a text of the same length in which the links of srcset="a 1x, b 2x" and ping="a b" are apart.
func listApart(s string) string {
	if !strings.ContainsAny(s, `"'<`) {
		return s
	}
	return strings.NewReplacer("%20", "   ", "%09", "   ").Replace(s)
}

// union joins two lists of links: where they overlap, they are one.
func union(list, more []found) []found {
	for _, f := range more {
		if !slices.ContainsFunc(list, func(o found) bool { return o.start <= f.start && f.end <= o.end }) {
			list = joined(list, f)
		}
	}
	slices.SortFunc(list, func(a, b found) int { return a.start - b.start })
	return list
}

// passes reports whether a link may stay: it carries no data, or it goes where the user knows.
func (g Guard) passes(f found) bool {
	return !f.data || local(f.host) || f.host != "" && g.Known != nil && g.Known(f.host)
}

// unspaced spells the spaces in brackets or quotes as browsers do, and drops line breaks as they do.
func unspaced(s string) string {
	return strings.NewReplacer(" ", "%20", "\t", "%09", "\f", "%0C", "\n", "", "\r", "").Replace(s)
}

// spacedLen returns how long the text is that unspaced makes n bytes of.
func spacedLen(s string, n int) int {
	for i := range len(s) {
		if n <= 0 {
			return i
		}
		switch s[i] {
		case ' ', '\t', '\f':
			n -= len("%20")
		case '\n', '\r':
		default:
			n--
		}
	}
	return len(s)
}

func shown(host string) string {
	if host == "" {
		return "an unclear address"
	}
	return host
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
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
