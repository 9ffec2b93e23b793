package tui

import (
	"strings"
	"sync"
	"time"
)

// inputLine is what the user types into: a text with its completion, the history
// and the search in it.
type inputLine struct {
	editor
	draft   *editor // the unsent text while a question is answered
	past    history
	menu    menu
	find    *search         // nil if nothing is searched
	dir     string          // paths are completed from it
	skills  func() []choice // skills that can be called by name
	hint    string          // about the last key
	lastKey time.Time
	sent    time.Time // when something was sent last
	burst   bool      // it came faster after another than a user types
}

func newInputLine(o Options) inputLine {
	return inputLine{
		editor: newEditor(), past: history{path: o.History}, dir: o.Dir,
		skills: sync.OnceValue(func() []choice { return skillChoices(o.Commands.Skills) }),
	}
}

// wish is what a key wants done beyond the line.
type wish int

const (
	wishNothing wish = iota
	wishSend
	wishQuit
)

// key handles a key. The search or the menu gets it first. width is the
// width of the text.
func (l *inputLine) key(k keyMsg, width int) wish {
	if l.find != nil && l.searchKey(k) {
		return wishNothing
	}
	if l.menu.open() {
		if w, taken := l.menuKey(k); taken {
			return w
		}
	}
	return l.textKey(k, width)
}

// textKey edits the text and browses the history.
func (l *inputLine) textKey(k keyMsg, width int) wish {
	switch k.name {
	case "enter", "kpenter":
		if l.cur == 0 || l.cur < len(l.text) || l.text[l.cur-1] != '\\' {
			return wishSend
		}
		l.cut(l.cur-1, l.cur, false)
		l.insert("\n")
		return wishNothing
	case "alt+enter", "ctrl+j", "shift+enter", "ctrl+enter":
		l.insert("\n")
	case "ctrl+d":
		if l.empty() && l.draft == nil {
			return wishQuit
		}
		l.cut(l.cur, l.right(), false)
	case "tab":
		l.complete()
		return wishNothing
	case "up", "ctrl+p":
		l.upDown(-1, width)
		return wishNothing
	case "down", "ctrl+n":
		l.upDown(1, width)
		return wishNothing
	case "ctrl+r":
		l.past.load()
		l.find = &search{at: len(l.past.entries)}
		return wishNothing
	case "esc":
		l.menu.close()
		return wishNothing
	default:
		if !l.edit(k.name) {
			if k.text == "" {
				return wishNothing
			}
			l.insert(k.text)
		}
	}
	l.suggest()
	return wishNothing
}

// upDown moves between the rows of the text and, at its edges, through the
// history.
func (l *inputLine) upDown(by, width int) {
	if l.vertical(by, width) || l.draft != nil {
		return
	}
	if text, ok := l.past.step(by, l.value()); ok {
		l.set(text)
		l.menu.close()
	}
}

// pressed notes that a key was pressed and returns when the one before was.
func (l *inputLine) pressed(now time.Time) (last time.Time) {
	last, l.lastKey = l.lastKey, now
	return last
}

// pasted takes a pasted text.
func (l *inputLine) pasted(text string) {
	if !l.paste(text) {
		l.hint = "Too long to paste. Save it to a file and mention the file."
	}
	l.suggest()
}

// send empties the line and returns its text, which goes into the history.
func (l *inputLine) send(now time.Time) string {
	text := strings.TrimSpace(l.value())
	if text == "" {
		return ""
	}
	l.clear()
	l.menu.close()
	l.burst = now.Sub(l.sent) < settle
	l.sent = now
	if err := l.past.add(text); err != nil {
		l.hint = "History not saved: " + err.Error()
	}
	return text
}

// restore brings a text back that could not be sent. It does not do so for
// lines that a terminal pastes as if they were typed; those are in the history.
func (l *inputLine) restore(text string) {
	if l.empty() && !l.burst {
		l.set(text)
	}
}

// before puts a text before what is typed.
func (l *inputLine) before(text string) {
	switch {
	case text == "":
	case l.empty():
		l.set(text)
	default:
		l.cur = 0
		l.insert(text + "\n\n")
	}
}

// clear empties the text.
func (l *inputLine) clear() { l.editor = newEditor() }

// close ends the completion and the search.
func (l *inputLine) close() {
	l.menu.close()
	l.find = nil
}

// stash keeps the unsent text and empties the line for an answer.
func (l *inputLine) stash() {
	if l.draft == nil {
		draft := l.editor
		l.draft = &draft
		l.clear()
	}
}

// unstash brings the unsent text back.
func (l *inputLine) unstash() {
	if l.draft != nil {
		l.editor, l.draft = *l.draft, nil
	}
}

// answer is what is typed as the answer to a question, not the draft.
func (l *inputLine) answer() string {
	if l.draft == nil {
		return ""
	}
	return l.value()
}
