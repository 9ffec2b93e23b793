package pdf

import (
	"cmp"
	"math"
	"reflect"
)

// fontOf returns the font that an entry of the resources names, read once.
func (f *file) fontOf(v any) *font {
	var id any
	switch v := v.(type) {
	case ref:
		id = v.number
	case dict:
		id = reflect.ValueOf(v).Pointer() // the font keeps the dictionary, so that no other one comes here
	default:
		return nil
	}
	if t, known := f.fonts[id]; known {
		return t
	}
	if f.fonts == nil || f.fontItems > maxFontItems || len(f.fonts) > 1000 {
		f.fonts, f.fontItems = map[any]*font{}, 0
	}
	if !f.spend(300) { // the codes of a font
		return nil
	}
	t := f.font(v)
	t.from = v
	f.fonts[id] = t
	f.fontItems += len(t.widths)
	if t.unicode != nil {
		f.fontItems += len(t.unicode.one) + len(t.unicode.ranges)
	}
	return t
}

// draw runs a form, or notes a picture.
func (r *reader) draw(args []any, resources dict, depth int) {
	if len(args) == 0 || depth > 10 {
		return
	}
	n, _ := args[len(args)-1].(name)
	x, ok := r.file.resolve(r.file.dict(resources["XObject"])[n]).(*stream)
	if !ok || r.file.hides(x.dict["OC"]) {
		return
	}
	if x.dict["Subtype"] != name("Form") {
		r.picture = true
		return
	}
	r.form(x, resources, identity, depth)
}

// form runs a form. to is where it is drawn.
func (r *reader) form(x *stream, resources dict, to matrix, depth int) {
	state, saved, marked, hidden := r.state, r.saved, r.marked, r.hidden
	r.saved, r.marked = nil, nil
	r.state.to = to.after(r.state.to)
	if m, ok := numbers(r.file.values(x.dict["Matrix"], 6), 6); ok {
		r.state.to = matrix(m).after(r.state.to)
	}
	inner := r.file.dict(x.dict["Resources"])
	if inner == nil {
		inner = resources
	}
	r.file.spend(100)
	r.run(r.file.decode(x), inner, depth+1)
	r.state, r.saved, r.marked, r.hidden = state, saved, marked, hidden
}

// values returns a list of n items with its references resolved, or nil if it has another length.
func (f *file) values(v any, n int) []any {
	list := f.list(v)
	if len(list) != n {
		return nil
	}
	out := make([]any, n)
	for i := range list {
		out[i] = f.resolve(list[i])
	}
	return out
}

// fields draws the values of form fields, which are not in the content of the page.
func (r *reader) fields(p page) {
	f := r.file
	for _, v := range f.list(p.dict["Annots"]) {
		if !f.tick() {
			return
		}
		d := f.dict(v)
		const hidden, noView = 1 << 1, 1 << 5
		if d["Subtype"] != name("Widget") || whole(f.resolve(d["F"]))&(hidden|noView) != 0 || f.hides(d["OC"]) {
			continue
		}
		looks := f.resolve(f.dict(d["AP"])["N"])
		if states, ok := looks.(dict); ok {
			state, _ := f.resolve(d["AS"]).(name)
			looks = f.resolve(states[state])
		}
		x, ok := looks.(*stream)
		rect, ok2 := numbers(f.values(d["Rect"], 4), 4)
		box, ok3 := numbers(f.values(x.box(), 4), 4)
		if !ok || !ok2 || !ok3 {
			continue
		}
		m := identity
		if n, ok := numbers(f.values(x.dict["Matrix"], 6), 6); ok {
			m = matrix(n)
		}
		r.state, r.saved, r.marked, r.hidden = state{to: identity, scale: 1}, nil, nil, 0
		r.form(x, f.dict(p.resources), fit(box, m, rect), 0)
	}
}

func (s *stream) box() any {
	if s == nil {
		return nil
	}
	return s.dict["BBox"]
}

// fit returns the transformation that puts a box, after its own transformation, into a rectangle.
func fit(box []float64, m matrix, rect []float64) matrix {
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, x := range []float64{box[0], box[2]} {
		for _, y := range []float64{box[1], box[3]} {
			at := matrix{1, 0, 0, 1, x, y}.after(m)
			for i := range 2 {
				low[i], high[i] = min(low[i], at[4+i]), max(high[i], at[4+i])
			}
		}
	}
	var scale, move [2]float64
	for i := range 2 {
		scale[i] = cmp.Or(math.Abs(rect[2+i]-rect[i])/cmp.Or(high[i]-low[i], 1), 1)
		move[i] = min(rect[i], rect[2+i]) - low[i]*scale[i]
	}
	return matrix{scale[0], 0, 0, scale[1], move[0], move[1]}
}

// setState notes whether text is drawn without any colour.
func (r *reader) setState(args []any, resources dict) {
	if len(args) == 0 {
		return
	}
	n, _ := args[len(args)-1].(name)
	if alpha, ok := r.file.resolve(r.file.dict(r.file.dict(resources["ExtGState"])[n])["ca"]).(float64); ok {
		r.state.clear = alpha < 0.05
	}
}

// layers notes which layers the file does not show when it is opened.
func (f *file) layers() {
	f.off = map[int]bool{}
	all := f.dict(f.dict(f.trailer["Root"])["OCProperties"])
	shown := f.dict(all["D"])
	note := func(list any, off bool) {
		for _, v := range f.list(list) {
			if r, ok := v.(ref); ok && f.tick() {
				f.off[r.number] = off
			}
		}
	}
	if f.resolve(shown["BaseState"]) == name("OFF") {
		note(all["OCGs"], true)
		note(shown["ON"], false)
	}
	note(shown["OFF"], true)
}

// hides reports whether a layer, or a group of layers, is not shown.
func (f *file) hides(v any) bool {
	if r, ok := v.(ref); ok && f.off[r.number] {
		return true
	}
	d := f.dict(v)
	if d["Type"] != name("OCMD") {
		return false
	}
	list := f.list(d["OCGs"])
	if list == nil {
		list = []any{d["OCGs"]}
	}
	if !f.spend(len(list)) {
		return true
	}
	off := 0
	for _, v := range list {
		if r, ok := v.(ref); ok && f.off[r.number] {
			off++
		}
	}
	switch f.resolve(d["P"]) {
	case name("AllOn"):
		return off > 0
	case name("AnyOff"):
		return off == 0
	case name("AllOff"):
		return off < len(list)
	}
	return off > 0 && off == len(list)
}

// mark opens a part of the content, which a layer may hide.
func (r *reader) mark(args []any, resources dict) {
	if r.file.over(len(r.marked) >= 10_000) {
		return
	}
	hides := false
	if len(args) >= 2 && args[len(args)-2] == name("OC") {
		n, _ := args[len(args)-1].(name)
		hides = r.file.hides(r.file.dict(resources["Properties"])[n])
	}
	if hides {
		r.hidden++
	}
	r.marked = append(r.marked, hides)
}
