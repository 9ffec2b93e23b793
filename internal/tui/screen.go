package tui

import (
	"fmt"
	"io"
	"strings"

	"hermes/internal/markup"
)

// The escape sequences that the screen writes. Terminals ignore those that they
// do not know. No sequence asks the terminal anything, so there are no replies
// to wait for or to lose.
const (
	seqSyncOn    = "\x1b[?2026h"
	seqSyncOff   = "\x1b[?2026l"
	seqHide      = "\x1b[?25l"
	seqShow      = "\x1b[?25h"
	seqEraseLine = "\x1b[K"
	seqEraseDown = "\x1b[J"
	seqSave      = "\x1b7"
	seqRestore   = "\x1b8"
	seqClear     = "\x1b[H\x1b[2J\x1b[3J"
	// Bracketed paste, and distinct keys (Shift+Enter) where supported.
	seqEnter = "\x1b[?2004h\x1b[>1u"
	seqLeave = "\x1b[<u\x1b[?2004l"
)

// frame is the live region: rows that fit the width, and the cursor in it.
// A cursor with a negative row is hidden.
type frame struct {
	rows     []string
	row, col int
}

// screen draws below the scrollback. It tracks the region in rows relative to
// the cursor, never by its position on the terminal.
type screen struct {
	w       io.Writer
	width   int
	shown   frame // what the terminal shows now
	drawn   bool  // the terminal shows a region
	entered bool  // the modes are set
	buf     strings.Builder
}

// start sets the terminal modes of the chat.
func (s *screen) start() error {
	s.entered = true
	return s.write(seqEnter)
}

// draw prints lines above the region, where they stay, and updates the region,
// all in one write.
func (s *screen) draw(print []string, f frame) error {
	s.buf.Reset()
	s.buf.WriteString(seqSyncOn + seqHide)
	if len(print) > 0 {
		s.wipe()
		for _, line := range print {
			s.buf.WriteString(line)
			s.buf.WriteString("\r\n")
		}
	}
	s.region(f)
	s.buf.WriteString(seqSyncOff)
	return s.write(s.buf.String())
}

// wipe erases the region and stays at its first cell. It erases row by row,
// since some terminals keep a copy of a screen that is erased at once.
func (s *screen) wipe() {
	if !s.drawn {
		return
	}
	s.up()
	s.buf.WriteString(seqEraseLine)
	if more := len(s.shown.rows) - 1; more > 0 {
		s.buf.WriteString(strings.Repeat("\x1b[B"+seqEraseLine, more))
		fmt.Fprintf(&s.buf, "\x1b[%dA", more)
	}
	s.shown, s.drawn = frame{}, false
}

// up moves to the first cell of the region.
func (s *screen) up() {
	if !s.drawn {
		return
	}
	s.buf.WriteByte('\r')
	if s.shown.row > 0 {
		fmt.Fprintf(&s.buf, "\x1b[%dA", s.shown.row)
	}
}

// region writes the rows that changed and places the cursor.
func (s *screen) region(f frame) {
	if len(f.rows) == 0 {
		f.rows = []string{""}
	}
	hidden := f.row < 0
	f.row = min(max(f.row, 0), len(f.rows)-1)
	s.up()
	for i, row := range f.rows {
		if i > 0 {
			s.buf.WriteString("\r\n")
		}
		shorter := i == len(f.rows)-1 && len(s.shown.rows) > len(f.rows)
		if s.drawn && !shorter && i < len(s.shown.rows) && s.shown.rows[i] == row {
			continue
		}
		s.buf.WriteString(row)
		if shorter {
			s.buf.WriteString(seqEraseDown)
			continue
		}
		s.buf.WriteString(seqEraseLine)
	}
	s.buf.WriteByte('\r')
	if up := len(f.rows) - 1 - f.row; up > 0 {
		fmt.Fprintf(&s.buf, "\x1b[%dA", up)
	}
	if f.col > 0 {
		fmt.Fprintf(&s.buf, "\x1b[%dC", f.col)
	}
	if !hidden {
		s.buf.WriteString(seqShow)
	}
	s.shown, s.drawn = f, true
}

// resize adapts to a new width. Terminals wrap rows that are now too long, so
// the region has more rows than were written. resize counts and erases them all.
func (s *screen) resize(width int) error {
	if width == s.width || !s.drawn {
		s.width = width
		return nil
	}
	s.width = width
	up := 0
	for _, row := range s.shown.rows[:s.shown.row] {
		up += broken(row, width)
	}
	up += s.shown.col / width
	rows := 0
	for _, row := range s.shown.rows {
		rows += broken(row, width)
	}
	s.shown, s.drawn = frame{}, false
	seq := "\r"
	if up > 0 {
		seq += fmt.Sprintf("\x1b[%dA", up)
	}
	seq += seqSave + strings.Repeat(seqEraseLine+"\x1b[B", rows-1) + seqEraseLine + seqRestore
	return s.write(seqHide + seq)
}

// broken is how many terminal rows a row takes at a width.
func broken(row string, width int) int {
	return max((markup.Width(row)+width-1)/max(width, 1), 1)
}

// forget treats the terminal as new, as after another program used it.
func (s *screen) forget() { s.shown, s.drawn = frame{}, false }

// clear empties the terminal and its scrollback.
func (s *screen) clear() error {
	s.forget()
	return s.write(seqClear)
}

// stop removes the region and restores the terminal modes. It may be called
// again.
func (s *screen) stop() error {
	if !s.entered {
		return nil
	}
	s.entered = false
	s.buf.Reset()
	s.wipe()
	s.buf.WriteString(seqShow + seqLeave)
	return s.write(s.buf.String())
}

func (s *screen) write(text string) error {
	_, err := io.WriteString(s.w, text)
	return err
}
