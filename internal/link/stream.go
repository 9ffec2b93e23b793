package link

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxHeld bounds how much of a text is held back until it is known whether it is a link, in bytes.
const maxHeld = 4 << 10

// Stream changes a text that arrives in pieces. It holds back what may be part of a link until the
// next space. It must not be used concurrently.
type Stream struct {
	guard Guard
	held  string
	hosts []string
	// broken is set until the next space after a piece that is too long to be judged.
	broken bool
	// last is the last piece without whitespace, which the next text may go on with.
	last string
	// before is what an earlier text ended with, until the first piece was judged.
	before string
}

// Stream returns a stream at the start of a text.
func (g Guard) Stream() *Stream { return &Stream{guard: g} }

// After returns a stream for a text that is shown right behind another one: what both make a link of is
// judged as a whole.
func (g Guard) After(other *Stream) *Stream {
	s := g.Stream()
	if other != nil {
		s.before = other.last
	}
	return s
}

// Feed takes the next piece and returns what can be shown of the text so far.
func (s *Stream) Feed(piece string) string {
	s.held += piece
	var b strings.Builder
	for {
		end, next := boundary(s.held[:min(len(s.held), maxHeld+utf8.UTFMax)])
		if end < 0 && len(s.held) <= maxHeld {
			break
		}
		if end < 0 || end > maxHeld {
			s.tooLong(&b)
			continue
		}
		b.WriteString(s.run(s.held[:end]))
		b.WriteString(s.held[end:next])
		s.held, s.broken, s.last, s.before = s.held[next:], false, "", ""
	}
	cut := safe(s.held)
	b.WriteString(s.run(s.held[:cut]))
	s.held = s.held[cut:]
	return b.String()
}

// tooLong takes a part of a piece that does not end. It ends where no link goes on, if there is such a
// place; else nothing in the piece stays that could be a link.
func (s *Stream) tooLong(b *strings.Builder) {
	cut := strings.LastIndexAny(s.held[:maxHeld], noLink)
	if cut > 0 && !s.broken {
		b.WriteString(s.run(s.held[:cut]))
		s.held = s.held[cut:]
		return
	}
	for cut = maxHeld; cut > maxHeld-utf8.UTFMax && !utf8.RuneStart(s.held[cut]); {
		cut--
	}
	s.broken = true
	b.WriteString(s.run(s.held[:cut]))
	s.held = s.held[cut:]
}

// End returns the rest of the text. What is fed afterwards is judged with what it goes on with.
func (s *Stream) End() string {
	rest := s.run(s.held)
	s.held, s.before = "", s.last
	return rest
}

// Hosts returns the hosts of the links that were changed, each once.
func (s *Stream) Hosts() []string { return s.hosts }

func (s *Stream) run(text string) string {
	if text == "" {
		return ""
	}
	var hosts []string
	apart := ""
	if s.before != "" {
		if _, joined := s.guard.run(s.before + text); len(joined) > 0 {
			s.broken, apart, hosts = true, "\n", joined // what was shown before must not go on with it
		}
		s.before = ""
	}
	if s.last += text; len(s.last) > maxHeld {
		s.last = s.last[len(s.last)-maxHeld:]
	}
	if s.broken {
		if hosts == nil && strings.ContainsAny(text, ".:&") {
			hosts = []string{shown("")}
		}
		text = apart + breaks.Replace(plain(text))
	} else {
		text, hosts = s.guard.run(text)
	}
	for _, h := range hosts {
		if !slices.Contains(s.hosts, h) {
			s.hosts = append(s.hosts, h)
		}
	}
	return text
}

var breaks = strings.NewReplacer("//", "[//]", ".", "[.]", ":", "[:]", "&", "[&]")

// noLink are characters that end a link.
const noLink = "<>\"'`|"

// boundary returns where the first piece ends that can be judged by itself, and where the whitespace
// after it does; -1 for none yet. Spaces in brackets and quotes that may have a link do not end it, nor
// do line breaks in quotes, which browsers drop.
func boundary(s string) (end, next int) {
	var closer, quote byte
	opened, quoted := 0, 0
	address := false // in the brackets of a Markdown link, which only ASCII whitespace ends
	value := true    // what follows may be the value of an attribute
	target := false  // what follows is the address of a link
	for i, r := range s {
		if r == ')' || r == '(' && i > 0 && s[i-1] == ']' {
			address = r == '('
		}
		switch {
		case r == '\n', r == '\r':
			inside := quote != 0 && (mayHaveLink(s[quoted:i]) || mayBeScheme(s[quoted:i]))
			if !target && !inside || i > maxHeld {
				return i, i + 1
			}
			continue
		case address && r >= 0x80 && unicode.IsSpace(r):
			continue
		case unicode.IsSpace(r):
			follows := target || value && i > 0 && !mayHaveLink(s[:i]) // src= "…"
			inside := closer != 0 && mayHaveLink(s[opened:i])
			if !follows && !inside || i > maxHeld {
				return i, i + utf8.RuneLen(r)
			}
			continue
		case quote != 0 && r == rune(quote):
			quote = 0
			if closer != '>' {
				closer = 0
			}
		case quote != 0:
		case closer == '>' && r == '>':
			closer = 0
		case r == '<' && (i+1 == len(s) || begins(s[i+1])):
			closer, opened = '>', i
		case (r == '"' || r == '\'') && value:
			quote, quoted = s[i], i+1
			if closer != '>' && i > 0 {
				closer, opened = s[i], i
			}
		}
		value = r == '='
		target = i > 0 && (closer != 0 && quoted == i+1 || s[i-1] == ']' && (r == '(' || r == ':'))
	}
	return -1, -1
}

// mayBeScheme reports whether what a value begins with may be part of the scheme of a link.
func mayBeScheme(s string) bool {
	return len(s) <= 64 && !strings.ContainsFunc(strings.TrimSpace(s), func(r rune) bool { return r != '\n' && r != '\r' && r != '\t' && (r >= 0x80 || !isWord(r)) })
}

// mayHaveLink reports whether a text that began with a quote or bracket may be or become a link, or the tag of one.
func mayHaveLink(s string) bool {
	return strings.ContainsAny(s[:min(len(s), 64)], ":/\\&") || len(s) >= 5 && (strings.EqualFold(s[:5], "<base") || strings.EqualFold(s[:5], "<form"))
}

// begins reports whether a character can begin a link or the name of an HTML tag.
func begins(c byte) bool {
	return c == '/' || c == '\\' || c == '&' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// safe returns how much of a piece without whitespace is certainly no part of a link: words in scripts that
// write no spaces are shown as they arrive.
func safe(s string) int {
	if strings.ContainsAny(s, ":./\\&@<%") {
		return 0
	}
	cut := 0
	for i, r := range s {
		if !unspacedScript(r) {
			break
		}
		cut = i + utf8.RuneLen(r)
	}
	return cut
}

// unspacedScript reports whether a character is of a script that writes no spaces, and no dot or letter of ASCII
// in another shape.
func unspacedScript(r rune) bool {
	return r >= 0x2E80 && r != utf8.RuneError && r != 0x3002 && (r < 0xFF01 || r > 0xFF61) && visible(r) > 0
}
