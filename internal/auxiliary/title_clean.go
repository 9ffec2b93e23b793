package auxiliary

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"hermes"
	"hermes/internal/lazy"
	"hermes/internal/thinktag"
)

// maxTitleWords is the maximum number of words; a longer title is a sentence.
const maxTitleWords = 12

// CleanTitle makes a title of a model's answer. It decodes JSON, removes invisible
// characters, a label, and quotes and Markdown marks that enclose the whole title,
// and cuts after 80 characters with dots. It returns "" for thinking, incomplete
// JSON and whole sentences.
func CleanTitle(answer string) string {
	text := fromJSON(unfenced(trimInvisible(thinktag.Answer(answer))))
	text = unwrapped(firstLine(text))
	text = unwrapped(withoutLabel(text))
	if rest, ok := strings.CutSuffix(text, "."); ok && !strings.HasSuffix(rest, ".") && !isSentence(text) {
		text = rest
	}
	text, err := hermes.CleanTitle(cutRunes(text, maxTitleRunes))
	if err != nil || isSentence(text) {
		return ""
	}
	return text
}

func trimInvisible(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || hermes.Invisible(r) })
}

// firstLine returns the first line that can be seen, without invisible characters.
func firstLine(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.Map(func(r rune) rune {
			if hermes.Invisible(r) && !unicode.IsSpace(r) {
				return -1
			}
			return r
		}, line)
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// unfenced removes the fence of a code block. Its language is on the line of the
// opening fence, which a title on one line does not have.
func unfenced(text string) string {
	inner, ok := strings.CutPrefix(text, "```")
	if !ok {
		return text
	}
	if _, body, ok := strings.Cut(inner, "\n"); ok {
		inner = body
	}
	return trimInvisible(strings.TrimSuffix(trimInvisible(inner), "```"))
}

// fromJSON returns the title in a JSON object, list or string. A text that is no
// JSON is returned unchanged, unless it is an object that was cut off.
func fromJSON(text string) string {
	if text == "" || !strings.ContainsRune(`{["`, rune(text[0])) {
		return text
	}
	d := json.NewDecoder(strings.NewReader(text))
	var v any
	if err := d.Decode(&v); err != nil {
		if begun := strings.TrimSpace(text[1:]); text[0] == '{' && strings.HasPrefix(begun, `"`) {
			return ""
		}
		return text
	}
	// Words after a list or a string are part of a title: [1] and "A" are JSON.
	if rest := strings.TrimSpace(text[d.InputOffset():]); rest != "" && text[0] != '{' {
		return text
	}
	return titleIn(v, 0)
}

// titleIn finds the title in a JSON value: a string, the first of a list, or the
// field of that name, which may be within another object.
func titleIn(v any, depth int) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		if len(v) > 0 && depth < 3 {
			return titleIn(v[0], depth+1)
		}
	case map[string]any:
		for name, field := range v {
			if text, ok := field.(string); ok && strings.EqualFold(name, "title") {
				return text
			}
		}
		for _, field := range v {
			if inner, ok := field.(map[string]any); ok && len(v) == 1 && depth < 3 {
				return titleIn(inner, depth+1)
			}
		}
	}
	return ""
}

var quotePairs = [...][2]string{{`"`, `"`}, {"'", "'"}, {"“", "”"}, {"„", "“"}, {"„", "”"}, {"‘", "’"}, {"«", "»"}, {"»", "«"}, {"‹", "›"}, {"「", "」"}, {"『", "』"}}

// unwrapped removes quotes and Markdown marks that enclose a whole text, and the
// marks of a heading. Those that belong to a word stay: C#, __init__, `go vet` runs.
func unwrapped(text string) string {
	for before := ""; before != text; {
		before = text
		text = strings.TrimSpace(text)
		text = withoutHeading(text)
		for _, mark := range [...]string{"***", "**", "*", "__", "_", "```", "`"} {
			inner, ok := enclosed(text, mark, mark)
			word := !strings.ContainsRune(inner, ' ') && strings.Trim(mark, "_") == ""
			if ok && !word { // __init__ is a name
				text = inner
				break
			}
		}
		for _, q := range quotePairs {
			if inner, ok := enclosed(text, q[0], q[1]); ok {
				text = inner
				break
			}
		}
		text = withoutLoneQuote(text)
	}
	return text
}

// enclosed returns what is between two marks that enclose a whole text: neither of
// them occurs in it.
func enclosed(text, first, last string) (string, bool) {
	inner, ok := strings.CutPrefix(text, first)
	inner, also := strings.CutSuffix(inner, last)
	if !ok || !also || inner == "" || strings.Contains(inner, first) || strings.Contains(inner, last) || strings.TrimSpace(inner) == "" {
		return "", false
	}
	return inner, true
}

// withoutHeading removes the marks of a Markdown heading, which a blank separates.
func withoutHeading(text string) string {
	rest := strings.TrimLeft(text, "#")
	if n := len(text) - len(rest); n == 0 || n > 6 || !strings.HasPrefix(rest, " ") {
		return text
	}
	rest = strings.TrimSpace(rest)
	if head := strings.TrimRight(rest, "#"); strings.HasSuffix(head, " ") {
		rest = strings.TrimSpace(head)
	}
	return rest
}

// withoutLoneQuote removes a double quote at one end that has no other.
func withoutLoneQuote(text string) string {
	if strings.Count(text, `"`) == 1 {
		return strings.TrimSuffix(strings.TrimPrefix(text, `"`), `"`)
	}
	return text
}

// withoutLabel removes a leading "Title:", in Markdown marks or not.
func withoutLabel(text string) string {
	const marks = " *_#`\""
	head, rest, ok := strings.Cut(text, ":")
	if !ok {
		return text
	}
	switch strings.ToLower(strings.Trim(head, marks)) {
	case "title", "the title", "session title", "conversation title", "chat title", "titel", "titre", "título", "titolo":
		if opened := strings.TrimLeft(head, " "); opened != "" && strings.Count(opened, "*")%4 == 2 { // **Title:** closes after the colon
			rest = strings.TrimPrefix(strings.TrimSpace(rest), "**")
		}
		return rest
	}
	return text
}

// Prose of a model in place of a title: words before an answer, refusals, and
// remarks on its task. A title may begin with the same words.
var (
	answerOpening = lazy.Regexp(`(?i)^(?:sure|okay|ok|certainly|of course|sorry|absolutely|alright|got it)[,!.:;—-]+\s`)
	answerWords   = lazy.Regexp(`(?i)^(?:here is|here's|here’s|here are|as an ai|this conversation|the conversation|let me (?:think|write|see|try|know|create|generate|help)\b|` +
		`the user (?:wants?|wanted|asks?|asked|is|was|has|had|needs?|needed|says?|said|would|greets?|greeted|requests?|requested|seems|provided|just)\b|` +
		`(?:i|we)(?:['’](?:ll|m|ve|d|re))? (?:think|will|would|should|could|am|are|have|need to|want to|believe|suggest|apologi[sz]e|understand|see)\b|` +
		`(?:i|we)['’](?:ll|m|ve|d|re)\b|` +
		`i (?:cannot|can['’]?t|can not|won['’]?t|do not|don['’]?t) (?:create|write|give|provide|generate|help|assist|answer|do|comply|fulfill?|have|title|name|see|summari[sz]e|know)\b)`)
	aboutTask = lazy.Regexp(`(?i)\b(?:title|conversation|this chat|the chat)\b`)
	bareFirst = lazy.Regexp(`(?i)^(?:i|we|based on|let me|sorry|sure|okay|ok|please|it|this)\b`)
)

// isSentence reports whether a text is prose and not a title: it is too long,
// begins like an answer, or has more than one sentence.
func isSentence(text string) bool {
	words := len(strings.Fields(text))
	ended := strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "...")
	switch {
	case words > maxTitleWords, ended && words > 7, words > 7 && twoSentences(text):
		return true
	case answerOpening().MatchString(text), answerWords().MatchString(text):
		return true
	}
	return bareFirst().MatchString(text) && aboutTask().MatchString(text)
}

// twoSentences reports whether a sentence ends within a text: a full stop after a
// word of more than two letters, and a capital letter.
func twoSentences(text string) bool {
	words := strings.Fields(text)
	for i := range len(words) - 1 {
		word, ok := strings.CutSuffix(words[i], ".")
		next, _ := utf8.DecodeRuneInString(words[i+1])
		if ok && utf8.RuneCountInString(word) > 2 && unicode.IsUpper(next) {
			return true
		}
	}
	return false
}
