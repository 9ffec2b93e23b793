// Package chooser lets the user choose from a list on a terminal: typing filters the
// list, arrows move in it, Enter chooses. The list appears below earlier output
// and is removed afterwards. The package does not know what the items mean.
//
// Start at Run; state.go handles keys, match.go finds the matching items.
package chooser

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Options is a list to choose from.
type Options struct {
	Title string
	Items []string
	// Current is the index of the item in use, which is marked; -1 is none.
	Current int
	In      *os.File
	Out     *os.File
}

// ErrNoTerminal means that the list cannot be shown here.
var ErrNoTerminal = errors.New("no terminal to show the list on")

// maxRows is how many items are shown at once.
const maxRows = 15

// Run shows the list and returns the index of the chosen item, or -1 if the
// user cancelled.
func Run(o Options) (int, error) {
	in := int(o.In.Fd())
	if !term.IsTerminal(in) || !term.IsTerminal(int(o.Out.Fd())) {
		return -1, ErrNoTerminal
	}
	width, height, err := term.GetSize(int(o.Out.Fd()))
	if err != nil || width <= 0 || height <= 0 { // some terminals do not know their size
		width, height = 80, 24
	}
	before, err := term.MakeRaw(in)
	if err != nil {
		return -1, fmt.Errorf("prepare the terminal: %w", err)
	}
	index, err := run(o.In, o.Out, o.Title, newState(o, min(maxRows, height-3), width))
	return index, errors.Join(err, term.Restore(in, before))
}

// run reads keys and draws until the user chooses or cancels.
func run(in io.Reader, out io.Writer, title string, s *state) (int, error) {
	drawn := 0
	keys := make([]byte, 256)
	for {
		lines := s.lines(title)
		if _, err := io.WriteString(out, frame(lines, drawn)); err != nil {
			return -1, err
		}
		drawn = len(lines)
		n, err := in.Read(keys)
		o := s.press(string(keys[:n]))
		if o == going && err == nil {
			continue
		}
		if _, werr := io.WriteString(out, erase(drawn)+"\x1b[?25h"); werr != nil {
			return -1, werr
		}
		if o == chosen {
			return s.choice(), nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return -1, err
		}
		return -1, nil
	}
}

// frame draws lines over the earlier ones.
func frame(lines []string, drawn int) string {
	return "\x1b[?25l" + erase(drawn) + strings.Join(lines, "\r\n")
}

// erase removes lines; the cursor is in the last one.
func erase(lines int) string {
	if lines == 0 {
		return ""
	}
	up := ""
	if lines > 1 {
		up = fmt.Sprintf("\x1b[%dA", lines-1)
	}
	return "\r" + up + "\x1b[J"
}
