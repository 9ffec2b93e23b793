package redact

import "strings"

// prefix is the fixed beginning of one vendor's keys. The body after it has
// letters, digits and the extra bytes. It must be at least min long, so that
// ordinary words with the same beginning are kept.
type prefix struct {
	text  string
	extra string
	min   int
}

// prefixes are checked in this order: a longer one before its own beginning.
var prefixes = []prefix{
	{"AIza", "-_", 30},
	{"AGE-SECRET-KEY-1", "", 40},
	{"AKIA", "", 16}, {"ASIA", "", 16},
	{"EAAA", "-_", 50},
	{"GOCSPX-", "-_", 16},
	{"LTAI", "", 16},
	{"PMAK-", "-", 40},
	{"SG.", "-_.", 30},
	{"bb_live_", "-_", 16},
	{"csk-", "", 24},
	{"ctx7sk-", "-", 16},
	{"dckr_pat_", "-_", 16},
	{"doo_v1_", "", 32}, {"dop_v1_", "", 32}, {"dor_v1_", "", 32},
	{"exa_", "", 16},
	{"fal_", "", 16},
	{"fc-", "", 24},
	{"figd_", "-_", 20},
	{"ghp_", "", 16}, {"gho_", "", 16}, {"ghu_", "", 16}, {"ghs_", "", 16}, {"ghr_", "", 16},
	{"github_pat_", "_", 20},
	{"glpat-", "-_.", 16}, {"gldt-", "-_", 16}, {"glptt-", "-_", 16}, {"glrt-", "-_", 16},
	{"glsa_", "_", 24},
	{"gsk_", "", 16},
	{"hf_", "", 20},
	{"hvs.", "-_", 20}, {"hvb.", "-_", 20},
	{"jina_", "", 20},
	{"key-", "", 32},
	{"lin_api_", "", 20},
	{"m0-", "", 20},
	{"npm_", "", 20},
	{"ntn_", "", 20},
	{"nvapi-", "-_", 20},
	{"pplx-", "", 16},
	{"pscale_tkn_", "-_.", 20},
	{"pypi-", "-_", 32},
	{"r8_", "", 20},
	{"rk_live_", "", 12}, {"rk_test_", "", 12},
	{"sb_secret_", "-_", 16},
	{"sbp_", "", 32},
	{"secret_", "", 40},
	{"shpat_", "", 20}, {"shpca_", "", 20}, {"shppa_", "", 20}, {"shpss_", "", 20},
	{"sk-", "-_", 16},
	{"sk_live_", "", 12}, {"sk_test_", "", 12},
	{"sntrys_", "-_=+/", 30}, {"sntryu_", "", 30},
	{"sq0atp-", "-_", 20}, {"sq0csp-", "-_", 20},
	{"syt_", "_", 20},
	{"tskey-", "-", 16},
	{"tvly-", "-_", 16},
	{"vck_", "", 20},
	{"whsec_", "+/=", 20},
	{"xai-", "", 20},
	{"xapp-", "-", 16},
	{"xoxa-", "-", 10}, {"xoxb-", "-", 10}, {"xoxe-", "-", 10}, {"xoxe.", "-", 10}, {"xoxp-", "-", 10}, {"xoxr-", "-", 10}, {"xoxs-", "-", 10},
	{"ya29.", "-_", 20},
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

// tokenAt returns the end of the key that begins at i, or 0. open means that the
// text ended before this was certain.
func tokenAt(s string, i int) (to int, open bool) {
	rest := s[i:]
	list := firsts[rest[0]]
	if len(rest) > 1 && list != nil {
		if n := pair16(rest); pairs[n>>6]&(1<<(n&63)) == 0 {
			list = nil
		}
	}
	for _, p := range list {
		if len(rest) < len(p.text) {
			open = open || strings.HasPrefix(p.text, rest)
			continue
		}
		if !strings.HasPrefix(rest, p.text) {
			continue
		}
		end := run(s, i+len(p.text), p.extra)
		open = open || end == len(s)
		body := strings.TrimRight(s[i+len(p.text):end], p.extra)
		if len(body) >= p.min && (p.text != "sk-" || dense(body)) {
			return i + len(p.text) + len(body), open
		}
	}
	switch rest[0] {
	case 'e':
		return webToken(s, i, open)
	case 'M', 'N', 'O':
		return botToken(s, i, open)
	}
	return 0, open
}

// webToken finds a JWT: two or more dotted parts of base64url JSON.
func webToken(s string, i int, open bool) (int, bool) {
	if !strings.HasPrefix(s[i:], "eyJ") {
		return 0, open || len(s)-i < 3 && strings.HasPrefix("eyJ", s[i:])
	}
	end := run(s, i, "-_")
	if end-i < 12 {
		return 0, open || end == len(s)
	}
	parts := 1
	for end < len(s) && s[end] == '.' && parts < 5 {
		next := runWithin(s, end+1, "-_", valueBound)
		if next-end-1 < 4 {
			break
		}
		end = next
		parts++
	}
	open = open || end >= len(s)-5
	if parts < 2 {
		return 0, open
	}
	return end, open
}

// botToken finds a Discord bot's token: an encoded id, a time, a signature.
func botToken(s string, i int, open bool) (int, bool) {
	end := run(s, i, "-_")
	if end == len(s) && end-i <= 28 {
		return 0, true
	}
	if end-i < 23 || end-i > 28 || s[end] != '.' {
		return 0, open
	}
	middle := run(s, end+1, "-_")
	if middle == len(s) && middle-end-1 <= 6 {
		return 0, true
	}
	if middle-end-1 != 6 || s[middle] != '.' {
		return 0, open
	}
	last := run(s, middle+1, "-_")
	if last-middle-1 < 27 {
		return 0, open || last == len(s)
	}
	return last, open || last == len(s)
}

// run returns the end of the letters, digits and extra bytes from at on.
func run(s string, at int, extra string) int { return runWithin(s, at, extra, tokenBound) }

func runWithin(s string, at int, extra string, most int) int {
	bound := min(len(s), at+most)
	for at < bound {
		c := s[at]
		if (class[c] != wordByte || c == '_') && strings.IndexByte(extra, c) < 0 {
			break
		}
		at++
	}
	return at
}

// dense distinguishes a key from hyphenated words: one of its parts is long, and
// even longer if it has no digit.
func dense(body string) bool {
	const withDigit, without = 12, 20
	for piece := range strings.FieldsFuncSeq(body, func(r rune) bool { return r == '-' || r == '_' }) {
		if len(piece) >= without || len(piece) >= withDigit && hasDigit(piece) {
			return true
		}
	}
	return false
}
