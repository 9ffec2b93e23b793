package patch

import (
	"strings"
	"unicode/utf8"
)

// maxRuneEdits bounds the changed characters of a line whose other characters
// keep the file's typography.
const maxRuneEdits = 200

// A merger replaces passages that match old only inexactly by new. It serves
// all passages of one replacement.
type merger struct {
	olds, news []string
	changes    []change          // between olds and news
	lines      map[string]*delta // by old and new line, separated by a line feed
}

func newMerger(old, new string) *merger {
	m := &merger{olds: strings.Split(old, "\n"), news: strings.Split(new, "\n"), lines: map[string]*delta{}}
	m.changes = changes(m.olds, m.news, maxEdits)
	return m
}

// merge returns the text for the passage s. Lines that old and new share keep
// the form they have in the file. The others get the file's indentation, and
// its typography where the change does not touch it. fresh says for each line
// whether it is not a copy of a line of the file.
func (m *merger) merge(doc *document, s span) (text string, fresh []bool) {
	files := strings.Split(doc.text[s.start:s.end], "\n")
	if len(files) != len(m.olds) {
		return strings.Join(m.news, "\n"), freshLines(len(m.news)) // the lines of old do not pair up with the file's
	}
	in := newIndenter(doc, s, m.olds, files)
	out := make([]string, 0, len(m.news))
	fresh = make([]bool, 0, len(m.news))
	at := 0
	keep := func(to int) {
		out = append(out, files[at:to]...)
		fresh = append(fresh, make([]bool, to-at)...)
	}
	for _, c := range m.changes {
		keep(c.a1)
		pairs := m.partners(c)
		for j := c.b1; j < c.b2; j++ {
			line := in.indent(m.news[j], c.a1, len(out) == 0)
			if i := pairs[j-c.b1]; i >= 0 {
				line = m.keepForm(m.olds[i], files[i], m.news[j], line)
			}
			out, fresh = append(out, line), append(fresh, true)
		}
		at = c.a2
	}
	keep(len(files))
	return strings.Join(out, "\n"), fresh
}

const (
	// likePartner is the lowest likeness of an old line to the new one that
	// takes its place, where their numbers differ.
	likePartner = 0.5
	// maxPartners bounds the pairs of lines that are compared for that.
	maxPartners = 10_000
)

// partners returns for each new line of a change the old line that it takes the
// place of, or -1. They come in the same order.
func (m *merger) partners(c change) []int {
	olds, news := m.olds[c.a1:c.a2], m.news[c.b1:c.b2]
	pairs := make([]int, len(news))
	next := 0 // the first old line that is still free
	for j, line := range news {
		pairs[j] = -1
		switch {
		case len(olds) == len(news):
			pairs[j] = c.a1 + j
		case len(olds)*len(news) <= maxPartners:
			if i := closest(olds[next:], line); i >= 0 {
				pairs[j] = c.a1 + next + i
				next += i + 1
			}
		}
	}
	return pairs
}

// closest returns the index of the line that is most like the given one, or -1.
func closest(lines []string, to string) int {
	like := newLikeness(to)
	at, best := -1, 0.0
	for i, l := range lines {
		if r := like.atLeast(l, likePartner); r > best {
			at, best = i, r
		}
	}
	return at
}

func freshLines(n int) []bool {
	fresh := make([]bool, n)
	for i := range fresh {
		fresh[i] = true
	}
	return fresh
}

// keepForm gives line, the new text at its final indentation, the typography of
// the file's line. That works only if old and file are the same text in two
// forms; otherwise it returns line as it is.
func (m *merger) keepForm(old, file, new, line string) string {
	o, f, n := strings.TrimSpace(old), strings.TrimSpace(file), strings.TrimSpace(new)
	t, ok := alike(o, f)
	if o == f || n == "" || !ok {
		return line
	}
	d := m.lines[o+"\n"+n]
	if d == nil {
		d = newDelta(o, n)
		m.lines[o+"\n"+n] = d
	}
	return indentOf(line) + d.on(f, t) + line[len(strings.TrimRight(line, " \t")):]
}

// alike returns the typography in which two texts are the same, if there is one.
func alike(o, f string) (*typography, bool) {
	for _, t := range typographies {
		if normalised(o, t) == normalised(f, t) {
			return t, true
		}
	}
	return nil, false
}

// A delta is the change from one line to another, character by character.
type delta struct {
	o        string
	kept     []bool // bytes of o that stay
	inserted []insertion
}

// An insertion adds text before byte at of the old line.
type insertion struct {
	at   int
	text string
}

func newDelta(o, n string) *delta {
	d := &delta{o: o, kept: make([]bool, len(o))}
	or, nr := runes(o), runes(n)
	oa, na := offsets(or), offsets(nr)
	keep := func(from, to int) {
		for i := from; i < to; i++ {
			d.kept[i] = true
		}
	}
	at := 0
	for _, c := range changes(or, nr, maxRuneEdits) {
		keep(oa[at], oa[c.a1])
		d.inserted = append(d.inserted, insertion{oa[c.a1], n[na[c.b1]:na[c.b2]]})
		at = c.a2
	}
	keep(oa[at], len(o))
	return d
}

// on applies the change to f, which is the old line in other typography: both
// read alike in t.
func (d *delta) on(f string, t *typography) string {
	var out strings.Builder
	inserted := d.inserted
	emit := func(before int) {
		for len(inserted) > 0 && inserted[0].at <= before {
			out.WriteString(inserted[0].text)
			inserted = inserted[1:]
		}
	}
	for _, p := range pieces(d.o, f, t) {
		emit(p.o.start)
		if whole(d.kept[p.o.start:p.o.end]) && (len(inserted) == 0 || inserted[0].at >= p.o.end) {
			out.WriteString(f[p.f.start:p.f.end])
			continue
		}
		for i := p.o.start; i < p.o.end; i++ {
			emit(i)
			if d.kept[i] {
				out.WriteByte(d.o[i])
			}
		}
	}
	emit(len(d.o))
	return out.String()
}

func whole(kept []bool) bool {
	for _, k := range kept {
		if !k {
			return false
		}
	}
	return true
}

// A piece pairs the smallest spans of two texts that read alike.
type piece struct{ o, f span }

// pieces pairs two texts that read alike in a typography.
func pieces(o, f string, t *typography) []piece {
	var list []piece
	for i, j := 0, 0; i < len(o) && j < len(f); {
		p := piece{span{i, i}, span{j, j}}
		for ahead := 0; ; { // how much more is read of o than of f
			if ahead <= 0 && p.o.end < len(o) {
				text, size := t.next(o[p.o.end:])
				p.o.end += size
				ahead += len(text)
			} else {
				text, size := t.next(f[p.f.end:])
				p.f.end += size
				ahead -= len(text)
			}
			if ahead == 0 {
				break
			}
		}
		list = append(list, p)
		i, j = p.o.end, p.f.end
	}
	return list
}

// runes splits a text into characters as strings. Bytes that are not UTF-8
// stay separate.
func runes(s string) []string {
	var list []string
	for i := 0; i < len(s); {
		_, size := utf8.DecodeRuneInString(s[i:])
		list = append(list, s[i:i+size])
		i += size
	}
	return list
}

func offsets(list []string) []int {
	at := make([]int, len(list)+1)
	for i, s := range list {
		at[i+1] = at[i] + len(s)
	}
	return at
}
