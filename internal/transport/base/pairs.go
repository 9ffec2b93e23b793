package base

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"hermes"
)

// Pairs says, by index, which messages hold results that are sent, and which calls
// of each message are sent.
type Pairs struct {
	Results []bool   // by message
	Calls   [][]bool // by message and call
}

// PairsOf finds the first result of each call before the next message of the
// assistant. Calls and results without a counterpart must not be sent: services
// refuse them.
func PairsOf(msgs []hermes.Message) Pairs {
	kept := Pairs{make([]bool, len(msgs)), make([][]bool, len(msgs))}
	asked := -1
	for i, msg := range msgs {
		switch msg.Role {
		case hermes.RoleAssistant:
			asked = i
			kept.Calls[i] = make([]bool, len(msg.Calls))
		case hermes.RoleTool:
			if asked < 0 {
				continue
			}
			answered := kept.Calls[asked]
			for j, c := range msgs[asked].Calls {
				if c.ID == msg.CallID && !answered[j] {
					answered[j], kept.Results[i] = true, true
					break
				}
			}
		}
	}
	return kept
}

// IDs converts the ids of one request's calls to the form that the strictest
// services accept: up to 64 letters, digits, underscores and hyphens. Of two names
// separated by a bar it keeps the first. Different ids stay different, and the
// same transcript always gives the same ids. The zero value is ready.
type IDs struct {
	as    map[string]string
	taken map[string]bool
}

// Of returns the id as it is sent.
func (x *IDs) Of(id string) string {
	if short, ok := x.as[id]; ok {
		return short
	}
	if x.as == nil {
		x.as, x.taken = map[string]string{}, map[string]bool{}
	}
	short := shorten(id)
	if short == "" || x.taken[short] {
		short = HashID(id)
	}
	x.as[id], x.taken[short] = short, true
	return short
}

// HashID returns an id of 29 letters, digits and underscores, always the same for
// the same input.
func HashID(id string) string {
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:12])
}

func shorten(id string) string {
	head, _, _ := strings.Cut(id, "|")
	const longest = 64
	if len(head) > longest {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, head)
}

// NewID returns an id for a call whose service gave none.
func NewID() string { return "call_" + rand.Text()[:16] }

// Fresh makes ids that no call of the transcript has, since results are matched
// by id.
type Fresh struct{ used map[string]bool }

// FreshAfter returns a Fresh that avoids the ids of a transcript.
func FreshAfter(msgs []hermes.Message) Fresh {
	f := Fresh{map[string]bool{}}
	for _, m := range msgs {
		for _, c := range m.Calls {
			f.used[c.ID] = true
		}
	}
	return f
}

// ID returns the service's id, or a new one if it is empty or was used.
func (f Fresh) ID(id string) string {
	if id == "" || f.used[id] {
		id = NewID()
	}
	f.used[id] = true
	return id
}
