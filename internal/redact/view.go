package redact

import (
	"sort"
	"strings"
)

// view is a text as the pass reads it. It has no control characters, terminal
// sequences and invisible characters, since they may be inside a secret. Escaped
// line breaks, tabs and quotes, which are frequent in JSON tool results, are
// decoded. It remembers where each byte came from.
type view struct {
	text   string
	origin string
	// jumps say that from text offset at on, the origin is offset+shift.
	jumps []jump
	// held is where an unfinished sequence at the end of the origin begins.
	held  int
	steps int // bytes that were read, for tests
}

type jump struct{ at, shift int32 }

func newView(s string, final bool) view {
	v := view{text: s, origin: s, held: len(s)}
	d := decoder{s: s, bell: -1, ends: -1}
	var b strings.Builder
	start := 0 // of the stretch not copied yet
	for i := 0; i < len(s); {
		if !specialByte[s[i]] {
			i = nextSpecial(s, i)
			continue
		}
		put, size, whole := d.decode(i)
		if !whole && !final {
			v.held = i
			break
		}
		if size == 0 || put == s[i:i+size] {
			i += max(size, 1)
			continue
		}
		if v.jumps == nil {
			b.Grow(len(s))
			v.jumps = make([]jump, 0, 16+strings.Count(s, "\\"))
		}
		if start < i {
			b.WriteString(s[start:i])
		}
		if put != "" {
			b.WriteByte(put[0]) // a sequence is one byte at most
		}
		i += size
		start = i
		v.jump(b.Len(), i, put == "")
	}
	v.steps = len(s) + d.steps
	if v.jumps == nil {
		v.text = s[:v.held]
		return v
	}
	b.WriteString(s[start:v.held])
	v.text = b.String()
	return v
}

// jump records that the text goes on at an offset of the origin. Sequences that are
// removed one after another share a jump.
func (v *view) jump(at, origin int, removed bool) {
	j := jump{at: int32(at), shift: int32(origin - at)}
	if n := len(v.jumps); removed && n > 0 && v.jumps[n-1].at == j.at && !v.decoded(at, n-1) {
		v.jumps[n-1] = j
		return
	}
	v.jumps = append(v.jumps, j)
}

// decoded reports whether the jump is the end of a decoded sequence, whose text is
// the byte before at.
func (v *view) decoded(at, n int) bool {
	end := at + int(v.jumps[n].shift)
	return end >= 2 && v.origin[end-2] == '\\' || end >= 6 && v.origin[end-6:end-4] == "\\u"
}

// end converts the end of a span to the origin. A decoded sequence belongs to its
// last byte as a whole; what was removed after it does not.
func (v view) end(at int) int {
	last := v.back(at - 1)
	if v.origin[last] != '\\' || v.text[at-1] == '\\' {
		return last + 1
	}
	n := sort.Search(len(v.jumps), func(i int) bool { return int(v.jumps[i].at) >= at })
	return at + int(v.jumps[n].shift)
}

// nextSpecial returns the place of the next special byte from i on. It looks at
// eight bytes at a time, as long as none of them may be special.
func nextSpecial(s string, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for i+8 <= len(s) {
		x := uint64(head(s[i:])) | uint64(head(s[i+4:]))<<32
		slash, del := x^('\\'*ones), x^(0x7f*ones)
		if (x|(x-' '*ones)|(slash-ones)&^slash|(del-ones)&^del)&tops != 0 {
			break
		}
		i += 8
	}
	for end := min(len(s), i+8); i < end; i++ {
		if specialByte[s[i]] {
			return i
		}
	}
	return i
}

// back converts an offset of the text to one of the origin.
func (v view) back(at int) int {
	n := sort.Search(len(v.jumps), func(i int) bool { return int(v.jumps[i].at) > at })
	if n == 0 {
		return at
	}
	return at + int(v.jumps[n-1].shift)
}

// into converts an offset of the origin to one of the text.
func (v view) into(at int) int {
	n := sort.Search(len(v.jumps), func(i int) bool { return int(v.jumps[i].at+v.jumps[i].shift) > at })
	most := len(v.text)
	if n < len(v.jumps) { // a place within a sequence is where the text goes on
		most = int(v.jumps[n].at)
	}
	if n == 0 {
		return min(at, most)
	}
	return min(at-int(v.jumps[n-1].shift), most)
}

// specialByte marks the bytes at which decode must look.
var specialByte = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = c != '\n' && c != '\t'
	}
	t[0x7f], t['\\'] = true, true
	t[0xc2], t[0xe2], t[0xef] = true, true, true // soft hyphen and C1, zero-widths, byte order mark
	return t
}()

// decoder decodes the sequences of a text.
type decoder struct {
	s     string
	bell  int // the next end of a title that was looked for, -1 if not yet
	ends  int
	steps int
}

// decode returns the view's text for the sequence at i, and how many bytes it has;
// 0 means that the first byte is an ordinary one. whole is false if the text ends
// within a possible sequence.
func (d *decoder) decode(i int) (put string, size int, whole bool) {
	s := d.s[i:]
	switch c := s[0]; {
	case c == '\\':
		return decodeEscape(s)
	case c == 0x1b:
		return d.terminal(i)
	case c < 0x20 || c == 0x7f:
		return "", 1, true
	}
	return decodeInvisible(s)
}

// decodeInvisible removes invisible characters and the control characters above
// ASCII: U+0080 to U+009F, the soft hyphen, zero widths, directions, joiners and the
// byte order mark.
func decodeInvisible(s string) (string, int, bool) {
	if len(s) < 2 {
		return "", 0, false
	}
	second := s[1]
	switch s[0] {
	case 0xc2:
		if second >= 0x80 && second < 0xa0 || second == 0xad {
			return "", 2, true
		}
		return "", 0, true
	case 0xe2:
		if second != 0x80 && second != 0x81 {
			return "", 0, true
		}
	case 0xef:
		if second != 0xbb {
			return "", 0, true
		}
	}
	if len(s) < 3 {
		return "", 0, false
	}
	third := s[2]
	switch {
	case s[0] == 0xef && third == 0xbf,
		second == 0x80 && (third >= 0x8b && third <= 0x8f || third >= 0xaa && third <= 0xae),
		second == 0x81 && third >= 0xa0 && third <= 0xa4:
		return "", 3, true
	}
	return "", 0, true
}

func decodeEscape(s string) (string, int, bool) {
	const deep = 16 // backslashes that nested JSON may pile up
	n := 0
	for n < len(s) && s[n] == '\\' && n < deep {
		n++
	}
	if n == len(s) {
		return "", 0, false
	}
	switch s[n] {
	case 'n', 'r':
		return "\n", n + 1, true
	case 't':
		return "\t", n + 1, true
	case '"', '\'':
		return s[n : n+1], n + 1, true
	case 'u':
		if len(s) < n+5 {
			return "", 0, false
		}
		if s[n+1:n+5] == "0026" {
			return "&", n + 5, true
		}
	}
	return s[:n], n, true
}

// sequenceBound is longer than any terminal sequence.
const sequenceBound = 256

// terminal measures a CSI, OSC or two-byte escape sequence.
func (d *decoder) terminal(at int) (string, int, bool) {
	s := d.s[at:]
	if len(s) < 2 {
		return "", 1, false
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s) && i < sequenceBound; i++ {
			d.steps++
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return "", i + 1, true
			}
			if s[i] < 0x20 {
				return "", 2, true
			}
		}
		return "", 2, len(s) >= sequenceBound
	case ']':
		end := d.titleEnd(at+2) - at
		if end > 0 && end <= sequenceBound {
			return "", end, true
		}
		return "", 2, len(s) >= sequenceBound
	}
	if s[1] >= 0x40 && s[1] <= 0x5f {
		return "", 2, true
	}
	return "", 1, true
}

// titleEnd returns the end of the title that contains a place: after the next bell
// or string terminator, 0 if there is none. It looks for each only once.
func (d *decoder) titleEnd(at int) int {
	d.bell = d.next(d.bell, at, "\x07")
	d.ends = d.next(d.ends, at, "\x1b\\")
	switch {
	case d.bell < len(d.s) && d.bell < d.ends:
		return d.bell + 1
	case d.ends < len(d.s):
		return d.ends + 2
	}
	return 0
}

func (d *decoder) next(last, at int, text string) int {
	if last >= at {
		return last
	}
	n := strings.Index(d.s[at:], text)
	if n < 0 {
		n = len(d.s) - at
	}
	d.steps += n / 8
	return at + n
}
