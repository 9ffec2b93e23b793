package pdf

import (
	"bytes"
	"cmp"
	"slices"
)

// place is where an object is: at an offset of the file, or in an object stream.
type place struct {
	offset int
	in     *packed
}

// packed is an object stream. Its objects are found when one of them is asked for.
type packed struct {
	stream *stream
	data   []byte
}

// file is an open file. It finds objects by the table at its end if that is sound, else by looking for them.
type file struct {
	work
	data      []byte
	places    map[int]place
	objects   map[int]any
	busy      map[int]bool // being read
	trailer   dict
	key       *key // nil if it is not encrypted
	fonts     map[any]*font
	fontItems int
	off       map[int]bool  // the layers that are not shown
	entries   map[int]entry // of the file's own table; nil if it is not sound
}

// lexer returns a lexer whose bytes are counted.
func (f *file) lexer(data []byte, at int, content bool) *lexer {
	return &lexer{data: data, at: at, content: content, work: &f.work}
}

// scan finds the objects: by the table of the file, or by looking for them if that is damaged.
func (f *file) scan() {
	f.places, f.objects, f.busy, f.trailer = map[int]place{}, map[int]any{}, map[int]bool{}, dict{}
	var packs []int
	if entries, trailer := f.table(); entries != nil {
		packs = f.follow(entries, trailer)
	} else {
		packs = f.search()
	}
	f.unlock()
	for _, number := range packs {
		if s, ok := f.object(number).(*stream); ok {
			f.unpack(s)
		}
	}
}

// search looks for the objects in the whole file. Where a number is used twice, the later one counts, as in a
// file that was changed. It returns the object streams.
func (f *file) search() (packs []int) {
	f.places, f.objects, f.trailer = map[int]place{}, map[int]any{}, dict{}
	trailer := f.after("trailer", 0)
	for at := 0; !f.over(len(f.places) >= maxObjects) && f.tick(); {
		next := f.after("obj", at)
		for trailer < next && f.tick() {
			l := f.lexer(f.data, trailer, false)
			if v, ok := l.next(); ok {
				f.mergeTrailer(v)
			}
			trailer = f.after("trailer", trailer)
		}
		if next > len(f.data) {
			break
		}
		at = next
		id, ok := f.header(next - len("obj"))
		if !ok {
			continue
		}
		v, end := f.objectAt(next, id, false)
		f.places[id.number] = place{offset: next}
		delete(f.objects, id.number)
		at = max(next, min(end, len(f.data)))
		s, ok := v.(*stream)
		if !ok {
			continue
		}
		switch s.dict["Type"] {
		case name("XRef"):
			f.mergeTrailer(s.dict)
		case name("ObjStm"):
			packs = append(packs, id.number)
		}
	}
	return packs
}

// after returns the offset behind the next occurrence of a word, or one past the end of the file.
func (f *file) after(word string, from int) int {
	i := bytes.Index(f.data[from:], []byte(word))
	if i < 0 {
		return len(f.data) + 1
	}
	return from + i + len(word)
}

// header reads the two numbers that end at an offset: "12 0 ".
func (f *file) header(end int) (ref, bool) {
	from := max(end-40, 0)
	fields := bytes.Fields(f.data[from:end])
	if len(fields) < 2 || end == 0 || !space(f.data[end-1]) && !digit(f.data[end-1]) {
		return ref{}, false
	}
	a, b := fields[len(fields)-2], fields[len(fields)-1]
	for len(a) > 0 && !digit(a[0]) { // what is before it on the line, without a space
		a = a[1:]
	}
	for _, word := range [][]byte{a, b} {
		if len(word) == 0 || len(word) > 10 || bytes.ContainsFunc(word, func(r rune) bool { return r < '0' || r > '9' }) {
			return ref{}, false
		}
	}
	return ref{whole(number(a)), whole(number(b))}, true
}

func (f *file) mergeTrailer(v any) {
	d, ok := v.(dict)
	if !ok {
		return
	}
	for _, k := range []name{"Root", "Encrypt", "ID"} {
		if d[k] != nil {
			f.trailer[k] = d[k]
		}
	}
}

// unpack notes the objects in an object stream. One that the file has on its own, too, keeps its
// place if that comes later.
func (f *file) unpack(s *stream) {
	data := f.decode(s)
	first, count := whole(f.resolve(s.dict["First"])), whole(f.resolve(s.dict["N"]))
	if first <= 0 || first > len(data) {
		return
	}
	l := f.lexer(data[:first], 0, true)
	p := &packed{stream: s, data: data}
	for range min(count, maxObjects) {
		number, ok := l.next()
		offset, ok2 := l.next()
		if !ok || !ok2 || f.over(len(f.places) > maxObjects) || !f.tick() {
			return
		}
		at := first + whole(offset)
		if at < first || at > len(data) {
			continue
		}
		if f.entries != nil && f.entries[whole(number)].stream != s.id.number {
			continue
		}
		if old, known := f.places[whole(number)]; f.entries == nil && known && old.in == nil && old.offset > s.offset {
			continue
		}
		f.places[whole(number)] = place{offset: at, in: p}
		delete(f.objects, whole(number))
	}
}

// objectAt reads the object after its header, and returns where it ends.
func (f *file) objectAt(at int, id ref, decrypt bool) (any, int) {
	l := f.lexer(f.data, at, false)
	v, ok := l.next()
	if !ok {
		return nil, l.at
	}
	if decrypt {
		f.keep(l, at)
	}
	d, ok := v.(dict)
	if !ok {
		if decrypt {
			v = f.key.strings(v, id, 0)
		}
		return v, l.at
	}
	end := l.at
	l.skipSpace()
	if !bytes.HasPrefix(f.data[l.at:], []byte("stream")) {
		if decrypt {
			f.key.strings(d, id, 0)
		}
		return d, end
	}
	begin := l.at + len("stream")
	if begin < len(f.data) && f.data[begin] == '\r' {
		begin++
	}
	if begin < len(f.data) && f.data[begin] == '\n' {
		begin++
	}
	stop := -1
	length, direct := d["Length"].(float64)
	if !direct && decrypt {
		length, direct = f.resolve(d["Length"]).(float64)
	}
	if direct && length >= 0 && begin+whole(length) <= len(f.data) {
		rest := bytes.TrimLeft(f.data[begin+whole(length):min(begin+whole(length)+20, len(f.data))], "\r\n \t\x00")
		if bytes.HasPrefix(rest, []byte("endstream")) {
			stop = begin + whole(length)
		}
	}
	if stop < 0 { // the length is missing, wrong or elsewhere
		i := bytes.Index(f.data[min(begin, len(f.data)):], []byte("endstream"))
		if i < 0 {
			stop = len(f.data)
		} else {
			stop = begin + i
		}
		f.bytes((stop - min(begin, stop)) >> 3)
	}
	begin = min(begin, stop)
	if decrypt {
		f.key.strings(d, id, 0)
	}
	return &stream{dict: d, raw: f.data[begin:stop], offset: begin, id: id}, stop
}

// resolve returns what a reference refers to, or the value itself.
func (f *file) resolve(v any) any {
	for range 20 {
		r, ok := v.(ref)
		if !ok {
			return v
		}
		v = f.object(r.number)
	}
	return nil
}

func (f *file) object(number int) any {
	if v, ok := f.objects[number]; ok {
		return v
	}
	p, ok := f.places[number]
	if !ok || f.busy[number] || len(f.busy) > maxNesting || f.over(f.items > maxKept || f.kept > maxKeptBytes) || !f.tick() {
		return nil
	}
	f.busy[number] = true
	defer delete(f.busy, number)
	var v any
	if p.in != nil {
		l := f.lexer(p.in.data, p.offset, false)
		v, _ = l.next()
		f.keep(l, p.offset)
	} else {
		id, _ := f.header(p.offset - len("obj"))
		v, _ = f.objectAt(p.offset, id, true)
	}
	switch v.(type) {
	case operator, delimiter:
		v = nil
	}
	f.objects[number] = v
	return v
}

// keep counts an object that a lexer read and that is kept.
func (f *file) keep(l *lexer, from int) {
	f.items += l.items
	f.kept += l.at - from
}

func (f *file) dict(v any) dict {
	switch v := f.resolve(v).(type) {
	case dict:
		return v
	case *stream:
		return v.dict
	}
	return nil
}

func (f *file) list(v any) []any {
	list, _ := f.resolve(v).([]any)
	return list
}

// page is one page with what it inherits.
type page struct {
	dict      dict
	resources any
	box       []any
}

// pages returns the pages in their order. A file without a tree of pages has them in the order of their numbers.
func (f *file) pages() []page {
	var list []page
	seen := map[int]bool{}
	var walk func(v any, above page, depth int)
	walk = func(v any, above page, depth int) {
		if r, ok := v.(ref); ok {
			if seen[r.number] {
				return
			}
			seen[r.number] = true
		}
		d, ok := f.resolve(v).(dict)
		if !ok || f.over(depth > maxNesting || len(list) >= maxPages) || !f.tick() {
			return
		}
		p := page{dict: d, resources: d["Resources"], box: f.list(d["CropBox"])}
		if len(p.box) != 4 {
			p.box = f.list(d["MediaBox"])
		}
		if p.resources == nil {
			p.resources = above.resources
		}
		if len(p.box) != 4 {
			p.box = above.box
		}
		kids := f.list(d["Kids"])
		if kids == nil {
			if d["Type"] == name("Page") || d["Contents"] != nil {
				list = append(list, p)
			}
			return
		}
		for _, kid := range kids {
			if f.over(len(list) >= maxPages) || !f.tick() {
				return
			}
			walk(kid, p, depth+1)
		}
	}
	root := f.dict(f.trailer["Root"])
	walk(root["Pages"], page{}, 0)
	if len(list) > 0 {
		return list
	}
	for _, number := range f.numbers() {
		if d, ok := f.object(number).(dict); ok && d["Type"] == name("Page") && !f.over(len(list) >= maxPages) {
			list = append(list, page{dict: d, resources: d["Resources"], box: f.list(d["MediaBox"])})
		}
	}
	return list
}

func (f *file) numbers() []int {
	list := make([]int, 0, len(f.places))
	for number := range f.places {
		list = append(list, number)
	}
	slices.SortFunc(list, cmp.Compare)
	return list
}
