package redact

import "strings"

// prefix is the fixed beginning of one vendor's keys. The body after it has
// letters, digits and the extra bytes. It must be at least min long, so that
// ordinary words with the same beginning are kept.
type prefix struct {
	text  string
	extra extra
	min   int
}

// extra says which bytes a key may have beside letters and digits.
type extra uint8

const (
	none          extra = iota
	dash                // -
	under               // _
	dashUnder           // - _
	dotted              // - _ .
	base64Plus          // + / =
	base64Any           // + / = - _
	base64Escaped       // the same, with % of an address
	extras
)

func (e extra) allows(c byte) bool {
	switch c {
	case '-':
		return e == dash || e == dashUnder || e == dotted || e >= base64Any
	case '_':
		return e == under || e == dashUnder || e == dotted || e >= base64Any
	case '%':
		return e == base64Escaped
	case '.':
		return e == dotted
	case '+', '/', '=':
		return e >= base64Plus
	}
	return false
}

// prefixes are checked in this order: a longer one before its own beginning.
var prefixes = []prefix{
	{"AIza", dashUnder, 30},
	{"AGE-SECRET-KEY-1", none, 40},
	{"AKIA", none, 16}, {"ASIA", none, 16},
	{"ATATT3x", dashUnder, 16}, {"ATBB", none, 28}, {"ATCTT3x", dashUnder, 16},
	{"CLOJARS_", none, 40},
	{"EAAA", dashUnder, 50},
	{"GOCSPX-", dashUnder, 16},
	{"LTAI", none, 16},
	{"NRAK-", none, 20},
	{"PMAK-", dash, 40},
	{"SG.", dotted, 30},
	{"bb_live_", dashUnder, 16},
	{"csk-", none, 24},
	{"ctx7sk-", dash, 16},
	{"dapi", none, 32},
	{"dckr_pat_", dashUnder, 16},
	{"doo_v1_", none, 32}, {"dop_v1_", none, 32}, {"dor_v1_", none, 32},
	{"dp.pt.", none, 24},
	{"exa_", none, 16},
	{"fal_", none, 16},
	{"fc-", none, 24},
	{"figd_", dashUnder, 20},
	{"ghp_", none, 16}, {"gho_", none, 16}, {"ghu_", none, 16}, {"ghs_", none, 16}, {"ghr_", none, 16},
	{"github_pat_", under, 20},
	{"glc_", base64Any, 40}, {"glpat-", dotted, 16}, {"gldt-", dashUnder, 16}, {"glptt-", dashUnder, 16}, {"glrt-", dashUnder, 16},
	{"glsa_", under, 24},
	{"gsk_", none, 16},
	{"hf_", none, 20},
	{"hvs.", dashUnder, 20}, {"hvb.", dashUnder, 20},
	{"jina_", none, 20},
	{"key-", none, 32},
	{"lin_api_", none, 20}, {"lin_oauth_", none, 20},
	{"m0-", none, 20},
	{"nfp_", none, 30},
	{"npm_", none, 20},
	{"ntn_", none, 20},
	{"nvapi-", dashUnder, 20},
	{"pplx-", none, 16},
	{"pscale_tkn_", dotted, 20},
	{"pul-", none, 32},
	{"pypi-", dashUnder, 32},
	{"r8_", none, 20},
	{"rk_live_", none, 12}, {"rk_test_", none, 12},
	{"rubygems_", none, 32},
	{"sb_secret_", dashUnder, 16},
	{"sbp_", none, 32},
	{"secret_", none, 40},
	{"shpat_", none, 20}, {"shpca_", none, 20}, {"shppa_", none, 20}, {"shpss_", none, 20},
	{"sk-", dashUnder, 16},
	{"sk_live_", none, 12}, {"sk_org_live_", none, 12}, {"sk_org_test_", none, 12}, {"sk_test_", none, 12},
	{"sntrys_", base64Any, 30}, {"sntryu_", none, 30},
	{"sq0atp-", dashUnder, 20}, {"sq0csp-", dashUnder, 20},
	{"syt_", under, 20},
	{"tskey-", dash, 16},
	{"tvly-", dashUnder, 16},
	{"vck_", none, 20},
	{"whsec_", base64Plus, 20},
	{"xai-", none, 20},
	{"xapp-", dash, 16},
	{"xoxa-", dash, 10}, {"xoxb-", dash, 10}, {"xoxe-", dash, 10}, {"xoxe.", dash, 10}, {"xoxc-", dash, 10}, {"xoxd-", base64Escaped, 16}, {"xoxp-", dash, 10}, {"xoxr-", dash, 10}, {"xoxs-", dash, 10},
	{"ya29.", dashUnder, 20},
}

// firsts lists the prefixes by their first byte.
var firsts = func() (t [256][]prefix) {
	for from := 0; from < len(prefixes); {
		to := from + 1
		for to < len(prefixes) && prefixes[to].text[0] == prefixes[from].text[0] {
			to++
		}
		t[prefixes[from].text[0]] = prefixes[from:to]
		from = to
	}
	return t
}()

// pairs has a bit for every pair of bytes that begins a prefix, which rules out
// most words.
var pairs = func() (t [1 << 10]uint64) {
	for _, p := range prefixes {
		n := pair16(p.text)
		t[n>>6] |= 1 << (n & 63)
	}
	return t
}()

func pair16(s string) uint { return uint(s[0])<<8 | uint(s[1]) }

// tokens masks the keys of a known form in the run s[i:end]. It returns the end of
// the last one, 0 if there is none.
func (p *pass) tokens(i, end int) int {
	var next stemMemo
	last, spans := 0, len(p.spans)
	from, to := p.encodedKey(&next, i, end)
	for k := i; k < end; {
		switch {
		case k > from: // a key went on into it
			from, to = p.encodedKey(&next, k, end)
		case k == from:
			p.maskAs(from, to, hidden)
			k, last = to, to
			from, to = p.encodedKey(&next, k, end)
		default:
			last = max(last, p.wordTokens(k, from))
			k = max(from, last)
		}
	}
	if p.undecided(i) {
		p.spans = p.spans[:spans]
		return end
	}
	return last
}

// wordTokens masks the keys that begin a word of s[k:end].
func (p *pass) wordTokens(k, end int) int {
	s, last := p.s, 0
	for k < end {
		if !wordByte(s[k]) {
			k++
			continue
		}
		if k == 0 || !wordByte(s[k-1]) {
			if to := p.tokenAt(k, end); to > 0 {
				p.mask(k, to)
				k, last = to, to
			}
		}
		for k < end && wordByte(s[k]) {
			k++
		}
	}
	return last
}

// tokenAt returns the end of the key that begins at i, or 0.
func (p *pass) tokenAt(i, end int) int {
	rest := p.s[i:end]
	if len(rest) < longPiece {
		return 0
	}
	if n := pair16(rest); pairs[n>>6]&(1<<(n&63)) != 0 {
		for _, f := range firsts[rest[0]] {
			if !strings.HasPrefix(rest, f.text) {
				continue
			}
			if f.text == "EAAA" && i > 0 && (p.s[i-1] == '/' || p.s[i-1] == '+') {
				continue // of base64
			}
			body := i + len(f.text)
			x := p.extent(body, end, f.extra)
			if x.last-body >= f.min && (f.text != "sk-" || x.dense >= body) {
				return x.last
			}
		}
	}
	if to := fixed(rest); to > 0 {
		return i + to
	}
	switch rest[0] {
	case 'e':
		return p.webToken(i, end)
	case 'M', 'N', 'O':
		return p.botToken(i, end)
	}
	return 0
}

// fixed returns the length of a key whose parts have fixed lengths, at the beginning of a text; 0 for
// none: of Terraform, Airtable, Mailchimp and Twilio.
func fixed(text string) int {
	const (
		atlas    = ".atlasv1."
		atlasID  = 14
		airtable = 17 // pat and 14 letters
		hash     = 32
		long     = 60
	)
	n := 0
	switch {
	case len(text) > atlasID && text[atlasID] == '.' && strings.HasPrefix(text[atlasID:], atlas) && lettersAt(text) == atlasID:
		for n = atlasID + len(atlas); n < len(text) && (class[text[n]] == letterByte || text[n] == '-' || text[n] == '_'); n++ {
		}
		if n < atlasID+len(atlas)+long {
			n = 0
		}
	case len(text) > airtable && text[airtable] == '.' && strings.HasPrefix(text, "pat") && lettersAt(text) == airtable:
		if n = hexAt(text[airtable+1:]); n == 2*hash {
			return airtable + 1 + n
		}
		n = 0
	case len(text) > hash+3 && text[hash] == '-' && text[hash+1] == 'u' && text[hash+2] == 's' && isDigit(text[hash+3]) && hexAt(text) == hash:
		for n = hash + 3; n < len(text) && n < hash+6 && isDigit(text[n]); n++ {
		}
	case text[0] == 'S' && len(text) >= hash+2 && text[1] == 'K' && hexAt(text[2:]) == hash:
		if n = hash + 2; n < len(text) && wordByte(text[n]) {
			n = 0
		}
	}
	return n
}

// lettersAt and hexAt count the letters and digits, or hex digits in small letters, that a text begins with.
func lettersAt(text string) int {
	n := 0
	for n < len(text) && n < 80 && class[text[n]] == letterByte {
		n++
	}
	return n
}

func hexAt(text string) int {
	n := 0
	for n < len(text) && n < 80 && hexDigit(text[n]) >= 0 && !isUpper(text[n]) {
		n++
	}
	return n
}

// tilde masks a client secret of Azure, which has a tilde after five letters: abc8Q~. i is where the run
// before it begins, and end is at the tilde.
func (p *pass) tilde(i, end int) int {
	s := p.s
	const before, least, most = 5, 30, 40
	from := end - before
	if from < i || from > i && class[s[from-1]] != joinerByte || s[end-1] != 'Q' || !isDigit(s[end-2]) {
		return 0
	}
	to := end + 1
	for to < len(s) && to < end+most && (class[s[to]] == letterByte || class[s[to]] == joinerByte || s[to] == '~') {
		to++
	}
	p.read(end, to)
	for to > end && s[to-1] == '.' {
		to--
	}
	if p.undecided(i) || to-end < least {
		return 0
	}
	p.mask(from, to)
	return to
}

// hashed masks the hash of a password, as /etc/shadow and .htpasswd have it: $6$salt$hash. s[i:end] is what
// is between the first two dollars.
func (p *pass) hashed(i, end int) int {
	s := p.s
	least := 0 // letters of the last part
	switch s[i:end] {
	case "1", "apr1":
		least = 22
	case "5", "y", "gy", "7":
		least = 43
	case "6":
		least = 86
	case "2", "2a", "2b", "2x", "2y":
		least = 53
	default:
		return 0
	}
	const most, parts = 256, 3
	to, part, n := end+1, end+1, 0
	for to < len(s) && to < end+most && (class[s[to]] == letterByte || strings.IndexByte("./$=,", s[to]) >= 0) {
		if s[to] == '$' {
			if n++; n > parts {
				break
			}
			part = to + 1
		}
		to++
	}
	p.read(end, to)
	if p.undecided(i) || part == end+1 || to-part < least || to-part > least+1 {
		return 0
	}
	p.maskAs(end+1, to, hidden)
	return to
}

// extent is a stretch of letters, digits and extra bytes, which keys that begin
// anywhere within it share.
type extent struct {
	run      int // the run that it belongs to, plus one
	from, to int
	last     int // the end without extra bytes
	dense    int // where the last dense piece begins
}

// extent measures the stretch from at on, within the run that ends at end. Only
// the stretches of base64 go on beyond the run.
func (p *pass) extent(at, end int, e extra) *extent {
	x := &p.extents[e]
	if x.run == p.trigger+1 && x.from <= at && at <= x.to {
		return x
	}
	if e >= base64Plus {
		end = min(len(p.s), at+valueBound)
	}
	*x = extent{run: p.trigger + 1, from: at, to: at, last: at, dense: -1}
	piece, digit := at, false
	for x.to < end {
		c := p.s[x.to]
		switch {
		case class[c] == letterByte:
			digit = digit || isDigit(c)
			x.last = x.to + 1
		case e.allows(c):
			x.measure(piece, x.to, digit)
			piece, digit = x.to+1, false
		default:
			x.measure(piece, x.to, digit)
			p.steps += x.to - at
			return x
		}
		x.to++
	}
	x.measure(piece, x.to, digit)
	p.read(at, x.to)
	return x
}

// measure records a dense piece, which distinguishes a key from hyphenated words:
// it is long, and even longer if it has no digit.
func (x *extent) measure(from, to int, digit bool) {
	const withDigit, without = 12, 20
	if to-from >= without || to-from >= withDigit && digit {
		x.dense = from
	}
}

// webToken finds a JWT: two or more dotted parts of base64url JSON.
func (p *pass) webToken(i, end int) int {
	if p.s[i:i+3] != "eyJ" {
		return 0
	}
	to := p.extent(i, end, dashUnder).to
	if to-i < 12 {
		return 0
	}
	parts := 1
	for to < end && p.s[to] == '.' && parts < 5 {
		next := p.extent(to+1, end, dashUnder).to
		if next-to-1 < 4 {
			break
		}
		to = next
		parts++
	}
	if parts < 2 {
		return 0
	}
	return to
}

// botToken finds a Discord bot's token: an encoded id, a time, a signature.
func (p *pass) botToken(i, end int) int {
	first := p.extent(i, end, dashUnder).to
	if first-i < 23 || first-i > 28 || first == end || p.s[first] != '.' {
		return 0
	}
	middle := p.extent(first+1, end, dashUnder).to
	if middle-first-1 != 6 || middle == end || p.s[middle] != '.' {
		return 0
	}
	last := p.extent(middle+1, end, dashUnder).to
	if last-middle-1 < 27 {
		return 0
	}
	return last
}
