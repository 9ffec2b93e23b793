package input

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hermes/internal/markup"
)

// A pasted text at least this long is folded: the input shows a label for it.
const (
	foldLines = 8
	foldBytes = 1000
	maxInput  = 1 << 20 // bytes; more is refused
)

// foldBase is the first of the private-use characters that represent folded
// pastes. As a single character, a paste is skipped and deleted as a whole.
const foldBase = '\U000F0000'

// editor is a text of several lines with a cursor.
type editor struct {
	text  []rune
	cur   int
	folds []string
	yank  []rune // what was cut last
	goal  int    // the column that up and down try to keep; -1 is none
}

func newEditor() editor { return editor{goal: -1} }

// Value is the text with folded pastes expanded.
func (e *editor) Value() string {
	var b strings.Builder
	for _, r := range e.text {
		if i, ok := e.foldOf(r); ok {
			b.WriteString(e.folds[i])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (e *editor) foldOf(r rune) (int, bool) {
	i := int(r - foldBase)
	return i, r >= foldBase && i < len(e.folds)
}

func (e *editor) Empty() bool { return len(e.text) == 0 }

// set replaces the text and puts the cursor at its end.
func (e *editor) set(text string) {
	e.text = []rune(cleanInput(text))
	e.cur, e.goal, e.folds = len(e.text), -1, nil
}

func (e *editor) Insert(text string) {
	e.insertRunes([]rune(cleanInput(text)))
}

func (e *editor) insertRunes(r []rune) {
	e.text = slices.Insert(e.text, e.cur, r...)
	e.cur += len(r)
	e.goal = -1
}

// paste inserts a text, folded if it is long. It reports whether it fit.
func (e *editor) paste(text string) bool {
	text = cleanInput(text)
	if len(text)+len(e.Value()) > maxInput {
		return false
	}
	if len(text) < foldBytes && strings.Count(text, "\n") < foldLines || len(e.folds) >= 0x1000 {
		e.Insert(text)
		return true
	}
	e.folds = append(e.folds, text)
	e.insertRunes([]rune{foldBase + rune(len(e.folds)-1)})
	return true
}

// cleanInput makes all line ends "\n" and drops control characters and the
// private-use characters that represent folds.
func cleanInput(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.IsControl(r) || r >= foldBase && r < foldBase+0x1000 || r == utf8.RuneError {
			return -1
		}
		return r
	}, text)
}

// left and right are the indexes one character before and after the cursor.
func (e *editor) left() int {
	if e.cur == 0 {
		return 0
	}
	start := e.cur
	for start > 0 && e.cur-start < 32 && e.text[start-1] != '\n' {
		start--
	}
	if start == e.cur {
		return e.cur - 1
	}
	last := start
	for at := start; at < e.cur; {
		last = at
		at += clusterRunes(e.text[at:e.cur])
	}
	return last
}

func (e *editor) right() int {
	if e.cur >= len(e.text) {
		return len(e.text)
	}
	return e.cur + clusterRunes(e.text[e.cur:])
}

func clusterRunes(text []rune) int {
	if len(text) == 1 || text[0] < utf8.RuneSelf && text[1] < utf8.RuneSelf {
		return 1
	}
	s := string(text[:min(len(text), 32)])
	n, _ := markup.Cluster(s)
	return utf8.RuneCountInString(s[:n])
}

func (e *editor) move(to int) {
	e.cur = min(max(to, 0), len(e.text))
	e.goal = -1
}

// cut removes from..to and keeps it for yank if keep is set.
func (e *editor) cut(from, to int, keep bool) {
	if from >= to {
		return
	}
	if keep {
		e.yank = slices.Clone(e.text[from:to])
	}
	e.text = slices.Delete(e.text, from, to)
	e.move(from)
}

func (e *editor) wordLeft() int {
	i := e.cur
	for i > 0 && !wordRune(e.text[i-1]) {
		i--
	}
	for i > 0 && wordRune(e.text[i-1]) {
		i--
	}
	return i
}

func (e *editor) wordRight() int {
	i := e.cur
	for i < len(e.text) && !wordRune(e.text[i]) {
		i++
	}
	for i < len(e.text) && wordRune(e.text[i]) {
		i++
	}
	return i
}

// blankLeft is where the space-separated word before the cursor begins.
func (e *editor) blankLeft() int {
	i := e.cur
	for i > 0 && unicode.IsSpace(e.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(e.text[i-1]) {
		i--
	}
	return i
}

func wordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func (e *editor) lineStart() int {
	i := e.cur
	for i > 0 && e.text[i-1] != '\n' {
		i--
	}
	return i
}

func (e *editor) lineEnd() int {
	i := e.cur
	for i < len(e.text) && e.text[i] != '\n' {
		i++
	}
	return i
}

// Edit handles the keys that change only the text or the cursor. It reports
// whether the key is one of them.
func (e *editor) Edit(name string) bool {
	switch name {
	case "left", "ctrl+b":
		e.move(e.left())
	case "right", "ctrl+f":
		e.move(e.right())
	case "alt+left", "ctrl+left", "alt+b":
		e.move(e.wordLeft())
	case "alt+right", "ctrl+right", "alt+f":
		e.move(e.wordRight())
	case "home", "ctrl+a":
		e.move(e.lineStart())
	case "end", "ctrl+e":
		e.move(e.lineEnd())
	case "ctrl+home":
		e.move(0)
	case "ctrl+end":
		e.move(len(e.text))
	case "backspace", "ctrl+h", "shift+backspace":
		e.cut(e.left(), e.cur, false)
	case "delete":
		e.cut(e.cur, e.right(), false)
	case "ctrl+w":
		e.cut(e.blankLeft(), e.cur, true)
	case "alt+backspace", "ctrl+backspace":
		e.cut(e.wordLeft(), e.cur, true)
	case "alt+d", "ctrl+delete", "alt+delete":
		e.cut(e.cur, e.wordRight(), true)
	case "ctrl+u":
		e.cut(e.lineStart(), e.cur, true)
	case "ctrl+k":
		if end := e.lineEnd(); end > e.cur {
			e.cut(e.cur, end, true)
		} else {
			e.cut(e.cur, min(e.cur+1, len(e.text)), true)
		}
	case "ctrl+y":
		e.insertRunes(e.yank)
	default:
		return false
	}
	return true
}
