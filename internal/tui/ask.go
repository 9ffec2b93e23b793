package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hermes"
	"hermes/internal/markup"
	"hermes/internal/session"
)

// settle is how long the keys must have been quiet before they may answer a
// question, so that nobody agrees to what came up while they were typing.
const settle = 400 * time.Millisecond

// ask is an open question: to allow something, to choose or to say something,
// or a yes or no of the chat itself.
type ask struct {
	id       string
	approval *hermes.ApprovalRequest
	question *hermes.Question
	confirm  string // the command line that waits for a yes

	options []option
	at      int
	marked  map[int]bool // for several choices
	typing  bool         // the answer is written in the input
	shown   time.Time
	armed   bool // the keys were quiet for a moment: they are meant for it
}

// option is an answer that can be picked.
type option struct {
	key      string
	label    string
	decision hermes.Decision
}

// newAsk makes what is shown of an Asked event.
func newAsk(e hermes.Asked, now time.Time) *ask {
	a := &ask{id: e.ID, approval: e.Approval, question: e.Question, shown: now, marked: map[int]bool{}}
	if e.Approval != nil {
		a.options = []option{
			{"o", "once", hermes.AllowOnce},
			{"s", "for this session", hermes.AllowSession},
			{"a", "always", hermes.AllowAlways},
			{"d", "deny", hermes.Deny},
		}
		if slices.ContainsFunc(e.Approval.Risks, func(r hermes.Risk) bool { return r.NoRemember }) {
			a.options = slices.Delete(a.options, 2, 3) // such consent ends with the session
		}
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
	a.options = append(a.options, option{key: fmt.Sprint(len(a.options) + 1), label: "something else"})
	return a
}

// newConfirm makes a yes or no about a command line.
func newConfirm(line string, now time.Time) *ask {
	return &ask{confirm: line, shown: now, at: 1, options: []option{{key: "y", label: "yes"}, {key: "n", label: "no"}}}
}

// other is the place of the answer that is written.
func (a *ask) other() int { return len(a.options) - 1 }

// chosen are the texts of the choices that are marked, or of the one that is
// pointed at.
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

func (a *ask) answer(texts ...string) session.Reply {
	return session.Reply{ID: a.id, Answer: hermes.Answer{Texts: texts}}
}

// dismissal leaves the question without an answer.
func (a *ask) dismissal() session.Reply {
	return session.Reply{ID: a.id, Answer: hermes.Answer{Dismissed: true}}
}

// picked are the choices that a typed line names by number, or the line
// itself. own says that words of one's own are to follow.
func (a *ask) picked(line string) (texts []string, own bool) {
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

func (a *ask) decision(c hermes.Decision) session.Reply {
	return session.Reply{ID: a.id, Decision: c}
}

// lines print what is asked into the scrollback, whole, so that it can be read
// however long it is.
func (a *ask) lines(t theme, width int) []string {
	if q := a.question; q != nil {
		lines := markup.Render(q.Text, t.prose(width))
		if q.Of > 1 {
			lines = append([]string{t.faint(fmt.Sprintf("question %d of %d", q.Number, q.Of))}, lines...)
		}
		return lines
	}
	head := "May " + a.approval.Tool + " do this?"
	if a.approval.Dir != "" {
		head += t.faint("  in " + markup.Visible(a.approval.Dir))
	}
	lines := []string{t.warn("▌ ") + t.strong(head)}
	bar := t.warn("▌ ")
	for raw := range strings.SplitSeq(markup.Visible(a.approval.Subject), "\n") {
		for _, row := range markup.Fold(strings.ReplaceAll(raw, "\t", "    "), max(width-4, 8)) {
			lines = append(lines, bar+"  "+row)
		}
	}
	for _, r := range a.approval.Risks {
		for _, row := range wrapPlain(oneLine(r.Reason), max(width-4, 8)) {
			lines = append(lines, bar+t.warn(row))
		}
	}
	return lines
}

// rows draw the options in the live region.
func (a *ask) rows(t theme, width int) []string {
	if a.approval != nil || a.confirm != "" {
		return a.strip(t, width)
	}
	var rows []string
	for i, o := range a.options {
		mark := "  "
		if i == a.at && !a.typing {
			mark = t.accent("› ")
		}
		box := ""
		if a.question.Multiple && i < a.other() {
			box = "[ ] "
			if a.marked[i] {
				box = "[x] "
			}
		}
		label := fmt.Sprintf("%s. %s%s", o.key, box, oneLine(o.label))
		rows = append(rows, mark+markup.Clip(label, width-2))
	}
	if a.typing || len(rows) == 0 {
		return rows
	}
	hint := "arrows or a number, Enter takes it, Esc skips the question"
	if a.question.Multiple {
		hint = "Space marks, Enter takes them, Esc skips the question"
	}
	return append(rows, t.faint(markup.Clip("  "+hint, width)))
}

// letters are the answers to an approval as a line offers them; the last one
// is what an empty line means.
func (a *ask) letters() string {
	words := map[hermes.Decision]string{
		hermes.AllowOnce: "[o]nce", hermes.AllowSession: "for this [s]ession", hermes.AllowAlways: "[a]lways", hermes.Deny: "[D]eny",
	}
	var offered []string
	for _, o := range a.options {
		offered = append(offered, words[o.decision])
	}
	return strings.Join(offered, ", ")
}

// strip draws the options in one row, or one below another where that is too
// narrow.
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
