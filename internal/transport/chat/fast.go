package chat

import (
	"bytes"
	"unicode/utf8"
)

// An answer of many thousand chunks consists mostly of plain text. plain reads
// such chunks in one pass over the bytes with one allocation, and leaves anything
// else to encoding/json. Its result must never differ from encoding/json
// (TestFastPathAgrees).

// plain returns the text of a chunk that contains only a piece of text.
func plain(data []byte) (text string, ok bool) {
	s := scanner{in: data}
	if !s.byte('{') {
		return "", false
	}
	var piece []byte
	seen := false
	for {
		key, ok := s.key()
		if !ok {
			return "", false
		}
		switch string(key) {
		case "choices":
			if seen {
				return "", false
			}
			if piece, ok = s.choices(); !ok {
				return "", false
			}
			seen = true
		case "id", "object", "created", "model", "provider", "system_fingerprint", "service_tier", "obfuscation":
			if !s.scalar() {
				return "", false
			}
		default: // null values have no effect
			if !s.null() {
				return "", false
			}
		}
		if s.byte(',') {
			continue
		}
		if !s.byte('}') || s.pos != len(s.in) || !seen || len(piece) == 0 {
			return "", false
		}
		return unescape(piece)
	}
}

// scanner walks over JSON without building anything. It accepts blanks only where
// services write them: after a colon or a comma.
type scanner struct {
	in  []byte
	pos int
}

func (s *scanner) byte(c byte) bool {
	if s.pos < len(s.in) && s.in[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) blanks() {
	for s.pos < len(s.in) && s.in[s.pos] == ' ' {
		s.pos++
	}
}

// string returns the text between the quotes, including escapes.
func (s *scanner) string() ([]byte, bool) {
	if !s.byte('"') {
		return nil, false
	}
	start := s.pos
	for s.pos < len(s.in) {
		n := bytes.IndexByte(s.in[s.pos:], '"')
		if n < 0 {
			return nil, false
		}
		s.pos += n + 1
		if !escaped(s.in[start : s.pos-1]) {
			return s.in[start : s.pos-1], true
		}
	}
	return nil, false
}

// escaped reports whether the quote after b belongs to the string.
func escaped(b []byte) bool {
	n := 0
	for n < len(b) && b[len(b)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// key reads a lower-case key and its colon. (Capitals are left to encoding/json,
// which ignores case.)
func (s *scanner) key() ([]byte, bool) {
	s.blanks()
	key, ok := s.string()
	if !ok || !s.byte(':') {
		return nil, false
	}
	for _, c := range key {
		if c != '_' && (c < 'a' || c > 'z') {
			return nil, false
		}
	}
	s.blanks()
	return key, true
}

func (s *scanner) literal(word string) bool {
	if bytes.HasPrefix(s.in[s.pos:], []byte(word)) {
		s.pos += len(word)
		return true
	}
	return false
}

func (s *scanner) null() bool { return s.literal("null") }

// scalar skips a string without escapes, a whole number or null.
func (s *scanner) scalar() bool {
	if s.pos < len(s.in) && s.in[s.pos] == '"' {
		text, ok := s.string()
		return ok && clean(text)
	}
	return s.number() || s.null()
}

// number skips a whole number of a few digits.
func (s *scanner) number() bool {
	start := s.pos
	for s.pos < len(s.in) && s.in[s.pos] >= '0' && s.in[s.pos] <= '9' {
		s.pos++
	}
	n := s.pos - start
	return n > 0 && n < 16 && (n == 1 || s.in[start] != '0')
}

func clean(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// choices reads a list of one choice whose delta has text only.
func (s *scanner) choices() (piece []byte, ok bool) {
	if !s.literal("[{") {
		return nil, false
	}
	for {
		key, ok := s.key()
		if !ok {
			return nil, false
		}
		switch string(key) {
		case "index":
			ok = s.literal("0")
		case "delta":
			if piece != nil {
				return nil, false
			}
			piece, ok = s.delta()
		default:
			ok = s.null()
		}
		if !ok {
			return nil, false
		}
		if s.byte(',') {
			continue
		}
		return piece, s.literal("}]")
	}
}

func (s *scanner) delta() (piece []byte, ok bool) {
	if !s.byte('{') {
		return nil, false
	}
	for {
		key, ok := s.key()
		if !ok {
			return nil, false
		}
		switch string(key) {
		case "content":
			if piece != nil {
				return nil, false
			}
			piece, ok = s.string()
		case "role":
			ok = s.scalar()
		default:
			ok = s.null()
		}
		if !ok {
			return nil, false
		}
		if s.byte(',') {
			continue
		}
		return piece, s.byte('}')
	}
}

// unescape returns the string; only the short escapes are known here.
func unescape(piece []byte) (string, bool) {
	first := -1
	for i, c := range piece {
		if c < ' ' {
			return "", false
		}
		if c == '\\' && first < 0 {
			first = i
		}
	}
	if !utf8.Valid(piece) {
		return "", false
	}
	if first < 0 {
		return string(piece), true
	}
	out := append(make([]byte, 0, len(piece)), piece[:first]...)
	for i := first; i < len(piece); i++ {
		if piece[i] != '\\' {
			out = append(out, piece[i])
			continue
		}
		if i++; i == len(piece) {
			return "", false
		}
		switch piece[i] {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case '"', '\\', '/':
			out = append(out, piece[i])
		default:
			return "", false
		}
	}
	return string(out), true
}
