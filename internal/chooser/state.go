package chooser

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// state is the list between two keys.
type state struct {
	items   []string
	current int
	query   string
	fit     []int
	at, top int // the highlighted and the first shown item, as indexes into fit
	rows    int
	width   int
}

func newState(o Options, rows, width int) *state {
	s := &state{items: o.Items, current: o.Current, rows: max(rows, 1), width: max(width, 20)}
	s.narrow("")
	for i, index := range s.fit {
		if index == o.Current {
			s.move(i)
		}
	}
	return s
}

// outcome is the result of a key.
type outcome int

const (
	going outcome = iota
	chosen
	cancelled
)

// press handles input from the keyboard: one key, or several at once.
func (s *state) press(keys string) outcome {
	for keys != "" {
		key, rest := split(keys)
		keys = rest
		if o := s.key(key); o != going {
			return o
		}
	}
	return going
}

// split separates the first key from the rest.
func split(keys string) (key, rest string) {
	if strings.HasPrefix(keys, "\x1b[") || strings.HasPrefix(keys, "\x1bO") {
		for i := 2; i < len(keys); i++ {
			if c := keys[i]; c >= 0x40 && c <= 0x7e {
				return keys[:i+1], keys[i+1:]
			}
		}
		return keys, ""
	}
	_, n := utf8.DecodeRuneInString(keys)
	return keys[:n], keys[n:]
}

func (s *state) key(key string) outcome {
	switch key {
	case "\r", "\n":
		if len(s.fit) == 0 {
			return going
		}
		return chosen
	case "\x1b", "\x03", "\x04":
		return cancelled
	case "\x1b[A", "\x1bOA", "\x10", "\x0b":
		s.move(s.at - 1)
	case "\x1b[B", "\x1bOB", "\x0e", "\t":
		s.move(s.at + 1)
	case "\x1b[5~":
		s.move(s.at - s.rows)
	case "\x1b[6~":
		s.move(s.at + s.rows)
	case "\x1b[H", "\x1bOH", "\x1b[1~":
		s.move(0)
	case "\x1b[F", "\x1bOF", "\x1b[4~":
		s.move(len(s.fit) - 1)
	case "\x7f", "\b":
		_, n := utf8.DecodeLastRuneInString(s.query)
		s.narrow(s.query[:len(s.query)-n])
	case "\x15", "\x17":
		s.narrow("")
	default:
		if r, _ := utf8.DecodeRuneInString(key); unicode.IsPrint(r) && r != utf8.RuneError {
			s.narrow(s.query + key)
		}
	}
	return going
}

func (s *state) narrow(query string) {
	s.query, s.fit = query, Match(s.items, query)
	s.at, s.top = 0, 0
}

func (s *state) move(to int) {
	s.at = max(0, min(to, len(s.fit)-1))
	s.top = min(s.top, s.at)
	s.top = max(s.top, s.at-s.rows+1)
}

// choice is the index of the chosen item.
func (s *state) choice() int { return s.fit[s.at] }

// lines are the shown lines: the query, a part of the list, and a hint.
func (s *state) lines(title string) []string {
	out := []string{clip(title+" › "+s.query, s.width-1)}
	for i := s.top; i < min(len(s.fit), s.top+s.rows); i++ {
		mark, note := "  ", ""
		if s.fit[i] == s.current {
			note = "  (in use)"
		}
		line := clip(s.items[s.fit[i]]+note, s.width-3)
		if i == s.at {
			mark, line = "\x1b[7m› ", line+" \x1b[0m"
		}
		out = append(out, mark+line)
	}
	hint := fmt.Sprintf("%d of %d · type to filter, ↑ ↓ to move, Enter to choose, Esc to cancel", len(s.fit), len(s.items))
	if len(s.fit) == 0 {
		hint = "no match · Backspace to delete, Esc to cancel"
	}
	return append(out, "\x1b[2m"+clip(hint, s.width-1)+"\x1b[0m")
}

// clip cuts a text to a number of columns and drops control characters.
func clip(text string, columns int) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	return displaywidth.TruncateString(text, columns, "")
}
