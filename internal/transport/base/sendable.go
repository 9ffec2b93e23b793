package base

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"hermes"
)

// Sendable returns a transcript whose calls have different ids and arguments that every
// service can read. Some servers start their ids again with each answer, and models
// write half a surrogate pair; with either, other services refuse every later request.
// What a call is sent as depends on the messages before it only, so that a transcript
// that grows keeps its beginning. msgs is not changed.
func Sendable(msgs []hermes.Message) []hermes.Message {
	ids := ids{used: map[string]bool{}, tried: map[string]int{}}
	open := map[string][]string{} // the new ids of the calls that wait for a result, by the old one
	copied := false
	change := func(i int) *hermes.Message {
		if !copied {
			msgs, copied = slices.Clone(msgs), true
		}
		return &msgs[i]
	}
	for i := range msgs {
		switch msg := msgs[i]; msg.Role {
		case hermes.RoleAssistant:
			clear(open)
			calls := msg.Calls
			for j, c := range msg.Calls {
				id, arguments := ids.unused(c.ID), WellFormed(c.Arguments)
				open[c.ID] = append(open[c.ID], id)
				if id == c.ID && arguments == c.Arguments {
					continue
				}
				if &calls[0] == &msg.Calls[0] {
					calls = slices.Clone(calls)
				}
				calls[j].ID, calls[j].Arguments = id, arguments
				change(i).Calls = calls
			}
		case hermes.RoleTool:
			waiting := open[msg.CallID]
			if len(waiting) == 0 {
				continue // it belongs to no call and is not sent
			}
			open[msg.CallID] = waiting[1:]
			if waiting[0] != msg.CallID {
				change(i).CallID = waiting[0]
			}
		}
	}
	return msgs
}

// ids are the ids of a transcript.
type ids struct {
	used  map[string]bool
	tried map[string]int // the last number that was put behind an id; all before it are used
}

// unused returns the id, with a number behind it if it was used, and notes it.
func (i ids) unused(id string) string {
	next := id
	for n := max(1, i.tried[id]); i.used[next]; {
		n++
		next = id + "_" + strconv.Itoa(n)
		i.tried[id] = n
	}
	i.used[next] = true
	return next
}

// WellFormed returns a JSON text in which each escaped half of a surrogate pair that
// has no other half (RFC 8259, section 8.2) is the replacement character. JSON readers
// differ on such a half: many refuse the whole text.
func WellFormed(text string) string {
	if !strings.Contains(text, `\u`) {
		return text
	}
	var b strings.Builder
	kept := 0 // the text up to here was written
	for i := 0; i < len(text); {
		switch r, ok := unit(text[i:]); {
		case ok && utf16.IsSurrogate(r):
			if low, pair := unit(text[i+unitLength:]); pair && utf16.DecodeRune(r, low) != '\ufffd' {
				i += 2 * unitLength
				continue
			}
			b.WriteString(text[kept:i] + `\ufffd`)
			i += unitLength
			kept = i
		case ok:
			i += unitLength
		case text[i] == '\\':
			i += 2 // an escaped backslash does not begin another escape
		default:
			i++
		}
	}
	if kept == 0 {
		return text
	}
	return b.String() + text[kept:]
}

// unitLength is the length of \u0000.
const unitLength = 6

// unit reads an escape such as \ud83d at the beginning of a text.
func unit(s string) (rune, bool) {
	if len(s) < unitLength || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:unitLength], 16, 32)
	return rune(n), err == nil
}
