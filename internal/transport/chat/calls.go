package chat

import (
	"encoding/json"
	"strings"

	"hermes"
	"hermes/internal/transport/base"
)

// calls assembles tool calls from their pieces. Every service numbers, names and
// repeats these in its own way; here each call gets an index, an id and a name.
type calls struct {
	slots []*slot
	ids   base.Fresh
}

type slot struct {
	index     int // as the service numbers it, -1 if it does not
	id        string
	sentID    string // the id that was passed on
	name      string
	arguments strings.Builder
}

func newCalls(history []hermes.Message) calls { return calls{ids: base.FreshAfter(history)} }

func (c *calls) any() bool { return len(c.slots) > 0 }

// add processes the piece at the given index of its list, and returns what to pass
// on, or nil.
func (c *calls) add(p *callPiece, place int) *hermes.CallDelta {
	at := c.find(p, place)
	if at < 0 {
		c.slots = append(c.slots, &slot{index: -1}) // pointers: a builder must not be copied
		at = len(c.slots) - 1
		if p.Index != nil {
			c.slots[at].index = *p.Index
		}
	}
	s := c.slots[at]
	d := &hermes.CallDelta{Index: at, Arguments: string(p.Function.Arguments)}
	if s.id == "" && p.ID != "" {
		s.id = p.ID
		if s.sentID == "" {
			s.sentID = c.ids.ID(p.ID)
			d.ID = s.sentID
		}
	}
	if s.name == "" && p.Function.Name != "" {
		s.name, d.Name = p.Function.Name, p.Function.Name
	}
	s.arguments.WriteString(d.Arguments)
	if p.Extra != nil {
		d.Signature = p.Extra.Google.Signature
	}
	if d.ID == "" && d.Name == "" && d.Arguments == "" && d.Signature == "" {
		return nil
	}
	return d
}

// find returns the call that a piece belongs to, or -1 for a new one.
func (c *calls) find(p *callPiece, place int) int {
	if p.ID != "" {
		for i := range c.slots {
			if c.slots[i].id == p.ID && (p.Index == nil || c.slots[i].index == *p.Index) {
				return i
			}
		}
	}
	if p.Index != nil {
		return c.byIndex(p)
	}
	last := len(c.slots) - 1
	switch {
	case last < 0:
		return -1
	case p.ID != "" && c.slots[last].id != "":
		return -1 // a new id
	case p.Function.Name == "":
		return last
	case place > 0 || c.slots[last].name != "" && c.slots[last].complete():
		return -1
	}
	return last
}

// byIndex finds the latest call with the piece's number. Some services number
// every call 0; then a new id together with a name begins a new call.
func (c *calls) byIndex(p *callPiece) int {
	for i := len(c.slots) - 1; i >= 0; i-- {
		s := c.slots[i]
		if s.index != *p.Index {
			continue
		}
		if p.ID != "" && s.id != "" && p.ID != s.id && p.Function.Name != "" {
			return -1
		}
		if p.ID == "" && p.Function.Name != "" && s.name != "" && p.Function.Arguments != "" && s.complete() {
			return -1
		}
		return i
	}
	return -1
}

// complete reports whether the arguments are already a whole object.
func (s *slot) complete() bool {
	text := s.arguments.String()
	return strings.HasSuffix(text, "}") && json.Valid([]byte(text))
}

// check refuses calls if none of them names a tool.
func (c *calls) check() error {
	named := 0
	for i := range c.slots {
		if c.slots[i].name != "" {
			named++
		}
	}
	return base.Named(len(c.slots), named)
}

// endings gives an id to each call that got none.
func (c *calls) endings() []hermes.Delta {
	var ds []hermes.Delta
	for i := range c.slots {
		if c.slots[i].sentID == "" {
			c.slots[i].sentID = c.ids.ID("")
			ds = append(ds, hermes.Delta{Call: &hermes.CallDelta{Index: i, ID: c.slots[i].sentID}})
		}
	}
	return ds
}
