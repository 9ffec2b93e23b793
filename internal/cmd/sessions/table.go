package sessions

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hermes"
	"hermes/internal/markup"
)

// table prints rows in aligned columns.
func table(w io.Writer, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], markup.Width(cell))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-markup.Width(cell)+2))
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// oneLine joins a text to one line without control characters, of at most this
// many characters.
func oneLine(s string, most int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:most-1])) + "…"
}

// ago formats how long ago a time was.
func ago(t, now time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return "never"
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case d < 14*24*time.Hour:
		return fmt.Sprintf("%d d ago", int(d.Hours()/24))
	}
	return t.Local().Format(time.DateOnly)
}

// size formats a number of bytes.
func size(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, names := float64(n)/unit, []string{"KB", "MB", "GB", "TB"}
	for value >= unit && len(names) > 1 {
		value, names = value/unit, names[1:]
	}
	return fmt.Sprintf("%.1f %s", value, names[0])
}

// active returns when a session was last active.
func active(r hermes.Session) time.Time {
	if r.Active.IsZero() {
		return r.Started
	}
	return r.Active
}

// state returns the state of a session in a word.
func state(r hermes.Session) string {
	switch {
	case r.Messages == 0:
		return "empty"
	case r.Asking:
		return "asks you"
	case r.Ended.IsZero():
		return "open"
	case r.EndReason == "":
		return "ended"
	}
	return r.EndReason
}

// rowJSON is a session as --json prints it.
type rowJSON struct {
	ID        string       `json:"id"`
	Title     string       `json:"title,omitempty"`
	Platform  string       `json:"source,omitempty"`
	Model     string       `json:"model,omitempty"`
	Parent    string       `json:"parent,omitempty"`
	Dir       string       `json:"dir,omitempty"`
	Branch    string       `json:"branch,omitempty"`
	Started   time.Time    `json:"started"`
	Active    time.Time    `json:"active"`
	Ended     time.Time    `json:"ended,omitzero"`
	EndReason string       `json:"end_reason,omitempty"`
	Messages  int          `json:"messages"`
	Calls     int          `json:"calls"`
	Turns     int64        `json:"turns"`
	Usage     hermes.Usage `json:"usage"`
	Archived  bool         `json:"archived,omitempty"`
	Pinned    bool         `json:"pinned,omitempty"`
	Asking    bool         `json:"asking,omitempty"` // a question waits for the user
	System    string       `json:"system,omitempty"`
	// Run is what holds for its life: its tools, its prompt and where it comes from.
	Run hermes.StoredRun `json:"run,omitzero"`
}

func toJSON(r hermes.Session) rowJSON {
	return rowJSON{ID: r.ID, Title: r.Title, Platform: r.Platform, Model: r.Model, Parent: r.Parent, Dir: r.Dir, Branch: r.Branch,
		Started: r.Started, Active: active(r), Ended: r.Ended, EndReason: r.EndReason, Messages: r.Messages, Calls: r.Calls,
		Turns: r.Turns, Usage: r.Usage, Archived: r.Archived, Pinned: r.Pinned, Asking: r.Asking, System: r.System, Run: r.Run}
}
