package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

const (
	shortest = 6    // shorter secrets, in bytes, are ignored
	patterns = 8192 // the maximum number of forms to look for
)

// index finds any of many fixed strings in one pass: a bit set over hashes of
// four bytes says where to look closer.
type index struct {
	bits  [1 << 10]uint64
	heads map[uint32][]string // by first four bytes, longest first
}

func newIndex(values []string) *index {
	x := &index{heads: map[uint32][]string{}}
	count := 0
	for _, v := range values {
		for _, form := range forms(v) {
			h := head(form)
			if slices.Contains(x.heads[h], form) || count == patterns {
				continue
			}
			count++
			x.heads[h] = append(x.heads[h], form)
			x.bits[slot(h)>>6] |= 1 << (slot(h) & 63)
		}
	}
	for _, list := range x.heads {
		slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	}
	return x
}

// forms returns the encodings in which a secret may appear.
func forms(v string) []string {
	v = strings.TrimSpace(v)
	if len(v) < shortest || len(v) > valueBound/4 {
		return nil
	}
	h := hex.EncodeToString([]byte(v))
	list := []string{v, h, strings.ToUpper(h), url.QueryEscape(v), url.PathEscape(v)}
	if quoted, err := json.Marshal(v); err == nil {
		list = append(list, string(quoted[1:len(quoted)-1]))
	}
	// Within longer text the base64 form depends on where the secret begins. The
	// ends, which mix with the neighbouring bytes, are left out.
	for shift := range 3 {
		padded := append(make([]byte, shift), v...)
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := enc.EncodeToString(padded)
			text = text[(shift*8+5)/6 : len(padded)*8/6]
			if len(text) >= 8 {
				list = append(list, text)
			}
		}
	}
	return list
}

func head(s string) uint32 {
	_ = s[3] // one bounds check for the four
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func slot(h uint32) uint32 { return (h * 2654435761) >> 16 }

// at returns the end of the known string that begins at i, or 0.
func (x *index) at(s string, i int) (to int, open bool) {
	for _, form := range x.heads[head(s[i:])] {
		if strings.HasPrefix(s[i:], form) {
			return i + len(form), open
		}
		open = open || len(s)-i < len(form) && strings.HasPrefix(form, s[i:])
	}
	return 0, open
}

// mayBegin reports whether rest, shorter than four bytes, begins a known string.
func (x *index) mayBegin(rest string) bool {
	for _, list := range x.heads {
		for _, form := range list {
			if strings.HasPrefix(form, rest) {
				return true
			}
		}
	}
	return false
}

// knownValues finds live secrets, anywhere in a word.
func (p *pass) knownValues(from int) {
	s := p.s
	i := from
	for i+4 <= len(s) {
		if n := slot(head(s[i:])); p.known.bits[n>>6]&(1<<(n&63)) == 0 {
			i++
			continue
		}
		p.trigger = i
		to, open := p.known.at(s, i)
		if open && !p.final {
			p.hold(i)
		}
		if to > 0 {
			p.maskAs(i, to, hidden)
			i = to
			continue
		}
		i++
	}
	if p.final {
		return
	}
	for ; i < len(s); i++ {
		if p.known.mayBegin(s[i:]) {
			p.trigger = i
			p.hold(i)
			return
		}
	}
}
