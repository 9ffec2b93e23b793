package pdf

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// piece is a string on a page.
type piece struct {
	text       string
	x, y       float64
	endX, endY float64
	dirX, dirY float64 // of its line
	size       float64
}

// layout puts pieces together to lines and paragraphs, in the order in which they are drawn.
type layout struct {
	work  *work
	out   strings.Builder
	line  strings.Builder
	last  piece
	begin piece // of the line
	any   bool
}

func (l *layout) add(p piece) {
	if p.text == "" || !l.work.spend(2) {
		return
	}
	if !l.any {
		l.any, l.last, l.begin = true, p, p
		l.line.WriteString(p.text)
		return
	}
	// where the piece begins, seen from the end of the last one, along and across its line
	dx, dy := p.x-l.last.endX, p.y-l.last.endY
	along := dx*l.last.dirX + dy*l.last.dirY
	across := -dx*l.last.dirY + dy*l.last.dirX
	size := max(p.size, l.last.size)
	turned := p.dirX*l.last.dirX+p.dirY*l.last.dirY < 0.9
	if !turned && math.Abs(across) < size*0.5 && along > -size*0.6 {
		before, _ := utf8.DecodeLastRuneInString(l.line.String())
		after, _ := utf8.DecodeRuneInString(p.text)
		switch gap := along / size; {
		case gap > 1.8 && !unicode.IsSpace(after):
			l.line.WriteString("  ")
		case gap > 0.17 && !unicode.IsSpace(before) && !unicode.IsSpace(after):
			l.line.WriteByte(' ')
		}
		l.line.WriteString(p.text)
		l.last = p
		l.bound()
		return
	}
	if !turned && l.line.Len() < maxLine && rightToLeft(p.text) { // words from the right to the left
		dx, dy = l.begin.x-p.endX, l.begin.y-p.endY
		along, across = dx*p.dirX+dy*p.dirY, -dx*p.dirY+dy*p.dirX
		if math.Abs(across) < size*0.5 && along > -size*0.6 {
			line := l.line.String()
			if !l.work.bytes(len(line)) {
				return
			}
			l.line.Reset()
			l.line.WriteString(p.text)
			if along/size > 0.17 && !strings.HasPrefix(line, " ") && !strings.HasSuffix(p.text, " ") {
				l.line.WriteByte(' ')
			}
			l.line.WriteString(line)
			l.begin = p
			return
		}
	}
	dx, dy = p.x-l.begin.x, p.y-l.begin.y
	down := math.Abs(-dx*l.begin.dirY + dy*l.begin.dirX)
	l.flush()
	if turned || down > size*1.9 || down > max(l.begin.size, p.size)*1.9 || p.size > l.begin.size*1.15 {
		l.out.WriteByte('\n')
	}
	l.line.WriteString(p.text)
	l.last, l.begin = p, p
	l.bound()
}

// bound ends a line that is too long for one.
func (l *layout) bound() {
	if l.line.Len() >= maxLine {
		l.flush()
	}
}

// flush ends the line.
func (l *layout) flush() {
	line := strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == 0xA0:
			return ' '
		case unicode.IsControl(r) || r == 0xAD:
			return -1
		}
		return r
	}, strings.ToValidUTF8(l.line.String(), ""))
	l.line.Reset()
	line = logical(plainForms(line))
	if line = strings.TrimRight(line, " "); line != "" {
		l.out.WriteString(line + "\n")
	}
}

func (l *layout) text() string {
	l.flush()
	return strings.TrimLeft(l.out.String(), "\n")
}
