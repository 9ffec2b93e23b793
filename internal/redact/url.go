package redact

import "strings"

// userPart masks the user part of an address: the password of a database or mail
// account, or a token used as the user. i is the scheme's colon.
func (p *pass) userPart(i int) int {
	s := p.s
	from := i + 3
	if from > len(s) || s[i+1:from] != "//" {
		if len(s) < from && !p.final {
			p.hold(i)
		}
		return 0
	}
	web := webScheme(s, i)
	end, at := from, -1
	bound := min(len(s), from+tokenBound)
	for ; end < bound; end++ {
		c := s[end]
		if c <= ' ' || isQuote(c) || c == '<' || c == '>' || (c == '/' || c == '?' || c == '#') && (web || at >= 0) {
			break
		}
		if c == '@' {
			at = end
		}
	}
	if end == len(s) && !p.final {
		p.hold(from)
		return len(s)
	}
	if at < 0 {
		return 0
	}
	user, password, paired := strings.Cut(s[from:at], ":")
	if !paired {
		if user == "" || !looksSecret(token, user) {
			return from
		}
		if to, _ := tokenAt(s[:at], from); to > 0 {
			return from // the next word masks it
		}
		p.mask(from, at)
		return at
	}
	begin := from + len(user) + 1
	if password == "" || referring(password, true) {
		return at
	}
	if web && !p.urls && !looksSecret(token, password) {
		return from
	}
	p.maskAs(begin, at, hidden)
	return at
}

// webScheme reports whether the scheme before the colon at i is for addresses that
// users share, rather than for a database or a mail server.
func webScheme(s string, i int) bool {
	from := i
	for from > 0 && i-from < 12 && (letterOrDigit(s[from-1]) || s[from-1] == '+') {
		from--
	}
	switch strings.ToLower(s[from:i]) {
	case "http", "https", "ws", "wss", "git", "ssh", "git+https", "git+ssh", "file", "":
		return true
	}
	return false
}
