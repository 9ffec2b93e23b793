package tui

import (
	"fmt"
	"io"
	"strings"

	"hermes/internal/markup"
)

// Sequences that are written. Terminals that do not know the synchronised
// update or the keyboard protocol ignore them; nothing is asked of the
// terminal, so nothing has to be waited for and no answer can get lost.
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
	// Bracketed paste, and keys told apart (Shift+Enter) where it is known.
	seqEnter = "\x1b[?2004h\x1b[>1u"
	seqLeave = "\x1b[<u\x1b[?2004l"
)

// frame is the live region: rows that fit the width, and the cursor in it.
// A cursor with a negative row is hidden.
type frame struct {
	rows     []string
	row, col int
}

// screen draws below the scrollback. It knows the region by rows relative to
// the cursor and never by place on the terminal.
type screen struct {
	w       io.Writer
	width   int
	shown   frame // what the terminal shows now
	drawn   bool  // a region stands on the terminal
	entered bool  // the modes are set
	buf     strings.Builder
}

// start puts the terminal into the modes of the chat.
func (s *screen) start() error {
	s.entered = true
	return s.write(seqEnter)
}

// draw prints lines for good above the region and brings the region to a new
// state, in one write.
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

// wipe empties the region and stays at its first cell. It goes row by row:
// some terminals keep a copy of what is erased at once from their first cell on.
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

// region writes the rows that differ and places the cursor.
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

// resize is to be called when the terminal has another width. Terminals break
// rows that are now too long, so the region has more rows than were written:
// it is counted how many, and all of them are erased.
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

// broken is how many rows of the terminal a row takes at a width.
func broken(row string, width int) int {
	return max((markup.Width(row)+width-1)/max(width, 1), 1)
}

// forget treats the terminal as new, as after another program had it.
func (s *screen) forget() { s.shown, s.drawn = frame{}, false }

// clear empties the terminal and its scrollback.
func (s *screen) clear() error {
	s.forget()
	return s.write(seqClear)
}

// stop takes the region away and gives the terminal back as it was. It may be
// called again.
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
