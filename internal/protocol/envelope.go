// Package protocol is how frontends reach sessions: the [Client] that each of them is given,
// the [Snapshot] that a frontend begins with, and the [Envelope] that carries each event from
// there on.
//
// The package knows no session, no store and no connection. Start at Client, then read
// snapshot.go. view.go folds events into the state that a snapshot shows, and watch.go keeps a
// frontend attached.
package protocol

import (
	"time"

	"hermes"
)

// SessionInfo is a session in a list.
type SessionInfo struct {
	ID        string       `json:"id"`
	Platform  string       `json:"platform,omitempty"`
	User      string       `json:"user,omitempty"`
	Title     string       `json:"title,omitempty"`
	Parent    string       `json:"parent,omitempty"`
	Model     string       `json:"model,omitempty"`
	Dir       string       `json:"dir,omitempty"`
	Branch    string       `json:"branch,omitempty"` // of git
	Started   time.Time    `json:"started,omitzero"`
	Active    time.Time    `json:"active,omitzero"` // when its last message was stored
	Ended     time.Time    `json:"ended,omitzero"`
	EndReason string       `json:"end_reason,omitempty"`
	Messages  int          `json:"messages,omitempty"`
	Calls     int          `json:"calls,omitempty"`
	Turns     int64        `json:"turns,omitempty"`
	Usage     hermes.Usage `json:"usage,omitzero"`
	Archived  bool         `json:"archived,omitempty"`
	Pinned    bool         `json:"pinned,omitempty"`
	Tainted   bool         `json:"tainted,omitempty"` // it has read untrusted text
	Asking    bool         `json:"asking,omitempty"`  // a question waits for the user
	// Running says which process runs it; nil if none does.
	Running *Running `json:"running,omitempty"`
}

// InfoOf describes a session by its row.
func InfoOf(s hermes.Session) SessionInfo {
	return SessionInfo{
		ID: s.ID, Platform: s.Platform, User: s.User, Title: s.Title, Parent: s.Parent, Model: s.Model, Dir: s.Dir, Branch: s.Branch,
		Started: s.Started, Active: s.Active, Ended: s.Ended, EndReason: s.EndReason, Messages: s.Messages, Calls: s.Calls, Turns: s.Turns,
		Usage: s.Usage, Archived: s.Archived, Pinned: s.Pinned, Tainted: s.Tainted, Asking: s.Asking,
	}
}

// Running says where a session runs.
type Running struct {
	Owner string `json:"owner"` // the process, as the lease names it
	// Address is where its owner listens; "" if it does not.
	Address string `json:"address,omitempty"`
	// Here says that the process of this client runs it. The rest is known then, and if the
	// other process said so.
	Here      bool     `json:"here,omitempty"`
	State     State    `json:"state,omitempty"`
	Activity  Activity `json:"activity,omitzero"`
	Frontends int      `json:"frontends,omitempty"` // how many are attached
	Questions int      `json:"questions,omitempty"` // how many wait for the user
}

// After is where a frontend was when it was last attached: the position of the last
// envelope that it got. The zero value is that of a new frontend.
type After struct {
	Epoch int64 `json:"epoch,omitempty"`
	Seq   int64 `json:"seq,omitempty"`
}

// Envelope carries an event of a session, or of one below it.
type Envelope struct {
	Session string `json:"session"`
	// Parent is set on an event of a child session that is shown under those above it: the
	// session that started the child. Of what the child's model writes, an event without the
	// text comes every few seconds.
	Parent string `json:"parent,omitempty"`
	// Epoch is the fencing number of the lease under which the session runs. Seq counts the
	// events of the session that the frontend is attached to in that epoch, from 1. It jumps
	// where texts were joined.
	Epoch int64        `json:"epoch"`
	Seq   int64        `json:"seq"`
	Time  time.Time    `json:"time,omitzero"`
	Event hermes.Event `json:"event"`
}
