// Package pdf returns the text of PDF files, in the order in which the file draws it. It reads
// damaged files as far as it can, and files that open without a password.
//
// What a file makes it do is bounded: bytes unpacked, steps, depth, pages. It never panics and needs
// no clock. It draws nothing, runs no scripts of a file, and finds no text in pictures. Start at Text.
package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
)

// The reasons why a file has no text, worded to go on after its name.
var (
	ErrNotPDF   = errors.New("is not a valid PDF file")
	ErrPassword = errors.New("is a PDF file with a password: it cannot be read without it")
	ErrNoText   = errors.New("is a PDF file without text: its pages may be pictures, as of a scan")
	ErrWork     = errors.New("is a PDF file that takes too much work to read")
)

// Text returns the text of a PDF file, page by page, in at most most bytes. cut says that there may be more:
// the text is longer, or a bound was met. It stops soon after ctx ends, and returns the error of ctx.
func Text(ctx context.Context, raw []byte, most int) (out string, cut bool, err error) {
	return read(&file{data: raw, work: work{ctx: ctx, limit: maxSteps}}, most)
}

func read(f *file, most int) (out string, cut bool, err error) {
	defer func() {
		if recover() != nil { // a fault of ours on a damaged file
			out, cut, err = "", false, ErrNotPDF
		}
	}()
	if !bytes.Contains(f.data[:min(len(f.data), 1024)], []byte("%PDF-")) {
		return "", false, ErrNotPDF
	}
	f.scan()
	f.layers()
	if f.key != nil && f.key.wrong {
		return "", false, ErrPassword
	}
	pages := f.pages()
	if err := f.ctx.Err(); err != nil {
		return "", false, fmt.Errorf("was not read to its end: %w", err)
	}
	if len(pages) == 0 && f.done {
		return "", false, ErrWork
	}
	if len(pages) == 0 {
		return "", false, ErrNotPDF
	}
	var b strings.Builder
	found := false
	for i, p := range pages {
		page := f.pageText(p)
		if strings.TrimSpace(page) != "" {
			found = true
		}
		if len(pages) > 1 {
			fmt.Fprintf(&b, "--- page %d\n", i+1)
		}
		b.WriteString(page)
		if b.Len() > most {
			return strings.ToValidUTF8(b.String()[:most], ""), true, nil
		}
		if f.done {
			break
		}
	}
	if err := f.ctx.Err(); err != nil {
		return "", false, fmt.Errorf("was not read to its end: %w", err)
	}
	switch {
	case found:
		return b.String(), f.cut, nil
	case f.cut:
		return "", false, ErrWork
	}
	return "", false, ErrNoText
}

// matrix is a transformation: a b c d e f.
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// after returns the transformation that does m first and then n.
func (m matrix) after(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// state is what q saves and Q restores.
type state struct {
	to                 matrix // to the page
	font               *font
	size               float64
	char, word         float64
	scale, lead, raise float64
	mode               int
	clear              bool // drawn without any colour
}

// reader reads the content of one page.
type reader struct {
	file    *file
	state   state
	saved   []state
	matrix  matrix // of the text
	line    matrix // of the beginning of the line
	box     [4]float64
	layout  layout
	picture bool   // the page has pictures, so invisible text may be what a scan says
	unseen  layout // invisible text
	marked  []bool // the open parts of the content: whether a layer hides them
	hidden  int    // of marked
}

func (f *file) pageText(p page) string {
	r := &reader{file: f, layout: layout{work: &f.work}, unseen: layout{work: &f.work}, state: state{to: identity, scale: 1}, box: [4]float64{-1e9, -1e9, 1e9, 1e9}}
	if len(p.box) == 4 {
		for i := range r.box {
			r.box[i], _ = f.resolve(p.box[i]).(float64)
		}
		if r.box[0] > r.box[2] {
			r.box[0], r.box[2] = r.box[2], r.box[0]
		}
		if r.box[1] > r.box[3] {
			r.box[1], r.box[3] = r.box[3], r.box[1]
		}
	}
	var content []byte
	parts, ok := f.resolve(p.dict["Contents"]).([]any)
	if !ok {
		parts = []any{p.dict["Contents"]}
	}
	for _, part := range parts {
		if f.over(len(content) >= maxStream) || !f.tick() {
			break
		}
		if s, ok := f.resolve(part).(*stream); ok {
			content = append(append(content, f.decode(s)...), '\n')
		}
	}
	r.run(content, f.dict(p.resources), 0)
	r.fields(p)
	shown := r.layout.text()
	if r.picture && strings.TrimSpace(shown) == "" {
		return r.unseen.text() // what was read from a scan
	}
	return shown
}

// run reads content. depth counts forms in forms.
func (r *reader) run(content []byte, resources dict, depth int) {
	l := r.file.lexer(content, 0, true)
	var args []any
	for r.file.tick() {
		v, ok := l.next()
		if !ok {
			return
		}
		op, isOp := v.(operator)
		if !isOp {
			if len(args) < 64 {
				args = append(args, v)
			}
			continue
		}
		if op == "BI" {
			from := l.at
			skipImage(l)
			r.file.bytes(l.at - from)
			r.picture = true
		} else {
			r.do(op, args, resources, depth)
		}
		args = args[:0]
	}
}

// skipImage moves a lexer behind a picture in the content.
func skipImage(l *lexer) {
	for {
		i := bytes.Index(l.data[l.at:], []byte("EI"))
		if i < 0 {
			l.at = len(l.data)
			return
		}
		before, after := l.at+i-1, l.at+i+2
		l.at = after
		if before >= 0 && space(l.data[before]) && (after >= len(l.data) || space(l.data[after])) {
			return
		}
	}
}

func numbers(args []any, n int) ([]float64, bool) {
	if len(args) < n {
		return nil, false
	}
	out := make([]float64, n)
	for i, v := range args[len(args)-n:] {
		x, ok := v.(float64)
		if !ok {
			return nil, false
		}
		out[i] = x
	}
	return out, true
}

// needs is how many numbers an operator takes.
var needs = map[operator]int{"cm": 6, "Tm": 6, "Td": 2, "TD": 2, "Tc": 1, "Tw": 1, "Tz": 1, "TL": 1, "Ts": 1, "Tr": 1}

func (r *reader) do(op operator, args []any, resources dict, depth int) {
	s := &r.state
	n, ok := numbers(args, needs[op])
	if !ok {
		return
	}
	switch op {
	case "q":
		if len(r.saved) < 500 {
			r.saved = append(r.saved, *s)
		}
	case "Q":
		if last := len(r.saved) - 1; last >= 0 {
			r.state, r.saved = r.saved[last], r.saved[:last]
		}
	case "cm":
		s.to = matrix(n).after(s.to)
	case "BT":
		r.matrix, r.line = identity, identity
	case "Tm":
		r.matrix = matrix(n)
		r.line = r.matrix
	case "Td":
		r.move(n[0], n[1])
	case "TD":
		s.lead = -n[1]
		r.move(n[0], n[1])
	case "T*":
		r.move(0, -s.lead)
	case "Tc":
		s.char = n[0]
	case "Tw":
		s.word = n[0]
	case "Tz":
		s.scale = n[0] / 100
	case "TL":
		s.lead = n[0]
	case "Ts":
		s.raise = n[0]
	case "Tr":
		s.mode = whole(n[0])
	case "Tf":
		r.setFont(args, resources)
	case "Tj", "'", "\"":
		if op == "\"" {
			if n, ok := numbers(args[:max(len(args)-1, 0)], 2); ok {
				s.word, s.char = n[0], n[1]
			}
		}
		if op != "Tj" {
			r.move(0, -s.lead)
		}
		if len(args) > 0 {
			if t, ok := args[len(args)-1].(text); ok {
				r.show(t)
			}
		}
	case "TJ":
		if len(args) == 0 {
			return
		}
		list, _ := args[len(args)-1].([]any)
		for _, v := range list {
			if !r.file.tick() {
				return
			}
			switch v := v.(type) {
			case text:
				r.show(v)
			case float64:
				r.matrix = matrix{1, 0, 0, 1, -v / 1000 * s.size * s.scale, 0}.after(r.matrix)
			}
		}
	case "Do":
		r.draw(args, resources, depth)
	case "gs":
		r.setState(args, resources)
	case "BMC", "BDC":
		r.mark(args, resources)
	case "EMC":
		if last := len(r.marked) - 1; last >= 0 {
			if r.marked[last] {
				r.hidden--
			}
			r.marked = r.marked[:last]
		}
	}
}

func (r *reader) move(x, y float64) {
	r.line = matrix{1, 0, 0, 1, x, y}.after(r.line)
	r.matrix = r.line
}

func (r *reader) setFont(args []any, resources dict) {
	if len(args) < 2 {
		return
	}
	n, ok := args[len(args)-2].(name)
	r.state.size, _ = args[len(args)-1].(float64)
	if !ok {
		return
	}
	r.state.font = r.file.fontOf(r.file.dict(resources["Font"])[n])
}

// show shows a string.
func (r *reader) show(t text) {
	s := &r.state
	if s.font == nil || s.size == 0 || r.hidden > 0 {
		return
	}
	var b strings.Builder
	begin := matrix{s.size * s.scale, 0, 0, s.size, 0, s.raise}.after(r.matrix).after(s.to)
	s.font.each(t, func(out string, width float64, space bool) bool {
		b.WriteString(out)
		r.file.text += len(out)
		step := width / 1000 * s.size
		step += s.char
		if space {
			step += s.word
		}
		r.matrix = matrix{1, 0, 0, 1, step * s.scale, 0}.after(r.matrix)
		if r.file.over(r.file.text > maxText) {
			r.file.done = true
		}
		return r.file.tick() && !r.file.done
	})
	end := r.matrix.after(s.to)
	at := r.matrix.after(s.to)
	at[4], at[5] = begin[4], begin[5]
	size := math.Hypot(begin[2], begin[3])
	along := math.Hypot(begin[0], begin[1])
	if along == 0 || size == 0 || math.IsNaN(size) || math.IsInf(size, 0) {
		return
	}
	p := piece{text: b.String(), x: begin[4], y: begin[5], endX: end[4], endY: end[5], dirX: begin[0] / along, dirY: begin[1] / along, size: size}
	if s.scale < 0 || s.size < 0 {
		p.dirX, p.dirY = -p.dirX, -p.dirY
	}
	const margin = 2
	if p.x < r.box[0]-margin && p.endX < r.box[0]-margin || p.x > r.box[2]+margin || p.y < r.box[1]-margin || p.y > r.box[3]+margin || size < 0.5 || along < size/20 || s.clear {
		return // outside of the page, too small or too narrow to be seen, or without colour
	}
	if s.mode == 3 || s.mode == 7 {
		r.unseen.add(p)
		return
	}
	r.layout.add(p)
}
