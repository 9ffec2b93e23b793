package turn

import (
	"fmt"
	"slices"
	"strings"

	"hermes"
)

// maxNamed is how many names a line about new, changed or gone tools has of each.
const maxNamed = 15

// newsHead begins a line about the tools of a server. Stored transcripts have it, so it must not
// change.
const newsHead = "[Tools of the server "

// AddToolNews tells the model with a user message which tools of servers came, changed or went
// away since the session began: one line for each server, if the last line about it said something
// else. What the model is offered stays as it is. Only the transcript says what the model knows, so a
// line that a compaction has removed is added again.
func AddToolNews(m *hermes.Message, tools hermes.Tools, offered []hermes.Spec, transcript []hermes.Message) {
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p hermes.Part) bool { return isNews(p, newsHead) }) // of a retried message
	grouped, ok := tools.(hermes.GroupedTools)
	search := slices.IndexFunc(offered, func(s hermes.Spec) bool { return s.Name == hermes.SearchTool })
	if !ok || search < 0 {
		return
	}
	groups := grouped.Groups()
	for _, g := range groups {
		if !g.Known || g.Own {
			continue // it has not answered so far, or does not change
		}
		n := newsOf(g, groups, offered)
		line, last := n.line(), lastNews(n.head(), transcript)
		if line == last || last == "" && n.known(offered[search].Description) {
			continue
		}
		m.Parts = append(m.Parts, hermes.Part{Text: line, Hidden: true})
	}
}

// toolNews is what a model does not know about the tools of a server.
type toolNews struct {
	hermes.ToolGroup              // with the tools that are not offered at all
	none                 bool     // the server has no tools now
	fresh, changed, gone []string // names
}

func newsOf(g hermes.ToolGroup, groups []hermes.ToolGroup, offered []hermes.Spec) toolNews {
	n := toolNews{ToolGroup: hermes.ToolGroup{Toolset: g.Toolset}, none: len(g.Tools) == 0}
	seen := map[string]hermes.Spec{}
	for _, s := range offered {
		seen[s.Name] = s
	}
	now := map[string]bool{}
	for _, s := range g.Tools {
		now[s.Name] = true
		switch was, ok := seen[s.Name]; {
		case !ok:
			n.Tools, n.fresh = append(n.Tools, s), append(n.fresh, s.Name)
		case !same(was, s):
			n.changed = append(n.changed, s.Name)
		}
	}
	for _, s := range offered {
		if !now[s.Name] && serverOf(s.Name, groups) == g.Toolset {
			n.gone = append(n.gone, s.Name)
		}
	}
	return n
}

// serverOf returns the toolset of a tool by its name, mcp__server__tool; "" if none of groups has it.
func serverOf(tool string, groups []hermes.ToolGroup) string {
	best, length := "", 0
	for _, g := range groups {
		server, ok := strings.CutPrefix(g.Toolset, "mcp-")
		prefix := "mcp__" + strings.Map(inName, server) + "__"
		if ok && strings.HasPrefix(tool, prefix) && len(prefix) > length {
			best, length = g.Toolset, len(prefix)
		}
	}
	return best
}

// inName returns a character as it is in the name of a tool.
func inName(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
		return r
	}
	return '_'
}

// known reports whether the description with which the session began says all of it.
func (n toolNews) known(description string) bool {
	if n.none {
		return len(n.gone) == 0 && strings.Contains(description, " "+n.Title())
	}
	return len(n.changed)+len(n.gone) == 0 && (len(n.fresh) == 0 || strings.Contains(description, " "+n.Title()))
}

// head begins all lines about the server.
func (n toolNews) head() string {
	return newsHead + strings.Map(inLine, strings.TrimPrefix(n.Toolset, "mcp-")) + ": "
}

// inLine keeps the name of a server from looking like the rest of its line.
func inLine(r rune) rune {
	if r == '-' || r == '.' {
		return r
	}
	return inName(r)
}

// line is what the model reads. It has names only: what else a server says of its tools is read by those
// who search for them.
func (n toolNews) line() string {
	var parts []string
	add := func(what string, names []string) {
		if len(names) > 0 {
			parts = append(parts, what+named(names))
		}
	}
	if n.none {
		return n.head() + "none can be called now]"
	}
	add("new, found with "+hermes.SearchTool+": ", n.fresh)
	add("changed, look them up with "+hermes.SearchTool+" before you call them: ", n.changed)
	add("gone: ", n.gone)
	if len(parts) == 0 {
		parts = []string{"as in your list again"}
	}
	return n.head() + strings.Join(parts, "; ") + "]"
}

// named lists names, of which it cuts what is long and too many.
func named(names []string) string {
	names = slices.Clone(names)
	for i, n := range names {
		names[i] = strings.Map(inLine, n[:min(len(n), 128)])
	}
	if more := len(names) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// lastNews returns the last line with a head, "" if there is none.
func lastNews(head string, transcript []hermes.Message) string {
	for _, m := range slices.Backward(transcript) {
		for _, p := range m.Parts {
			if m.Role == hermes.RoleUser && isNews(p, head) {
				return p.Text
			}
		}
	}
	return ""
}

func isNews(p hermes.Part, head string) bool { return p.Hidden && strings.HasPrefix(p.Text, head) }
