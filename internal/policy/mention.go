package policy

import (
	"strings"

	"hermes/internal/lazy"
)

// withoutMentions returns a text without the phrases that it only quotes: what is
// in quotation marks, code or a block quote, in a paragraph that speaks about
// attacks or about finding them.
func withoutMentions(text string) string {
	var out []string
	about := false   // the paragraph before speaks about attacks
	section := false // the heading of the section does
	for _, part := range paragraphs(text) {
		plain := strings.ToLower(part)
		if title := heading(plain); title != "" {
			section = titles().MatchString(title)
		}
		speaks := section || speaking().MatchString(quoted().ReplaceAllString(plain, " "))
		switch {
		case isQuote(part) && (about || speaks):
			part = ""
		case speaks || about && isList(part):
			part = quoted().ReplaceAllString(part, `""`)
		}
		about = speaks || about && (part == "" || isQuote(part) || isList(part))
		out = append(out, part)
	}
	return strings.Join(out, "\n\n")
}

// speaking matches words with which a text speaks about attacks.
var speaking = lazy.Regexp(`\b(?:injections?|inject(?:s|ed|ing)|jailbreaks?|attack(?:s|ers?|ing)?|malicious|adversarial|hostile|untrusted|suspicious|phrases?|wordings?|detect(?:s|ed|ion|or|ors)?|scann(?:er|ers|ing)|blocklist|red[ -]team(?:ing)?|payloads?|manipulat\w+|spoof\w*|phishing|exfiltration|quote[sd]?|quoting|` +
	`scans?|guards?\s+(?:returns?|finds?|stops?|reports?)|honeypots?|(?:text|phrase|prompt|message|string|sentence|entr(?:y|ie))s?\b[^.\n]{0,60}\brefus(?:es?|ed)|` +
	`(?:customers|users|people|students|attackers|someone|somebody|the\s+villain)\s+(?:\w+\s+)?(?:writes?|types?|says?|hides?|sends?|tr(?:y|ies)|wrote|typed|said|hid|sent|tried)|` +
	`filter\w*|erkenn(?:t|en)|(?:sätze|texte)\s+wie)\b`)

// titles matches headings of sections about attacks.
var titles = lazy.Regexp(`\b(?:injections?|jailbreaks?|attacks?|red[ -]team(?:ing)?|threats?|incidents?|post-?mortems?|scann(?:er|ers|ing)|\w*filters?|moderation|honeypots?|fuzz(?:ing)?|eval(?:uation)?\s+sets?|filtre)\b`)

// heading returns the first line of a paragraph if that is a heading, or "".
func heading(part string) string {
	line, _, _ := strings.Cut(part, "\n")
	if !strings.HasPrefix(line, "#") {
		return ""
	}
	return line
}

// code matches code, which a page shows as it is.
var code = lazy.Regexp("(?s)```.*?```|`[^`\n]{1,400}`")

// quoted matches quotation marks and code with what is in them, in one paragraph.
var quoted = lazy.Regexp("(?s)```.*?```|`[^`\n]{1,400}`|\"[^\"]{1,400}\"|\u201c[^\u201d]{1,400}\u201d|\u201e[^\u201c\u201d]{1,400}[\u201c\u201d]|\u00ab[^\u00bb]{1,400}\u00bb|(?:^|[\\s(])'[^'\n]{3,400}'")

// paragraphs splits a text at blank lines, but not inside a fenced block.
func paragraphs(text string) []string {
	var all []string
	var part []string
	fenced := false
	flush := func() {
		if len(part) > 0 {
			all = append(all, strings.Join(part, "\n"))
			part = nil
		}
	}
	for _, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		trimmed := strings.TrimSpace(line)
		fence := strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~")
		switch {
		case fence && !fenced:
			flush()
			fenced = true
			part = append(part, line)
		case fence:
			part = append(part, line)
			fenced = false
			flush()
		case trimmed == "" && !fenced:
			flush()
		default:
			part = append(part, line)
		}
	}
	flush()
	return all
}

// isQuote reports whether a paragraph is a block quote, a fenced or an indented block.
func isQuote(part string) bool {
	if strings.HasPrefix(part, "    ") || strings.HasPrefix(part, "\t") {
		return true
	}
	trimmed := strings.TrimSpace(part)
	return strings.HasPrefix(trimmed, ">") || strings.HasPrefix(trimmed, "```") && strings.HasSuffix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~")
}

// isList reports whether a paragraph is a list or a table.
func isList(part string) bool {
	trimmed := strings.TrimSpace(part)
	return strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "* ") || strings.HasPrefix(trimmed, "|") || strings.HasPrefix(trimmed, "1.")
}
