// Package input is the line that the user of the chat types into: the text with
// its cursor, the completion of commands, skills and paths, the history of what
// was sent, and the search in it. It knows nothing of a session or of the
// terminal: keys come in, and rows come out.
//
// Start at line.go; editor.go is the text, layout.go how it is drawn.
package input

import (
	"context"
	"strings"
	"sync"
	"time"

	"hermes"
)

// Skills are the skills that can be called by name.
type Skills interface {
	List(ctx context.Context) ([]hermes.Skill, error)
}

// Line is what the user types into: a text with its completion, the history
// and the search in it.
type Line struct {
	// Hint is about the last key; empty for none.
	Hint string
	// Elsewhere reports whether paths are not those of this machine, so that Names is wished; nil is no.
	Elsewhere func() bool

	editor
	draft   *editor // the unsent text while a question is answered
	past    history
	menu    menu
	find    *search         // nil if nothing is searched
	dir     string          // paths are completed from it
	skills  func() []choice // skills that can be called by name
	lastKey time.Time
	sent    time.Time // when something was sent last
	burst   bool      // it came faster after another than a user types
}

// New returns an empty line. Paths are completed from dir. What is sent is kept
// in a file; an empty one keeps nothing. Skills may be nil.
func New(dir, file string, skills Skills) Line {
	return Line{
		editor: newEditor(), past: history{path: file}, dir: dir,
		skills: sync.OnceValue(func() []choice { return skillChoices(skills) }),
	}
}

// Theme paints text.
type Theme interface {
	Accent(text string) string
	Faint(text string) string
	Strong(text string) string
}

// burstTime is the shortest time between two lines that a user types.
const burstTime = 400 * time.Millisecond

// Wish is what a key wants done beyond the line.
type Wish int

// The wishes.
const (
	Nothing Wish = iota
	Send         // send the text
	Quit
	NextMode // go on to the next mode
	Names    // offer the names that Word may become
)

// Key is a key that was pressed.
type Key struct {
	Name string // such as "enter" or "ctrl+c"
	Text string // what it types, if anything
}

// Press handles a key. The search or the menu gets it first. width is that of
// the rows that Rows draws.
func (l *Line) Press(k Key, width int) Wish {
	if l.find != nil && l.searchKey(k) {
		return Nothing
	}
	if l.menu.open() {
		if w, taken := l.menuKey(k); taken {
			return w
		}
	}
	return l.textKey(k, textWidth(width))
}

// textKey edits the text and browses the history.
func (l *Line) textKey(k Key, width int) Wish {
	switch k.Name {
	case "enter", "kpenter":
		if l.cur == 0 || l.cur < len(l.text) || l.text[l.cur-1] != '\\' {
			return Send
		}
		l.cut(l.cur-1, l.cur, false)
		l.Insert("\n")
		return Nothing
	case "alt+enter", "ctrl+j", "shift+enter", "ctrl+enter":
		l.Insert("\n")
	case "ctrl+d":
		if l.Empty() && l.draft == nil {
			return Quit
		}
		l.cut(l.cur, l.right(), false)
	case "tab":
		return l.complete()
	case "shift+tab":
		return NextMode
	case "up", "ctrl+p":
		l.upDown(-1, width)
		return Nothing
	case "down", "ctrl+n":
		l.upDown(1, width)
		return Nothing
	case "ctrl+r":
		l.past.load()
		l.find = &search{at: len(l.past.entries)}
		return Nothing
	case "esc":
		l.menu.close()
		return Nothing
	default:
		if !l.Edit(k.Name) {
			if k.Text == "" {
				return Nothing
			}
			l.Insert(k.Text)
		}
	}
	l.suggest()
	return Nothing
}

// upDown moves between the rows of the text and, at its edges, through the
// history.
func (l *Line) upDown(by, width int) {
	if l.vertical(by, width) || l.draft != nil {
		return
	}
	if text, ok := l.past.step(by, l.Value()); ok {
		l.set(text)
		l.menu.close()
	}
}

// Pressed notes that a key was pressed and returns when the one before was.
func (l *Line) Pressed(now time.Time) (last time.Time) {
	last, l.lastKey = l.lastKey, now
	return last
}

// Paste takes a pasted text.
func (l *Line) Paste(text string) {
	if !l.paste(text) {
		l.Hint = "Too long to paste. Save it to a file and mention the file."
	}
	l.suggest()
}

// Send empties the line and returns its text, which goes into the history.
func (l *Line) Send(now time.Time) string {
	text := strings.TrimSpace(l.Value())
	if text == "" {
		return ""
	}
	l.Clear()
	l.menu.close()
	l.burst = now.Sub(l.sent) < burstTime
	l.sent = now
	if err := l.past.add(text); err != nil {
		l.Hint = "History not saved: " + err.Error()
	}
	return text
}

// Restore brings a text back that could not be sent. It does not do so for
// lines that a terminal pastes as if they were typed; those are in the history.
func (l *Line) Restore(text string) {
	if l.Empty() && !l.burst {
		l.set(text)
	}
}

// Before puts a text before what is typed.
func (l *Line) Before(text string) {
	switch {
	case text == "":
	case l.Empty():
		l.set(text)
	default:
		l.cur = 0
		l.Insert(text + "\n\n")
	}
}

// Back puts a text that was sent before what is typed, also while an answer is typed.
func (l *Line) Back(text string) {
	if l.draft == nil {
		l.Before(text)
		return
	}
	answer := l.editor
	l.editor = *l.draft
	l.Before(text)
	draft := l.editor
	l.editor, l.draft = answer, &draft
}

// Clear empties the text.
func (l *Line) Clear() { l.editor = newEditor() }

// Close ends the completion and the search.
func (l *Line) Close() {
	l.menu.close()
	l.find = nil
}

// Stash keeps the unsent text and empties the line for an answer.
func (l *Line) Stash() {
	if l.draft == nil {
		draft := l.editor
		l.draft = &draft
		l.Clear()
	}
}

// Unstash brings the unsent text back.
func (l *Line) Unstash() {
	if l.draft != nil {
		l.editor, l.draft = *l.draft, nil
	}
}

// Answer is what is typed as the answer to a question, not the draft.
func (l *Line) Answer() string {
	if l.draft == nil {
		return ""
	}
	return l.Value()
}

// Stashed reports whether an unsent text is kept.
func (l *Line) Stashed() bool { return l.draft != nil }

// Searching reports whether the user searches in the history.
func (l *Line) Searching() bool { return l.find != nil }
