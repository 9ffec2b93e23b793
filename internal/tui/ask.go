package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"hermes"
	"hermes/internal/markup"
)

// settle is how long no key may have been pressed before keys can answer a
// question. It keeps users from approving what appears while they type.
const settle = 400 * time.Millisecond

// ask is an open question: an approval, a question of the agent, or a yes or
// no of the chat itself.
type ask struct {
	id       string
	session  string // the child session that asks; "" is the session of the chat
	origin   string // says so
	approval *hermes.ApprovalRequest
	question *hermes.Question
	confirm  string // the command line that a yes sends

	options []option
	at      int
	marked  map[int]bool // for several choices
	typing  bool         // the answer is typed into the input
	shown   time.Time
	armed   bool      // no key was pressed for settle, so keys answer the question
	pasted  bool      // a text was pasted, which is never a choice
	moved   time.Time // when Up or Down was pressed last
	touched time.Time // when the session was told last that the user answers
}

// touchTime is how often the session is told that the user answers a question.
const touchTime = 15 * time.Second

// touch returns the action that tells the session that the user answers, if it is time for that.
func (a *ask) touch(now time.Time) []any {
	if a.confirm != "" || now.Sub(a.touched) < touchTime {
		return nil
	}
	a.touched = now
	return []any{submitDo{hermes.Touch{ID: a.id}, a.session}}
}

// arm reports whether keys answer the question: no key was pressed for a while
// before it, or an earlier key answered it already.
func (a *ask) arm(last, now time.Time) bool {
	a.armed = a.armed || now.Sub(maxTime(last, a.shown)) >= settle
	return a.armed
}

// option is an answer that can be chosen.
type option struct {
	key    string
	label  string
	words  []string // that name the option when they are typed
	answer hermes.ApprovalAnswer
}

// newAsk makes the open question of an Asked event.
func newAsk(e hermes.Asked, now time.Time) *ask {
	a := &ask{id: e.ID, approval: e.Approval, question: e.Question, shown: now, marked: map[int]bool{}}
	if e.Approval != nil {
		a.options = approvalOptions(e.Approval)
		a.at = len(a.options) - 1
		return a
	}
	for i, c := range e.Question.Choices {
		a.options = append(a.options, option{key: fmt.Sprint(i + 1), label: c})
	}
	if len(a.options) == 0 {
		a.typing = true
		return a
	}
	a.options = append(a.options, option{key: fmt.Sprint(len(a.options) + 1), label: "another answer"})
	return a
}

// newConfirm makes a yes or no about a command line.
func newConfirm(line string, now time.Time) *ask {
	return &ask{confirm: line, shown: now, at: 1, options: yesNo()}
}

// other is the index of the option to type an answer.
func (a *ask) other() int { return len(a.options) - 1 }

// chosen are the texts of the marked choices, or of the highlighted one if
// none is marked.
func (a *ask) chosen() []string {
	var texts []string
	for i := range a.question.Choices {
		if a.marked[i] {
			texts = append(texts, a.question.Choices[i])
		}
	}
	if len(texts) == 0 && a.at < len(a.question.Choices) {
		texts = []string{a.question.Choices[a.at]}
	}
	return texts
}

func (a *ask) answer(texts ...string) hermes.Reply {
	return hermes.Reply{ID: a.id, Answer: hermes.Answer{Texts: texts}}
}

// dismissal closes the question without an answer.
func (a *ask) dismissal() hermes.Reply {
	return hermes.Reply{ID: a.id, Answer: hermes.Answer{Dismissed: true}}
}

// chosenByLine returns the choices that a typed line names by number, or the line
// itself. own reports that the user wants to type an answer next.
func (a *ask) chosenByLine(line string) (texts []string, own bool) {
	fields := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' })
	if len(fields) == 0 || len(fields) > 1 && !a.question.Multiple {
		return []string{line}, false
	}
	for _, f := range fields {
		n, err := strconv.Atoi(f)
		switch choices := a.question.Choices; {
		case err != nil || n < 1 || n > len(a.options):
			return []string{line}, false
		case n > len(choices):
			own = true
		default:
			texts = append(texts, choices[n-1])
		}
	}
	return texts, own
}

// denial refuses an approval.
func (a *ask) denial(reason string) hermes.Reply {
	return hermes.Reply{ID: a.id, Approval: hermes.ApprovalAnswer{Decision: hermes.Deny, Reason: reason}}
}

// lines print the whole question into the scrollback, so that it can be read
// however long it is.
func (a *ask) lines(t theme, width int) []string {
	lines := a.body(t, width)
	if a.origin != "" {
		lines = append([]string{t.Faint(markup.Clip(a.origin, width))}, lines...)
	}
	return lines
}

func (a *ask) body(t theme, width int) []string {
	if q := a.question; q != nil {
		lines := markup.Render(q.Text, t.prose(width))
		if q.Of > 1 {
			lines = append([]string{t.Faint(fmt.Sprintf("Question %d of %d", q.Number, q.Of))}, lines...)
		}
		return lines
	}
	head := heading(a.approval.Tool)
	if a.approval.Dir != "" {
		head += t.Faint("  in " + markup.Visible(a.approval.Dir))
	}
	lines := []string{t.Warn("▌ ") + t.Strong(head)}
	bar := t.Warn("▌ ")
	for raw := range strings.SplitSeq(markup.Visible(a.approval.Subject), "\n") {
		for _, row := range markup.Fold(strings.ReplaceAll(raw, "\t", "    "), max(width-4, 8)) {
			lines = append(lines, bar+"  "+row)
		}
	}
	if a.approval.Detail != "" {
		lines = append(lines, bar)
		for raw := range strings.SplitSeq(markup.Visible(a.approval.Detail), "\n") {
			for _, row := range markup.Fold(strings.ReplaceAll(raw, "\t", "    "), max(width-4, 8)) {
				lines = append(lines, bar+"  "+t.Faint(row))
			}
		}
	}
	outside := false
	for _, r := range a.approval.Risks {
		if r.Key == hermes.KeyEscape {
			outside = true
			continue
		}
		for _, row := range wrapPlain(markup.OneLine(r.Reason), max(width-4, 8)) {
			lines = append(lines, bar+t.Warn(row))
		}
	}
	if outside { // last, so that nothing pushes it out of sight
		for _, row := range wrapPlain("It runs OUTSIDE of the sandbox, with everything that you may do.", max(width-4, 8)) {
			lines = append(lines, bar+t.Warn(t.Strong(row)))
		}
	}
	return lines
}

// heading asks for the approval of a tool.
func heading(tool string) string {
	switch tool {
	case "terminal":
		return "Run this command?"
	case "write_file":
		return "Write this file?"
	case "patch":
		return "Edit this file?"
	case "restore":
		return "Undo these changes of files?"
	case "memory", "learning", "skill_manage":
		return "Allow " + tool + " to make this change?"
	}
	return "Allow " + tool + " to do this?"
}

// rows draw the options in the live region.
func (a *ask) rows(t theme, width int, text string) []string {
	if a.chooses() {
		return a.explained(t, width, text)
	}
	var rows []string
	for i, o := range a.options {
		mark := "  "
		if i == a.at && !a.typing {
			mark = t.Accent("› ")
		}
		box := ""
		if a.question.Multiple && i < a.other() {
			box = "[ ] "
			if a.marked[i] {
				box = "[x] "
			}
		}
		label := fmt.Sprintf("%s. %s%s", o.key, box, markup.OneLine(o.label))
		rows = append(rows, mark+markup.Clip(label, width-2))
	}
	if a.typing || len(rows) == 0 {
		return rows
	}
	hint := "Arrows or a number to choose, Enter to confirm, Esc to skip"
	if a.question.Multiple {
		hint = "Space to mark, Enter to confirm, Esc to skip"
	}
	return append(rows, t.Faint(markup.Clip("  "+hint, width)))
}

// strip draws the options in one row, or one below another where the row is
// too narrow.
func (a *ask) strip(t theme, width int) []string {
	var parts []string
	used := 2
	for i, o := range a.options {
		label := o.key + " " + o.label
		used += markup.Width(label) + 3
		if i == a.at {
			label = t.paint(markup.Style{Attr: markup.Reverse}, " "+label+" ")
		} else {
			label = " " + label + " "
		}
		parts = append(parts, label)
	}
	if used <= width {
		return []string{" " + strings.Join(parts, " ")}
	}
	for i := range parts {
		parts[i] = markup.Clip(" "+parts[i], width)
	}
	return parts
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
