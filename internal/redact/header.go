package redact

import "strings"

// authorization masks the credential of an Authorization header and keeps the
// scheme, whatever it is called.
func (p *pass) authorization(pr pair) int {
	s := p.s
	at, mark := p.headerStart(&pr)
	n := p.headerEnd(at, mark)
	if p.undecided(at) {
		return len(s)
	}
	value := strings.TrimRight(s[at:n], " \t")
	if value == "" {
		return at
	}
	scheme, rest, spoken := strings.Cut(value, " ")
	if pr.sep == '=' && !knownScheme(scheme) {
		return 0 // an option, not a header
	}
	if !spoken {
		word := strings.TrimRight(value, ",;")
		bareInCode := pr.quoted != 0 && mark == 0
		if len(word) >= 4 && !referring(word, true) && !code(word) && !typeName(word) && !strings.Contains(word, "://") && !knownScheme(word) && nameKind(word) != header && !bareInCode {
			p.mask(at, at+len(value))
		}
		return at + len(value)
	}
	credential := strings.TrimLeft(rest, " ")
	from := at + len(value) - len(credential)
	if referring(credential, true) || !strings.Contains("=,", string(credential[len(credential)-1])) && prose(scheme, credential) {
		return at
	}
	mask := Mask(credential)
	if strings.EqualFold(scheme, "basic") || strings.Contains(credential, " ") {
		mask = hidden
	}
	p.maskAs(from, from+len(credential), mask)
	return from + len(credential)
}

// headerStart returns where the value of a header begins, and its quote.
func (p *pass) headerStart(pr *pair) (at int, mark byte) {
	at = p.skipBlanks(pr.value)
	if at < len(p.s) && isQuote(p.s[at]) && !p.opensBefore(pr, p.s[at]) {
		return at + 1, p.s[at]
	}
	return at, 0
}

// headerEnd finds the end of a header's value: the end of the line, the closing
// mark, or any quote except those around the values of a Digest.
func (p *pass) headerEnd(at int, mark byte) int {
	s := p.s
	from, bound := at, min(len(s), at+valueBound)
	inner := byte(0)
	digest := !p.oneCredential(at)
	for ; at < bound; at++ {
		c := s[at]
		if c == '\n' {
			break
		}
		switch {
		case inner != 0:
			if c == inner {
				inner = 0
			}
			continue
		case digest && mark == 0 && isQuote(c) && at > from && s[at-1] == '=':
			inner = c
			continue
		case mark != 0 && c == mark, mark == 0 && isQuote(c):
		default:
			continue
		}
		break
	}
	p.read(from, at)
	return at
}

// oneCredential reports whether the scheme at a place takes one credential, which
// may end with =, and not quoted values as Digest does.
func (p *pass) oneCredential(at int) bool {
	const longest = len("bearer") + 1
	scheme := strings.ToLower(p.s[at:min(len(p.s), at+longest)])
	if len(scheme) < longest {
		p.touched = true
	}
	return strings.HasPrefix(scheme, "basic ") || strings.HasPrefix(scheme, "bearer ")
}

// prose reports whether the text after "Authorization:" is a sentence.
func prose(scheme, credential string) bool {
	if !strings.Contains(credential, " ") {
		return false
	}
	if knownScheme(scheme) {
		return !strings.Contains(credential, "=")
	}
	return !strings.Contains(credential, "=\"")
}

// knownScheme reports whether a word is a scheme of authorization.
func knownScheme(word string) bool {
	switch strings.ToLower(word) {
	case "bearer", "basic", "token", "apikey", "oauth", "digest", "hawk", "negotiate", "ntlm", "aws4-hmac-sha256", "signature", "sharedkey":
		return true
	}
	return false
}

// cookies masks the values of a Cookie header, or the first of Set-Cookie, whose
// others are settings.
func (p *pass) cookies(pr pair) int {
	at, mark := p.headerStart(&pr)
	to := p.cookiePairs(at, min(len(p.s), at+valueBound), mark, !strings.HasPrefix(strings.ToLower(pr.name), "set"))
	if p.undecided(at) {
		return len(p.s)
	}
	return to
}

// cookiePairs masks the values of name=value; name=value, and returns where they
// end. mark is the quote round them.
func (p *pass) cookiePairs(at, bound int, mark byte, all bool) int {
	s := p.s
	for at < bound {
		from := at
		for at < bound && (isBlank(s[at]) || at-from < nameBound && (class[s[at]] == letterByte || class[s[at]] == joinerByte)) {
			at++
		}
		p.read(from, at)
		if at == bound || s[at] != '=' {
			return from
		}
		at++
		from = at
		for at < bound && s[at] != ';' && s[at] != '\n' && !isBlank(s[at]) && s[at] != mark && (mark != 0 || !isQuote(s[at]) || at == from) {
			at++
		}
		p.read(from, at)
		if value := s[from:at]; value != "" && !referring(value, true) {
			p.mask(from, at)
		}
		if at == bound || s[at] != ';' || !all {
			break
		}
		at++
	}
	return at
}

// lastIs reports whether a word is the last part of a name with marks, in any case.
func lastIs(name, word string) bool {
	return strings.EqualFold(name[strings.LastIndexAny(name, "-_.")+1:], word)
}
