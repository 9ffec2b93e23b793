package tui

import (
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/markup"
	"hermes/internal/tui/input"
)

// approvalOptions are the answers to an approval, the refusal last.
func approvalOptions(a *hermes.ApprovalRequest) []option {
	list := []option{{key: "o", label: "allow once", words: []string{"y", "yes", "once"}, answer: hermes.ApprovalAnswer{Decision: hermes.AllowOnce}}}
	if len(a.Session) > 0 {
		list = append(list, option{key: "s", label: "this session", words: []string{"session"},
			answer: hermes.ApprovalAnswer{Decision: hermes.AllowSession, Scope: a.Session[0]}})
	}
	for _, scope := range a.Always {
		o := option{key: "a", label: "always here", words: []string{"always"}, answer: hermes.ApprovalAnswer{Decision: hermes.AllowAlways, Scope: scope}}
		if scope == hermes.ScopeKind {
			o.key, o.label, o.words = "k", "always this kind", []string{"kind"}
		}
		list = append(list, o)
	}
	return append(list, option{key: "d", label: "deny", words: []string{"n", "no", "deny"}, answer: hermes.ApprovalAnswer{Decision: hermes.Deny}})
}

// yesNo are the answers to a question of the chat itself.
func yesNo() []option {
	return []option{{key: "y", label: "yes", words: []string{"yes"}}, {key: "n", label: "no", words: []string{"no"}}}
}

// named returns the option that a typed text names as a whole, else -1.
func (a *ask) named(text string) int {
	low := strings.ToLower(strings.TrimSpace(text))
	if a.pasted || low == "" {
		return -1
	}
	return slices.IndexFunc(a.options, func(o option) bool { return low == o.key || slices.Contains(o.words, low) })
}

// reason is the typed text if it is no choice.
func (a *ask) reason(text string) string {
	if a.named(text) >= 0 {
		return ""
	}
	return strings.TrimSpace(text)
}

// selectTyped selects what the typed text names, or else the last option, which
// refuses.
func (a *ask) selectTyped(text string) {
	a.pasted = a.pasted && text != ""
	if a.at = a.named(text); a.at < 0 {
		a.at = len(a.options) - 1
	}
}

// chooses reports whether a question is answered by a choice and a separate
// Enter: an approval, or a yes or no.
func (a *ask) chooses() bool { return a.approval != nil || a.confirm != "" }

// choose handles a key at such a question. Typed text never answers alone: it
// selects, and Enter confirms. Text that is no choice selects the refusal.
func (m *model) choose(a *ask, k input.Key) []any {
	m.input.Stash()
	reason := a.reason(m.input.Value())
	switch k.Name {
	case "enter", "kpenter":
		if m.now().Sub(a.moved) < settle {
			return nil // Up and Enter, by habit, repeat the last message
		}
		return m.chosen(a, a.options[a.at], reason)
	case "esc":
		return m.chosen(a, a.options[len(a.options)-1], "")
	case "ctrl+d":
		if m.input.Empty() && a.approval != nil {
			return []any{quitDo{}} // the question stays open
		}
		return nil
	case "left", "up", "shift+tab", "right", "down", "tab":
		if reason != "" {
			m.input.Edit(k.Name)
			return nil
		}
		by := 1
		if k.Name == "left" || k.Name == "up" || k.Name == "shift+tab" {
			by = len(a.options) - 1
		}
		if k.Name == "up" || k.Name == "down" {
			a.moved = m.now()
		}
		m.input.Clear()
		a.pasted = false
		a.at = (a.at + by) % len(a.options)
		return nil
	}
	if !m.input.Edit(k.Name) && k.Text != "" {
		m.input.Insert(k.Text)
	}
	a.selectTyped(m.input.Value())
	return nil
}

// chosen ends the question with an answer.
func (m *model) chosen(a *ask, o option, reason string) []any {
	if a.approval != nil {
		answer := o.answer
		if answer.Decision == hermes.Deny {
			answer.Reason = reason
		}
		return m.resolve(hermes.Reply{ID: a.id, Approval: answer}, recorded(answer))
	}
	m.closeAsk()
	if o.key == "y" {
		return m.conv.later(commandDo{a.confirm})
	}
	m.input.Insert(reason) // the user began to write something else
	return nil
}

// letters are the keys of the options; the last one is the default of an empty
// line.
func (a *ask) letters() string {
	var keys []string
	for i, o := range a.options {
		if i == len(a.options)-1 {
			o.key = strings.ToUpper(o.key)
		}
		keys = append(keys, o.key)
	}
	return strings.Join(keys, "/")
}

// recorded is how an answered approval is shown in the scrollback.
func recorded(a hermes.ApprovalAnswer) string {
	switch {
	case a.Decision == hermes.AllowOnce:
		return "allowed once"
	case a.Decision == hermes.AllowSession:
		return "allowed for this session"
	case a.Decision == hermes.AllowAlways && a.Scope == hermes.ScopeKind:
		return "always allowed, this kind"
	case a.Decision == hermes.AllowAlways:
		return "always allowed, this call in this folder"
	case a.Reason != "":
		return "denied: " + markup.OneLine(a.Reason)
	}
	return "denied"
}

// covers says what the selected answer allows, for how long, where it is kept
// and how it ends.
func (a *ask) covers(o option, reason string) string {
	if a.approval == nil {
		return ""
	}
	switch o.answer.Decision {
	case hermes.AllowOnce:
		return "Runs this once."
	case hermes.AllowSession:
		return "Until this session ends: " + a.scope(o.answer.Scope) + "."
	case hermes.AllowAlways:
		return fmt.Sprintf("For good, also in new sessions: %s. Kept in %s; `hermes permissions revoke` ends it.", a.scope(o.answer.Scope), markup.Visible(a.approval.Stored))
	}
	if reason != "" {
		return "Enter to deny. The model is told what you typed."
	}
	return "Type a reason to tell the model why."
}

// scope describes the calls that a grant covers.
func (a *ask) scope(s hermes.GrantScope) string {
	if s == hermes.ScopeCall {
		what := "this call"
		switch a.approval.Tool {
		case "terminal":
			what = "this command"
		case "write_file", "patch":
			what = "any change of this file"
		}
		if a.approval.Dir != "" {
			what += " in " + markup.Visible(a.approval.Dir)
		}
		return what
	}
	var risks []string
	for _, r := range a.approval.Risks {
		risks = append(risks, markup.OneLine(r.Reason))
	}
	return fmt.Sprintf("every call of %s with this risk, in any folder (%s)", a.approval.Tool, strings.Join(risks, "; "))
}

// explained draws the options and what the selected one allows.
func (a *ask) explained(t theme, width int, text string) []string {
	rows := a.strip(t, width)
	reason := a.reason(text)
	for _, row := range wrapPlain(a.covers(a.options[a.at], reason), max(width-4, 8)) {
		rows = append(rows, t.Faint(markup.Clip("  "+row, width)))
	}
	return rows
}
