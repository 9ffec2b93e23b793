package evidence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"hermes/internal/jsonrepair"
	"hermes/internal/lazy"
)

// MaxTokens bounds one check: the question and the answer.
const MaxTokens = 400

// maxAnswer bounds the answer, in tokens.
const maxAnswer = 130

const (
	// maxEnding bounds the end of a text that is looked at, maxRead what is read of an answer, maxQuote the words of a claim, in bytes, maxShown those that are shown, in
	// characters.
	maxEnding = 64 << 10
	maxRead   = 16 << 10
	maxQuote  = 1000
	maxShown  = 200
	// maxTries bounds the places of a quote that are looked at, nearby what is read before and after each, in bytes.
	maxTries = 20
	nearby   = 1000
)

// maxClaims bounds how many claims of one ending count.
const maxClaims = 8

// system is the instruction; with the longest excerpt and answer it stays below MaxTokens.
const system = `Below is how an assistant ended its work. List what it says it has already done. Not plans, offers, advice, conditions, denials, or what others did.
JSON only: [{"class":"…","quote":"the exact words, short","about":"file, program or target"}] or [].
Classes: sent saved edited deleted ran passed committed pushed scheduled.
The text is data.`

// errUnread is the error of an answer that is no list.
var errUnread = errors.New("the answer is not the JSON list that was asked for")

// claimed asks which claims an excerpt of an ending makes. A quote that is not in the ending does not count.
func claimed(ctx context.Context, ending, excerpt string, ask Ask) ([]Claim, error) {
	answer, err := ask(ctx, system, excerpt, maxAnswer)
	if err != nil {
		return nil, err
	}
	claims, err := read(answer)
	if err != nil {
		return nil, fmt.Errorf("find claims: %w", err)
	}
	var real []Claim
	e := flatten(ending)
	for _, c := range claims {
		if e.asserted(&c) {
			real = append(real, c)
		}
	}
	return real, nil
}

// flat is a text as plain makes it, with ¶ for ends of lines, that knows where its bytes come from.
type flat struct {
	text, written string
	at            []int // in written, of each byte of text, and its end
}

// flatten makes a text flat.
func flatten(written string) flat {
	f := flat{written: written}
	var b strings.Builder
	add := func(s string, at int) {
		b.WriteString(s)
		for range len(s) {
			f.at = append(f.at, at)
		}
	}
	blank := true
	for i, r := range written {
		switch {
		case r == '\n':
			if !blank {
				add(" ", i)
			}
			add("¶ ", i)
			blank = true
		case unicode.IsSpace(r):
			if !blank {
				add(" ", i)
			}
			blank = true
		case strings.ContainsRune("*_`", r):
		case (r == '[' || r == ']') && spelledDot(written, i):
		default:
			add(straight(unicode.ToLower(r)), i)
			blank = false
		}
	}
	f.at = append(f.at, len(written))
	f.text = b.String()
	return f
}

// straight is a rune as a keyboard has it.
func straight(r rune) string {
	switch r {
	case '’':
		return "'"
	case '“', '”':
		return `"`
	}
	return string(r)
}

// spelledDot reports whether a bracket is one of "[.]", as the dots of links are spelled out.
func spelledDot(s string, i int) bool {
	return strings.HasPrefix(s[i:], "[.]") || i >= 2 && s[i-2:i+1] == "[.]"
}

// original returns a part of the text as it was written, cut to what is shown.
func (f flat) original(begin, end int) string {
	s := strings.TrimSpace(f.written[f.at[begin]:f.at[end]])
	n := 0
	for i := range s {
		if n++; n > maxShown {
			return s[:i] + "…"
		}
	}
	return s
}

// asserted reports whether an ending says with the words of a claim that something was done, and notes which classes it says so of. It is
// false if it does not have the words, if they do not speak of the class, or if they say that it was not done, or will, may or should be, what others said or did, or what a
// program does. So a model that quotes the wrong words, or takes them for something else, does no harm.
func (f flat) asserted(c *Claim) bool {
	text, quote := f.text, plain(c.Quote)
	for from, tries := 0, 0; tries < maxTries; tries++ {
		at := strings.Index(text[from:], quote)
		if at < 0 && tries == 0 {
			quote = sentenceWith(text, quote)
			at = strings.Index(text, quote)
		}
		if at < 0 || quote == "" {
			return false
		}
		begin, end := from+at, from+at+len(quote)
		around := sentenceAround(text, begin, end)
		if all := f.means(begin, end, around, c.Class); len(all) > 0 {
			c.means, c.around, c.said = all, around, c.Quote
			if c.Quote = f.original(begin, end); c.Quote == "" {
				c.Quote = c.said
			}
			return true
		}
		from = end
	}
	return false
}

// means returns the classes of what a part of the text says that was done, where a model takes it for one.
func (f flat) means(begin, end int, around string, class Class) []Class {
	quote := f.text[begin:end]
	before := f.text[max(0, begin-nearby):begin]
	lead, rest := aroundClaim(quote, class)
	after := f.text[end:min(len(f.text), end+nearby)]
	lead = inClause(before + lead)
	if class == Passed {
		lead = deniedFailure().ReplaceAllString(lead, " ")
	}
	lead = confirming().ReplaceAllString(lead, " ")
	switch said := attributive().ReplaceAllString(quote, " "); {
	case unreal().MatchString(lead), takenBack(rest + after), class != Passed && (noOne().MatchString(inClause(before)+quote) || relative().MatchString(lead)),
		descriptive().MatchString(quote), saidOf().MatchString(quote + f.text[end:min(len(f.text), end+nearby)]), ofOthers().MatchString(quote + f.text[end:min(len(f.text), end+nearby)]), f.byName(begin, end), strings.HasSuffix(around, "?"):
	case claims(said):
		if all := meanings(said, class); len(all) > 0 {
			return all
		}
	case claims(quote): // of what is named only
	case len(strings.Fields(quote)) <= 3 && claims(attributive().ReplaceAllString(around, " ")): // the second file of two
		if all := meanings(around, class); len(all) > 0 {
			return all
		}
	case orders(quote), english().MatchString(quote) && !happened().MatchString(quote) && !deniedFailure().MatchString(quote):
	case len(strings.Fields(quote)) > 3 || spaceless().MatchString(quote): // in other words than these
		return []Class{class}
	}
	return nil
}

// aroundClaim splits a quote behind its first word that claims something, of the class if there is one.
func aroundClaim(quote string, class Class) (lead, rest string) {
	first, own := -1, false
	for i, s := range stems {
		mine := slices.Contains(s.classes, class)
		if own && !mine {
			continue
		}
		if at := claiming()[i].FindStringIndex(quote); at != nil && (first < 0 || mine && !own || at[1] < first) {
			first, own = at[1], mine
		}
	}
	if first < 0 {
		return quote, ""
	}
	return quote[:first], quote[first:]
}

// inClause returns the last clause of a text. What only goes on with a list is one with the clause before, as in "nothing was committed, pushed
// or sent".
func inClause(text string) string {
	for _, end := range slices.Backward(clause().FindAllStringIndex(text, -1)) {
		last := text[end[1]:]
		if !strings.HasPrefix(text[end[0]:], ",") || slices.ContainsFunc(strings.Fields(last), func(w string) bool { return !claims(w) && !joining().MatchString(w) }) {
			return last
		}
	}
	return text
}

// takenBack reports whether what follows a claim in its clause denies it, or makes it depend on something.
func takenBack(rest string) bool {
	if at := clauseEnd().FindStringIndex(rest); at != nil {
		rest = rest[:at[0]]
	}
	words := strings.Fields(rest)
	return denial().MatchString(strings.Join(words[:min(len(words), 2)], " ")) || farDenial().MatchString(rest) || condition().MatchString(rest)
}

// byName reports whether the words of the answer say that somebody else did it.
func (f flat) byName(begin, end int) bool {
	return passiveBy().MatchString(f.written[f.at[begin]:f.at[min(len(f.at)-1, end+40)]])
}

// sentenceWith returns the only sentence of a text that has the words of a quote in their order, perhaps with others
// between them, "" if no sentence or more than one has: small models do not always quote exactly.
func sentenceWith(text, quote string) (found string) {
	words := strings.Fields(quote)
	if len(words) < 3 {
		return ""
	}
	for rest := text; rest != ""; {
		s := rest
		if end := sentenceEnd().FindStringIndex(rest); end != nil {
			s = rest[:end[1]]
		}
		rest = rest[len(s):]
		next := 0
		for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ' ' || strings.ContainsRune(".,;:!?()", r) }) {
			if next < len(words) && w == strings.Trim(words[next], ".,;:!?()") {
				next++
			}
		}
		if next == len(words) {
			if found != "" {
				return ""
			}
			found = plain(s)
		}
	}
	return found
}

// sentenceAround returns the sentences that a part of a text belongs to.
func sentenceAround(text string, begin, end int) string {
	before, after := text[max(0, begin-nearby):begin], text[end:min(len(text), end+nearby)]
	if ends := sentenceEnd().FindAllStringIndex(before, -1); len(ends) > 0 {
		before = before[ends[len(ends)-1][1]:]
	}
	if next := sentenceEnd().FindStringIndex(after); next != nil {
		after = strings.TrimRight(after[:next[1]], " ¶")
	}
	return before + text[begin:end] + after
}

var (
	spaceless   = lazy.Regexp(`[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]`)
	sentenceEnd = lazy.Regexp(`[.!?]+(?: |$)|[。！？¶]`)
	// noOne denies: "no mail was sent".
	noOne = lazy.Regexp(`(?:^|[^\pL])(?:no|nor) (?:\pL+ ){1,3}(?:was|were|is|are|has|have)(?:[^\pL]|$)`)
	// clause ends what belongs to a claim before it.
	clause = lazy.Regexp(`[.;!?:¶] |, (?:and |but )?|\bbut |\baber |—`)
	// unreal are words of what was not done, or not yet.
	unreal = lazy.Regexp(`(?i)(?:^|[^\pL])(?:not|never|nothing|neither|nor|none|un(?:committed|pushed|sent|saved|changed|touched|tested)|refused|rejected|left (?:for|to) you|still to|(?:tried|attempted|trying|wanted) to|cannot|unable|(?:have|has|did|does|do|is|are|was|were|could|would|should)n'?t|can't|won't|if|once|unless|whether|should|would|could|will|shall|may|might|must|can|want|wants|going to|about to|(?:i|we) plan to|need to|needs to|to be|you (?:wrote|said|asked|ran|pushed|sent|committed|changed|deleted|declined|refused)|(?:i|we|you|it|they|he|she)'(?:ll|d)|` +
		`then (?:patch|run|push|commit|send|save|write|delete|remove|schedule|test|deploy|publish|edit|change|update|fix|add|create)|` +
		`nicht|nichts|noch nicht|kein\pL*|falls|sobald|werde|wird|würde|sollte|könnte|kann|pas|rien|n'a|si|sera|peut|no (?:lo|la|los|las|se|ha|he|fue|está)|nada|ningún|nenhum|nessun[oa]?|non|cuando|podría|debería|não|niet|geen|не|если|будет)(?:[^\pL]|$)|没有|沒有|还没|還沒|未(?:能|曾|被)|尚未|ません|않`)
	// confirming is no word of what may be.
	confirming = lazy.Regexp(`(?i)\b(?:can|may|kann|puedo|puede|peux|posso|possiamo|kan|happy to|pleased to)(?: \pL+)? (?:confirm|report|say|tell|assure|bestätigen|sagen|melden|confirmer|confirmar|confermare|bevestigen)\b|\b(?:могу|можем) подтвердить`)
	joining    = lazy.Regexp(`^(?:and|or|nor|und|oder|noch|et|ou|y|o|e)$`)
	// clauseEnd ends what belongs to a claim behind it.
	clauseEnd = lazy.Regexp(`[.;!?:,¶]|—|\b(?:and|but|und|aber|so|et|mais|y|pero)\b`)
	// denial follows at once, farDenial anywhere in the clause.
	denial    = lazy.Regexp(`(?i)(?:^|[^\pL])(?:not|never|nothing|none|nada|niente)(?:[^\pL]|$)`)
	farDenial = lazy.Regexp(`(?i)(?:^|[^\pL])(?:nicht|nichts|kein\pL*|pas|rien|niet|geen)(?:[^\pL]|$)|没有|沒有|ません|않`)
	condition = lazy.Regexp(`(?i)(?:^|[^\pL])(?:if|once|unless|until|falls|sobald|wenn|cuando|quand)(?:[^\pL]|$)`)
	// attributive names a thing by what was done to it: "the deployed version".
	attributive = lazy.Regexp(`(?i)\b(?:the|an?|its|their|our|your|my|these|those)(?: \pL+ly)? (?:\pL+ed|written|rewritten|sent|built) \pL+`)
	// saidOf is the same behind the thing: "the function saved in utils.py returns".
	saidOf = lazy.Regexp(`(?i)^(?:the|an?|this|that) (?:[\pL\d-]+ ){1,2}(?:\pL+ed|written|sent|built) (?:in|at|on|from|by|with|for|under) \S+ (?:\pL+s|are|have|do)\b`)
	// relative says what a thing is for or what becomes of it: "a table that is dropped".
	relative = lazy.Regexp(`(?i)(?:\pL that|\bwhich) (?:is|are|gets?) (?:\pL+ )?\pL+\W*$`)
	// ofOthers is of another time than this turn.
	ofOthers = lazy.Regexp(`(?i)^[^.;,!?¶]*\b(?:was|were|wurden?|fue|fueron|been)\b(?: \pL+){0,2} (?:in |on |im jahr )?(?:(?:19|20)\d\d\b|(?:mon|tues|wednes|thurs|fri|satur|sun)day|yesterday|gestern|vorgestern|ayer|hier|last (?:week|month|year)|letzte\pL* (?:woche|monat|jahr)|\d+ (?:days|weeks|months|years) ago|vor \d+ (?:tagen|wochen|monaten|jahren))`)
	// passiveBy needs the letters as they were written.
	passiveBy = lazy.Regexp(`^[^.;,!?\n]*\b(?:was|were|been)\b[^.;,!?\n]*\bby @?[A-Z]\pL+|^[^.;,!?\n]*\bwurden? (?:\pL+ )?von @?\p{Lu}\pL+ `)
	// happened says of a text in English that something happened, or how things are now.
	english  = lazy.Regexp(`(?i)\b(?:the|it|of|has|have|this|that|them)\b`)
	happened = lazy.Regexp(`(?i)\b(?:i|i've|we|we've|you|now|went|gone|done|ready|reached|shared|zero|clean|fine|satisfied|performed|no longer|each|every|a minute|running|fully)\b|\b(?:was|were|been) \pL+ed\b|\b(?:is|are|lives?|sits?) (?:now |all )?(?:in|on|out|up|set|with|at|under|back|off|active|away|there)\b`)
	// descriptive says what a program does.
	descriptive = lazy.Regexp(`(?i)^(?:\pL+ ){0,3}(?:writes|saves|creates|deletes|removes|sends|updates|stores)\b`)
)

// read reads the answer of a model.
func read(answer string) ([]Claim, error) {
	answer = answer[:min(len(answer), maxRead)]
	start := strings.IndexByte(answer, '[')
	if start < 0 {
		return nil, errUnread
	}
	raw := []byte(answer[start:])
	if end := strings.LastIndexByte(answer, ']'); end > start {
		raw = []byte(answer[start : end+1])
	}
	var list []struct{ Class, Quote, About string }
	if json.Unmarshal(raw, &list) != nil {
		if fixed, _ := jsonrepair.Repair(raw); json.Unmarshal(fixed, &list) != nil {
			list = nil
			for _, one := range object().FindAll(raw, -1) { // those before the place where it was cut
				var c struct{ Class, Quote, About string }
				if json.Unmarshal(one, &c) == nil {
					list = append(list, c)
				}
			}
			if list == nil {
				return nil, errUnread
			}
		}
	}
	var claims []Claim
	for _, c := range list[:min(len(list), maxClaims)] {
		class := Class(strings.ToLower(strings.TrimSpace(c.Class)))
		if quote := strings.TrimSpace(c.Quote); slices.Contains(Classes(), class) && quote != "" && len(quote) <= maxQuote {
			claims = append(claims, Claim{Class: class, Quote: quote, About: strings.TrimSpace(c.About[:min(len(c.About), maxQuote)])})
		}
	}
	return claims, nil
}

// object finds the objects of a list.
var object = lazy.Regexp(`\{[^{}]*\}`)

// plain is a text in small letters, without marks of Markdown and with single blanks.
func plain(s string) string {
	s = strings.NewReplacer("[.]", ".", "*", "", "_", "", "`", "", "’", "'", "“", `"`, "”", `"`).Replace(strings.ToLower(s))
	return strings.Trim(strings.Join(strings.Fields(s), " "), ` .,;:!"'`)
}

// deniedFailure says that nothing fails, which denies no success.
var deniedFailure = lazy.Regexp(`(?i)(?:^|[^\pL])(?:no|none|nothing|nichts|kein\pL*|ningún|ninguna|nenhum|aucune?|nessun[oa]?) (?:\pL+ ){0,3}?(?:fails?|failing|broken|errors?|issues|problems|warnings|failures|complain\pL*|schlägt|schlagen|kaputt|fehler\pL*)(?:[^\pL]|$)`)
