package redact

import "strings"

// addressMemo is the last user part that was looked for, without its port and path.
type addressMemo struct {
	from, end int
	at        int // the last @ before end, -1 if there is none
}

// userPart masks the user part of an address: the password of an account, or a
// token used as the user. i is the scheme's colon.
func (p *pass) userPart(i int) int {
	s := p.s
	from := i + 3
	if !p.has(i+1, "//") {
		p.undecided(i)
		return 0
	}
	web := webScheme(s, i)
	if web {
		if to := p.webhook(from); to > 0 {
			return to
		}
	}
	at := p.authority(from, web)
	if p.undecided(from) {
		return len(s)
	}
	if at < from {
		return 0
	}
	user, password, paired := strings.Cut(s[from:at], ":")
	if !paired {
		if user == "" || strings.ContainsAny(user, "|\\(){}[]*^$,") || !looksSecret(token, user) || p.keyAt(from, at) {
			return from // a key of a known form is masked by its own rule
		}
		p.mask(from, at)
		return at
	}
	begin := from + len(user) + 1
	if strings.Trim(password, ":@") == "" || referring(password, true) || placeholder(password) {
		return at
	}
	p.maskAs(begin, at, hidden)
	return at
}

// keyAt reports whether a key of a known form begins at from.
func (p *pass) keyAt(from, end int) bool {
	trigger := p.trigger
	p.trigger = from
	found := p.tokenAt(from, end) > 0
	p.trigger = trigger
	return found
}

// authority returns the last @ of the user part, -1 if there is none. In an address
// of the web it ends before the path; passwords of databases often have a slash.
func (p *pass) authority(from int, web bool) int {
	s := p.s
	bound := min(len(s), from+userBound)
	end, at := from, -1
	if m := &p.address; !web && m.from <= from && from < m.end { // within the same text
		end, at = min(m.end, bound), m.at
		if at >= end {
			at = -1
		}
	}
	start := end
	for ; end < bound; end++ {
		c := s[end]
		if c <= ' ' || isQuote(c) || c == '<' || c == '>' || (c == '/' || c == '?' || c == '#') && (web || at >= from) {
			break
		}
		if c == '@' {
			at = end
		}
	}
	p.read(start, end)
	if !web {
		p.address = addressMemo{from, end, at}
	}
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

// webhooks are addresses that are a secret themselves: who knows them may write.
var webhooks = [...]string{"hooks.slack.com/services/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/"}

// webhook masks the last part of the address of a webhook.
func (p *pass) webhook(from int) int {
	for _, hook := range webhooks {
		if !p.has(from, hook) {
			continue
		}
		to := p.bareArgument(from + len(hook))
		slash := strings.LastIndexByte(p.s[from:to], '/')
		if p.undecided(from) || to-from-slash < 16 {
			return 0
		}
		p.mask(from+slash+1, to)
		return to
	}
	if to := p.teams(from); to > 0 {
		return to
	}
	p.undecided(from)
	return 0
}

// teams masks the address of a webhook of Microsoft Teams, from its first identifier on.
func (p *pass) teams(from int) int {
	host := from
	for host < len(p.s) && host < from+nameBound && (class[p.s[host]] == letterByte || p.s[host] == '-') {
		host++
	}
	p.read(from, host)
	for _, hook := range [...]string{".webhook.office.com/webhookb2/", ".office.com/webhook/"} {
		if !p.has(host, hook) {
			continue
		}
		at := host + len(hook)
		to := p.bareArgument(at)
		if p.undecided(from) || to-at < 64 {
			return 0
		}
		p.maskAs(at, to, hidden)
		return to
	}
	return 0
}

// inQuery reports whether the name of a value in the query of an address announces
// a secret beyond doubt. Ordinary addresses must stay whole.
func inQuery(k kind, pr pair, value string) bool {
	if len(value) < 6 {
		return false
	}
	switch strings.ToLower(pr.name) {
	case "token", "key", "code", "auth":
		return false
	}
	return k == phrase || k == token
}

// signature reports whether a name is that of a signature that gives access.
func signature(name string) bool {
	for _, known := range [...]string{"sig", "x-amz-signature", "x-goog-signature", "x-amz-security-token"} {
		if strings.EqualFold(name, known) {
			return true
		}
	}
	return false
}
