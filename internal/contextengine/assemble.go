package contextengine

import (
	"slices"

	"hermes"
)

// assemble puts the summary in the place of what was cut, under the role that
// keeps speakers taking turns; where neither role does, it goes to the top of
// the message after it. The last words of the person stay between the summary
// and the tail.
func (w *work) assemble(c cut, summary string) {
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
		first.m.Parts = slices.Insert(slices.Clone(first.m.Parts), 0, hermes.Part{Text: summary + "\n", Hidden: true})
		first.origin.Same = false
		w.entries = slices.Concat(head, []entry{first}, rest[1:])
		return
	}
	s := entry{
		m:      hermes.Message{Role: role, Parts: []hermes.Part{{Text: summary}}, Synthetic: true, Turn: w.entries[c.tail-1].m.Turn},
		origin: hermes.Origin{Index: w.entries[c.head].origin.Index},
	}
	w.entries = slices.Concat(head, []entry{s}, rest)
}

// fitting finds the role of a summary between two speakers. A conversation
// begins with the person.
func fitting(before, after hermes.Role) (hermes.Role, bool) {
	for _, r := range []hermes.Role{hermes.RoleUser, hermes.RoleAssistant} {
		if r == before || r == after || r == hermes.RoleAssistant && before == "" {
			continue
		}
		return r, true
	}
	return "", false
}

// sanitize takes out results without a call and calls without a result, so
// that no provider refuses what is left.
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
