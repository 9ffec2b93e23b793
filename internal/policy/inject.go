package policy

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// Injection looks for text that tries to give a model orders or to steal
// secrets, in project files, memory entries and prompts of jobs. It returns the
// name of the first matching pattern, in the order of the table, or "". The
// patterns find the usual tricks; they are not a security boundary.
func Injection(text string) string {
	low := strings.ToLower(text)
	for _, p := range injections {
		if p.found(low) {
			return p.name
		}
	}
	if hasInvisible(text) {
		return "invisible_unicode"
	}
	return ""
}

// injection is one pattern, over lower-case text.
type injection struct {
	name string
	// stem lists substrings. The expression is tried only if one occurs; most
	// text has none.
	stem   []string
	expr   func() *regexp.Regexp
	unless func() *regexp.Regexp // matches to ignore; nil for none
}

func (p injection) found(low string) bool {
	for at := 0; at < len(low); {
		next := p.next(low, at)
		if next < 0 {
			return false
		}
		// The expressions are slow, so they read only the text around a stem.
		const reach = 600
		from, to := max(at-reach, next-reach, 0), next+reach
		for to < len(low) {
			more := p.next(low[:min(len(low), to+reach)], to)
			if more < 0 {
				break
			}
			to = more + reach
		}
		to = min(to, len(low))
		if p.in(low[from:to]) {
			return true
		}
		at = to
	}
	return false
}

// next is the position of the first stem from at on, or -1.
func (p injection) next(low string, at int) int {
	first := -1
	for _, s := range p.stem {
		n := strings.Index(low[at:], s)
		if n >= 0 && (first < 0 || at+n < first) {
			first = at + n
		}
	}
	return first
}

func (p injection) in(part string) bool {
	if p.unless == nil {
		return p.expr().MatchString(part)
	}
	for _, at := range p.expr().FindAllStringIndex(part, -1) {
		if !p.unless().MatchString(part[at[0]:min(len(part), at[1]+24)]) {
			return true
		}
	}
	return false
}

func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// Parts of the expressions: a few words in between, and words for the user.
const (
	few       = `(?:[\w',’-]+\s+){0,4}`
	userWords = `(?:user|human|person|operator|owner|developer)s?\b`
)

var injections = []injection{
	{
		name: "prompt_injection",
		stem: []string{"ignor", "forget", "not follow"},
		expr: lazy(`\b(?:ignor(?:e|ing)|forget|(?:do\s+not|don['’]t)\s+follow)\s+` + few + `(?:` +
			`(?:previous|prior|above|earlier|preceding|foregoing|existing|original|initial|your|system)\s+` + few + `(?:instruction|rule|directive|prompt|guideline|command|order|message)s?` +
			`|all\s+` + few + `(?:instruction|directive|prompt)s?` +
			`|(?:everything|all|anything)\s+(?:that\s+(?:was|came)\s+)?(?:above|before)` +
			`|instructions\s+(?:above|before))\b`),
	},
	{
		name: "disregard_rules",
		stem: []string{"disregard"},
		expr: lazy(`\bdisregard(?:ing)?\s+` + few + `(?:instruction|rule|guideline|polic(?:y|ie)|safeguard|restriction|directive|prompt|command|constraint|everything|above)s?\b`),
	},
	{
		name: "sys_prompt_override",
		stem: []string{"system prompt", "system  prompt", "system\nprompt", "system-prompt", "system message", "system override", "<|im_start|>", "<|system|>"},
		expr: lazy(`\bsystem[\s-]+(?:prompt|message)\s+override\b|\boverrid(?:e|ing)\s+` + few + `system[\s-]+(?:prompt|message)|\bnew\s+system[\s-]+(?:prompt|message)\s*:|\bsystem\s+override\b|<\|(?:im_start|system)\|>`),
	},
	{
		name: "bypass_restrictions",
		stem: []string{"act ", "behave", "respond", "answer", "pretend", "operate", "speak", "you are", "you now", "you have", "do anything now", "jailbr"},
		expr: lazy(`\b(?:act|behave|respond|answer|pretend|operate|speak)\s+` + few + `(?:as\s+(?:if|though)|like|that)\s+` + few + `(?:have|has|had|are|were)\s+(?:no|without|free\s+(?:of|from))\s+` + few + `(?:restriction|limit|limitation|rule|filter|guideline|boundarie)s?\b` +
			`|\byou\s+(?:now\s+)?(?:have|are)\s+(?:now\s+)?(?:no|without|free\s+(?:of|from))\s+` + few + `(?:restriction|limitation|filter|guideline|boundarie)s\b` +
			`|\byou\s+(?:can|will)\s+do\s+anything\s+now\b|\bjailbroken\s+(?:mode|ai|assistant|model)\b`),
	},
	{
		name: "deception_hide",
		stem: []string{"tell", "inform", "alert", "notif", "warn", "mention", "reveal", "disclos", "report", "show", "hid", "conceal", "keep"},
		expr: lazy(`\b(?:do\s+not|don['’]t|never|must\s+not|without)\s+(?:ever\s+)?(?:tell|inform|alert|notify|warn)(?:ing)?\s+(?:the|your|any)\s+` + userWords +
			`|\b(?:do\s+not|don['’]t|never|must\s+not|without)\s+(?:ever\s+)?(?:mention|reveal|disclos|report|show)(?:e|ing)?\s+(?:this|it|that|these|any\s+of\s+this)\s+` + few + `to\s+(?:the|your|any)\s+` + userWords +
			`|\b(?:hide|hiding|conceal|keep)\s+(?:this|it|that|these|your\s+actions|what\s+you)\s+` + few + `from\s+(?:the|your|any)\s+` + userWords),
		unless: lazy(`^[^\n]*?` + userWords + `\s+(?:to|how|which|whether|when)\s`),
	},
	{
		name: "translate_execute",
		stem: []string{"translat"},
		expr: lazy(`\btranslat(?:e|ing)\s+(?:\S+\s+){0,12}?(?:and|then)\s+(?:then\s+)?(?:execute|run|eval|evaluate|perform)\b`),
	},
	{
		name: "exfil_curl",
		stem: []string{"curl", "wget"},
		expr: lazy(`\b(?:curl|wget)\s[^\n]*\$\{?\w*(?:key|token|secret|password|passwd|credential|api)`),
	},
	{
		name:   "read_secrets",
		stem:   []string{".env", "credentials", ".netrc", ".pgpass", ".npmrc", ".pypirc", "id_rsa", "id_ed25519", "auth.json"},
		expr:   lazy(`\b(?:cat|less|more|head|tail|type|bat|base64|xxd|strings)\s+[^\n|;]*(?:\.env\b|credentials|\.netrc|\.pgpass|\.npmrc|\.pypirc|id_rsa\b|id_ed25519\b|auth\.json)`),
		unless: lazy(`\.env[\w.-]*\.(?:example|sample|template|dist)\b|id_(?:rsa|ed25519)\.pub\b`),
	},
	{
		name: "html_comment_injection",
		stem: []string{"<!--"},
		expr: lazy(`<!--(?:[^>]*[\s:\[(])?(?:ignore|override|system|secret|hidden)(?:[\s:,\])][^>]*)?-->`),
	},
	{
		name: "hidden_div",
		stem: []string{"display", "visibility", "font-size", "opacity"},
		expr: lazy(`<\s*(?:div|span|p|section)\s[^>]*style\s*=\s*["'][^"'>]*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0\s*[;"'])`),
	},
}

// hasInvisible reports whether a text has characters that users do not see but
// models read. It allows a byte order mark at the start, and joiners in emoji
// and in scripts that need them.
func hasInvisible(text string) bool {
	var before rune
	for i, r := range text {
		switch {
		case r < 0x80:
		case r == 0xfeff && i == 0:
		case r == 0x200d && (before >= 0x1f000 || before == 0xfe0f || before >= 0x2600 && before < 0x2800):
		case (r == 0x200c || r == 0x200d) && unicode.In(before, joining...):
		case (r == 0x200e || r == 0x200f) && hasRightToLeft(text):
		case unseen(r):
			return true
		}
		before = r
	}
	return false
}

var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Devanagari, unicode.Bengali, unicode.Tamil, unicode.Telugu, unicode.Kannada,
	unicode.Malayalam, unicode.Gujarati, unicode.Gurmukhi, unicode.Oriya, unicode.Sinhala, unicode.Khmer, unicode.Mongolian,
}

func hasRightToLeft(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana)
	}) >= 0
}

func unseen(r rune) bool {
	switch {
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x2069, r == 0xfeff, r == 0x180e, r == 0x3164, r == 0x115f, r == 0x1160:
		return true
	case r >= 0xe0000 && r <= 0xe007f: // tags: text that no screen shows
		return true
	}
	return false
}
