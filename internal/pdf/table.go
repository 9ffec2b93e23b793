package pdf

import "bytes"

// entry is what the table of a file says of an object: its offset, the object stream that it is in, or neither if it
// was deleted.
type entry struct{ offset, stream int }

// table returns the file's own table of its objects, and its trailer. It is nil if the table is not sound: the objects are
// then looked for. A sound one leaves out what no viewer shows, such as objects behind a changed end of the file.
func (f *file) table() (map[int]entry, dict) {
	i := bytes.LastIndex(f.data, []byte("startxref"))
	if i < 0 {
		return nil, nil
	}
	v, _ := f.lexer(f.data, i+len("startxref"), true).next()
	at, ok := v.(float64)
	entries, seen := map[int]entry{}, map[int]bool{}
	var trailer dict
	for ok {
		offset := whole(at)
		if seen[offset] || len(seen) > 1000 {
			return nil, nil
		}
		seen[offset] = true
		d := f.section(offset, entries)
		if hybrid, more := d["XRefStm"].(float64); more && f.section(whole(hybrid), entries) == nil || d == nil {
			return nil, nil
		}
		if trailer == nil {
			trailer = d
		}
		at, ok = d["Prev"].(float64)
	}
	root, _ := trailer["Root"].(ref)
	if entries[root.number] == (entry{}) {
		return nil, nil
	}
	for number, e := range entries {
		if !f.tick() {
			return nil, nil
		}
		if e.offset > 0 {
			if id, _, ok := f.begins(e.offset); !ok || id.number != number {
				return nil, nil
			}
		} else if e.stream > 0 && entries[e.stream].offset == 0 {
			return nil, nil
		}
	}
	return entries, trailer
}

// begins reads the beginning of an object, "12 0 obj", and returns where it ends.
func (f *file) begins(at int) (ref, int, bool) {
	if at < 0 || at >= len(f.data) {
		return ref{}, 0, false
	}
	l := f.lexer(f.data[:min(at+40, len(f.data))], at, true)
	number, _ := l.next()
	generation, _ := l.next()
	n, ok := number.(float64)
	g, ok2 := generation.(float64)
	l.skipSpace()
	if !ok || !ok2 || !bytes.HasPrefix(f.data[l.at:], []byte("obj")) {
		return ref{}, 0, false
	}
	return ref{whole(n), whole(g)}, l.at + len("obj"), true
}

// section reads one part of the table, and returns its trailer, or nil if it is not sound. What is known already is newer.
func (f *file) section(at int, entries map[int]entry) dict {
	if at <= 0 || at >= len(f.data) {
		return nil
	}
	note := func(number int, e entry) {
		if _, known := entries[number]; !known {
			entries[number] = e
		}
	}
	l := f.lexer(f.data, at, true)
	if v, _ := l.next(); v != operator("xref") {
		return f.packedSection(at, note, entries)
	}
	for {
		v, ok := l.next()
		if v == operator("trailer") {
			l.content = false
			v, _ := l.next()
			d, _ := v.(dict)
			return d
		}
		count, _ := l.next()
		if _, number := v.(float64); !ok || !number {
			return nil
		}
		for i := range whole(count) {
			offset, _ := l.next()
			_, _ = l.next()
			kind, ok := l.next()
			if !ok || len(entries) > maxObjects || f.done {
				return nil
			}
			switch kind {
			case operator("n"):
				note(whole(v)+i, entry{offset: whole(offset)})
			case operator("f"):
				note(whole(v)+i, entry{})
			default:
				return nil
			}
		}
	}
}

// packedSection reads a part of the table that is a stream.
func (f *file) packedSection(at int, note func(int, entry), entries map[int]entry) dict {
	id, at, ok := f.begins(at)
	if !ok {
		return nil
	}
	v, _ := f.objectAt(at, id, false)
	s, ok := v.(*stream)
	if !ok || s.dict["Type"] != name("XRef") {
		return nil
	}
	data := f.decode(s)
	widths, ok := numbers(f.values(s.dict["W"], 3), 3)
	if !ok {
		return nil
	}
	size := 0
	for _, w := range widths {
		if w < 0 || w > 8 {
			return nil
		}
		size += whole(w)
	}
	field := func(i int) int { // the next one
		n := 0
		w := whole(widths[i])
		for _, c := range data[:w] {
			n = n<<8 | int(c)
		}
		data = data[w:]
		if i == 0 && w == 0 {
			return 1
		}
		return n
	}
	index, _ := s.dict["Index"].([]any)
	if index == nil {
		index = []any{0.0, s.dict["Size"]}
	}
	for i := 0; i+1 < len(index); i += 2 {
		for j := range whole(index[i+1]) {
			if len(data) < size || size == 0 || len(entries) > maxObjects || !f.tick() {
				return nil
			}
			kind, a := field(0), field(1)
			_ = field(2)
			switch kind {
			case 1:
				note(whole(index[i])+j, entry{offset: a})
			case 2:
				note(whole(index[i])+j, entry{stream: a})
			default:
				note(whole(index[i])+j, entry{})
			}
		}
	}
	return s.dict
}

// follow takes the places of the objects from a sound table. It returns the object streams.
func (f *file) follow(entries map[int]entry, trailer dict) (packs []int) {
	f.places, f.objects, f.trailer, f.entries = map[int]place{}, map[int]any{}, dict{}, entries
	f.mergeTrailer(trailer)
	streams := map[int]bool{}
	for number, e := range entries {
		if e.offset > 0 {
			_, at, _ := f.begins(e.offset)
			f.places[number] = place{offset: at}
		}
		if e.stream > 0 && !streams[e.stream] {
			streams[e.stream] = true
			packs = append(packs, e.stream)
		}
	}
	return packs
}
