package link

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"hermes/internal/lazy"
	"hermes/internal/netguard"
)

// read reads a link. One without a scheme counts only if its host has a name that chat programs
// know as one.
func read(s string, as form) (found, bool) {
	rest, scheme := s, ""
	switch {
	case as == address:
		f := toAccount("mailto", s)
		f.mail = true
		return f, true
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
	if as != full && !opened(host, as) {
		return found{}, false
	}
	name = cmp.Or(host, strings.ToLower(name))
	after = untrusted(host, after)
	data := user != "" && carries(user, inQuery) || strings.Contains(user, ":") || nameCarries(name) || carriesAfter(after) || piecesCarry(name, after)
	if as == tail {
		host = ""
	}
	return found{host: host, data: data}, true
}

// opened reports whether chat programs make a link of a host without a scheme.
func opened(host string, as form) bool {
	if _, err := netip.ParseAddr(host); err == nil || strings.HasPrefix(host, "www.") {
		return true
	}
	suffix, icann := publicsuffix.PublicSuffix(host)
	return host != "" && icann && (suffix != host || as == tail)
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
