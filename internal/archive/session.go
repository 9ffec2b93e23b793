// Package archive writes sessions for use outside of Hermes: as JSON lines, Markdown,
// HTML, or trajectories for training. It also removes secrets from what is given away.
//
// It reads no store and opens no file. Start at WriterOf; mask.go masks.
package archive

import (
	"time"

	"hermes"
)

// LastActive returns when a session was last active.
func LastActive(r hermes.Session) time.Time {
	if r.Active.IsZero() {
		return r.Started
	}
	return r.Active
}

// Record is a session with its messages as JSON.
type Record struct {
	Session  Session          `json:"session"`
	Messages []hermes.Message `json:"messages"`
}

// Session is a session as JSON.
type Session struct {
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

// SessionOf returns a session as JSON shows it.
func SessionOf(r hermes.Session) Session {
	return Session{ID: r.ID, Title: r.Title, Platform: r.Platform, Model: r.Model, Parent: r.Parent, Dir: r.Dir, Branch: r.Branch,
		Started: r.Started, Active: LastActive(r), Ended: r.Ended, EndReason: r.EndReason, Messages: r.Messages, Calls: r.Calls,
		Turns: r.Turns, Usage: r.Usage, Archived: r.Archived, Pinned: r.Pinned, Asking: r.Asking, System: r.System, Run: r.Run}
}
