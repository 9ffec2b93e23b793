package link

import (
	"regexp"
	"slices"
	"strings"

	"hermes/internal/lazy"
	"hermes/internal/order"
)

// found is a link in a text.
type found struct {
	start, end int
	host       string // in its plain form; "" if it has none that can be told
	data       bool   // it may carry data
	mail       bool   // it is an address of mail: who names one does not name its host
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
	if strings.ContainsAny(s, `:/\`) {
		add(withScheme(), full)
	}
	if strings.Contains(s, ":") {
		add(short(), full)
		add(anyScheme(), full)
	}
	if strings.Contains(s, ".") {
		add(names(), bare)
		add(numbers(), bare)
		add(tails(), tail)
	}
	if strings.Contains(s, "@") {
		add(mails(), address)
	}
	order.By(list, func(a, b found) int { return a.start - b.start })
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

// union joins two lists of links: where they overlap, they are one.
func union(list, more []found) []found {
	for _, f := range more {
		if !slices.ContainsFunc(list, func(o found) bool { return o.start <= f.start && f.end <= o.end }) {
			list = joined(list, f)
		}
	}
	order.By(list, func(a, b found) int { return a.start - b.start })
	return list
}
