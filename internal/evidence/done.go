package evidence

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/audit"
	"hermes/internal/order"
)

// DoneIn lists the calls of a transcript that have results, and those of rows of the audit log that the transcript does
// not have: of child sessions, and of a part that was summed up. Rows say more about a call than its result: whether
// it ran, and whether its change waits. They are in the order in which they ended. turn is the one of the session whose ending is checked; rows are of this turn.
func DoneIn(session string, turn int64, transcript []hermes.Message, rows []audit.Row) []Done {
	about := map[string]audit.Row{}
	for _, r := range rows {
		about[r.Session+" "+r.Call] = r
	}
	calls := map[string]hermes.ToolCall{}
	var done []Done
	known := map[string]bool{}
	for _, m := range transcript {
		for _, c := range m.Calls {
			calls[c.ID] = c
		}
		c, ok := calls[m.CallID]
		if m.Role != hermes.RoleTool || !ok {
			continue
		}
		d := called(c.Forwarded())
		d.OK, d.Result, d.Before = !m.Failed, m.Text(), m.Turn != turn
		if d.Refused = refused(d.Result); d.Tool == "process" {
			d.finished()
		}
		if r, ok := about[session+" "+c.ID]; ok && !d.Before {
			known[session+" "+c.ID] = true
			d.Refused, d.Pending = d.Refused || r.Kind == audit.KindRefusal, r.Note != ""
		}
		d.at = m.Time
		done = append(done, d)
	}
	for _, r := range rows {
		if !known[r.Session+" "+r.Call] && r.Tool != "" {
			done = append(done, Done{Tool: r.Tool, Subject: r.Subject, Arguments: r.Subject, OK: r.Status == "ok", Refused: r.Kind == audit.KindRefusal, Pending: r.Note != "", at: r.Time})
		}
	}
	if !slices.ContainsFunc(done, func(d Done) bool { return d.at.IsZero() }) {
		order.By(done, func(a, b Done) int { return a.at.Compare(b.at) })
	}
	return done
}

// called is a call by its arguments.
func called(c hermes.ToolCall) Done {
	d := Done{Tool: c.Name, Arguments: c.Arguments}
	var in struct {
		Command    string
		Path       string
		Background bool
	}
	if json.Unmarshal([]byte(c.Arguments), &in) == nil {
		d.Subject, d.Open = in.Command+in.Path, in.Background
	}
	return d
}

// finished takes over the command of a background process that has ended.
func (d *Done) finished() {
	var in struct {
		Command string
		Status  string
		Exit    *int `json:"exit_code"`
	}
	if json.Unmarshal([]byte(d.Result), &in) != nil || in.Exit == nil {
		return
	}
	d.Subject, d.OK, d.Open = in.Command, d.OK && *in.Exit == 0, false
}

// refused reports whether a result says that its call did not run.
func refused(result string) bool {
	var in struct {
		Approved *bool `json:"approved"`
	}
	return strings.HasPrefix(result, "{") && json.Unmarshal([]byte(result), &in) == nil && in.Approved != nil && !*in.Approved
}

// Paths lists the paths that calls name and that may be a file of this name: the whole of it, or its end. Those
// of file tools may be relative to the folder of the session; those of commands, which may run elsewhere, are absolute.
func Paths(done []Done, name string) []string {
	var paths []string
	for _, d := range done {
		words := []string{d.Subject}
		if d.Tool == commandTool {
			words = slices.DeleteFunc(strings.FieldsFunc(d.Subject, func(r rune) bool { return strings.ContainsRune(" \t\n\"'=:,;|<>()", r) }), func(w string) bool { return !filepath.IsAbs(w) })
		}
		for _, w := range words {
			if w != "" && (w == name || strings.HasSuffix(w, "/"+name)) && !slices.Contains(paths, w) {
				paths = append(paths, w)
			}
		}
	}
	return paths
}
