package swap

import (
	"bytes"
	"slices"
	"strings"

	"hermes/internal/order"
)

// patterns finds the values of all secrets, in all of their forms.
type patterns struct {
	list    []pattern
	first   [256]bool // bytes with which a pattern begins
	longest int
	early   int // see scanner.release
}

func newPatterns(list []pattern) *patterns {
	// A value may hold another one, as "user:token" does: the longer one goes first.
	list = slices.Clone(list)
	order.By(list, func(a, b pattern) int { return len(b.find) - len(a.find) })
	p := &patterns{list: list}
	for i, one := range list {
		p.first[one.find[0]] = true
		p.longest = max(p.longest, len(one.find))
		if quarter := len(one.find) / 4; i == 0 || quarter < p.early {
			p.early = quarter
		}
	}
	return p
}

// replace puts placeholders over the values in a text. Nothing moves: the lengths are equal.
func (p *patterns) replace(text []byte) {
	for _, one := range p.list {
		find := []byte(one.find)
		for at := 0; ; {
			i := bytes.Index(text[at:], find)
			if i < 0 {
				break
			}
			at += i + copy(text[at+i:], one.put)
		}
	}
}

// clean is replace for a whole text.
func (p *patterns) clean(text string) string {
	if len(text) < minValue {
		return text
	}
	out := []byte(text)
	p.replace(out)
	return string(out)
}

// inName reports whether the name of a field holds a value. HTTP has no case in names, and
// net/http writes them in one of its own.
func (p *patterns) inName(name string) bool {
	if len(name) < minValue {
		return false
	}
	name = strings.ToLower(name)
	return slices.ContainsFunc(p.list, func(one pattern) bool { return strings.Contains(name, strings.ToLower(one.find)) })
}

// begins returns from where on a text may be the beginning of a value; its length if nowhere.
func (p *patterns) begins(text []byte) int {
	for i := max(0, len(text)-p.longest+1); i < len(text); i++ {
		if !p.first[text[i]] {
			continue
		}
		for _, one := range p.list {
			if rest := text[i:]; len(rest) < len(one.find) && one.find[:len(rest)] == string(rest) {
				return i
			}
		}
	}
	return len(text)
}

// across reports whether a value begins before a place in a text and ends after it.
func (p *patterns) across(text []byte, at int) bool {
	return slices.ContainsFunc(p.list, func(one pattern) bool {
		n := len(one.find) - 1
		return bytes.Contains(text[max(0, at-n):min(len(text), at+n)], []byte(one.find))
	})
}

// scanner replaces values in a stream. It keeps back only what may be the beginning of a
// value, at most one byte less than the longest form.
type scanner struct {
	patterns *patterns
	text     []byte // of the last feed
	held     []byte // what was kept back of it
	out      int    // how many bytes of held were released nevertheless
}

// feed takes the next piece and returns what may go out now. The result is valid until the
// next call.
func (s *scanner) feed(piece []byte) []byte {
	s.text = append(append(s.text[:0], s.held...), piece...)
	// What begins a longer value may hold a shorter one, which is replaced only if the longer
	// one does not follow. So it is looked for before anything is replaced.
	from := s.patterns.begins(s.text)
	if s.patterns.across(s.text, from) {
		s.patterns.replace(s.text)
		from = s.patterns.begins(s.text)
	} else {
		s.patterns.replace(s.text[:from])
	}
	s.held = append(s.held[:0], s.text[from:]...)
	done := min(s.out, from)
	s.out -= done
	return s.text[done:from]
}

// release returns what may go out of the bytes that are kept back if nothing follows for a
// while, because a client may wait for just these. It is less than a quarter of any form of
// a value; if the rest of one follows, that rest is replaced.
func (s *scanner) release() []byte {
	until := min(len(s.held), s.patterns.early)
	if until <= s.out {
		return nil
	}
	part := s.held[s.out:until]
	s.out = until
	return part
}

// waits reports whether release would return something.
func (s *scanner) waits() bool { return min(len(s.held), s.patterns.early) > s.out }

// rest returns what is kept back when the stream has ended. The beginning of a value that is
// longer than half of it is replaced: a host that cuts its echo shows almost all.
func (s *scanner) rest() []byte {
	for i := range s.held {
		for _, one := range s.patterns.list {
			tail := s.held[i:]
			if 2*len(tail) > len(one.find) && len(tail) < len(one.find) && one.find[:len(tail)] == string(tail) {
				copy(tail, one.put)
				break
			}
		}
	}
	s.patterns.replace(s.held)
	rest := s.held[s.out:]
	s.held, s.out = nil, 0
	return rest
}
