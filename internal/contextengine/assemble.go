package contextengine

import (
	"slices"

	"hermes"
)

// assemble replaces the cut messages by the summary, with the role that keeps
// roles alternating. If no role fits, the summary becomes the first part of the
// message after it. The user's last message stays between the summary and the
// tail.
func (w *work) assemble(c cut, summary hermes.Part) {
	head, rest := w.entries[:c.head:c.head], w.entries[c.tail:]
	if c.last >= 0 {
		rest = slices.Concat(w.entries[c.last:c.last+1], rest)
	}
	before, after := hermes.Role(""), hermes.Role("")
	if c.head > 0 {
		before = head[c.head-1].m.Role
	}
	if len(rest) > 0 {
		after = rest[0].m.Role
	}
	role, ok := fitting(before, after)
	if !ok {
		first := rest[0]
		summary.Text, summary.Hidden = summary.Text+"\n", true
		first.m.Parts = slices.Insert(slices.Clone(first.m.Parts), 0, summary)
		first.origin.Same = false
		w.entries = slices.Concat(head, []entry{first}, rest[1:])
		return
	}
	s := entry{
		m:      hermes.Message{Role: role, Parts: []hermes.Part{summary}, Synthetic: true, Turn: w.entries[c.tail-1].m.Turn},
		origin: hermes.MessageOrigin{Index: w.entries[c.head].origin.Index},
	}
	w.entries = slices.Concat(head, []entry{s}, rest)
}

// fitting returns the role of a summary between two messages. A conversation
// begins with the user.
func fitting(before, after hermes.Role) (hermes.Role, bool) {
	for _, r := range []hermes.Role{hermes.RoleUser, hermes.RoleAssistant} {
		if r == before || r == after || r == hermes.RoleAssistant && before == "" {
			continue
		}
		return r, true
	}
	return "", false
}

// sanitize removes results without a call and calls without a result, because
// providers refuse them.
func (w *work) sanitize() {
	asked, answered := map[string]bool{}, map[string]bool{}
	for i := range w.entries {
		m := &w.entries[i].m
		for _, c := range m.Calls {
			asked[c.ID] = true
		}
		if m.Role == hermes.RoleTool && asked[m.CallID] {
			answered[m.CallID] = true
		}
	}
	out := w.entries[:0:0]
	for _, e := range w.entries {
		if e.m.Role == hermes.RoleTool && !answered[e.m.CallID] {
			continue
		}
		if len(e.m.Calls) > 0 {
			e = withoutOpen(e, answered)
			if len(e.m.Calls) == 0 && e.m.Text() == "" {
				continue
			}
		}
		out = append(out, e)
	}
	w.entries = out
}

func withoutOpen(e entry, answered map[string]bool) entry {
	kept := slices.DeleteFunc(slices.Clone(e.m.Calls), func(c hermes.ToolCall) bool { return !answered[c.ID] })
	if len(kept) != len(e.m.Calls) {
		e.m.Calls = kept
		e.origin.Same = false
	}
	return e
}
