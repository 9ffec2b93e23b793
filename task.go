package hermes

import (
	"cmp"
	"encoding/json"
)

// Task is work for a child session.
type Task struct {
	Goal     string
	Context  string   // what the child has to know beside the goal
	Toolsets []string // narrows the parent's; empty inherits
	Role     ChildRole
	Model    string
	MaxSteps int // 0 sets no limit of its own
	// MaxCost is how much the child and its own children may cost, within what its parent may; 0
	// sets no limit of its own.
	MaxCost Money
	// Schema, if set, is a JSON Schema: the child's answer is a JSON value that fits it.
	Schema json.RawMessage
	// Worktree lets the child work in a Git worktree of its own, which is removed at its end if
	// nothing in it would be lost.
	Worktree bool
	// Key names the task among those of its turn: the call and the number of the task in it. A
	// call that runs again after a crash finds the child that it had started by this name. A task
	// without one is always new.
	Key string
	// Background returns a report with the status [ChildRunning] at once. The result comes as a message of
	// its own when the child has ended.
	Background bool
}

// ChildRole is what a child session may do with children of its own.
type ChildRole string

// The roles.
const (
	RoleLeaf         ChildRole = "" // starts none
	RoleOrchestrator ChildRole = "orchestrator"
)

// TaskOrigin is what is stored of the task of a child session.
type TaskOrigin struct {
	// Key is that of [Task], below the number of the turn.
	Key        string    `json:"key,omitempty"`
	Role       ChildRole `json:"role,omitempty"`
	Background bool      `json:"background,omitempty"`
	// Schema is that of [Task], as a text; Steps and Cost are the limits that the child began with.
	Schema string `json:"schema,omitempty"`
	Steps  int    `json:"steps,omitempty"`
	Cost   Money  `json:"cost_micros,omitempty"`
	// Ended is how the child ended, "" while it goes on, and Failure why, if it failed. It is stored before
	// the worktree of the child is removed.
	Ended   ChildStatus `json:"ended,omitempty"`
	Failure string      `json:"failure,omitempty"`
}

// Report is the result of a child session.
type Report struct {
	Session string
	// Summary is the last answer of the child, or what it had when it ended. Truncated says that the rest
	// is only in its session.
	Summary   string
	Truncated bool
	Status    ChildStatus
	// Failure is why it failed; "" if it did not.
	Failure string
	Steps   int
	Usage   Usage
	// Cost is what the child and its own children cost.
	Cost       Money
	Provenance string // of the child session, as in SessionRef
	// Result is the answer as JSON, if the task has a schema and the answer fits it. Misfit says why it
	// does not.
	Result json.RawMessage
	Misfit string
	// Files are those that file tools of the child and its children changed, by their real paths, and
	// MoreFiles is how many others there are. MayBeMore says that it also ran what may have changed
	// others, such as commands.
	Files     []string
	MoreFiles int
	MayBeMore bool
	// Worktree is where the child worked, if it had a worktree of its own.
	Worktree Worktree
}

// Text returns the summary. For a child that failed it says so and why, and what the child had written.
func (r Report) Text() string {
	if r.Status != ChildFailed {
		return r.Summary
	}
	text := "It failed: " + cmp.Or(r.Failure, UnknownFailure)
	if r.Summary != "" {
		text += "\nWhat it wrote last, which is no answer:\n" + r.Summary
	}
	return text
}

// UnknownFailure is why a child failed of which that was not stored.
const UnknownFailure = "why is not known"

// ChildStatus says how a child session ended.
type ChildStatus string

// The ways in which a child session ends.
const (
	ChildCompleted   ChildStatus = "completed"
	ChildFailed      ChildStatus = "failed"
	ChildInterrupted ChildStatus = "interrupted" // a user stopped it, or its parent
	ChildStalled     ChildStatus = "stalled"     // it made no progress
	ChildTimedOut    ChildStatus = "timeout"     // it made no progress for as long as the settings say
	ChildOverBudget  ChildStatus = "budget"      // it had no steps or no money left
	ChildRunning     ChildStatus = "running"     // it runs in the background
)

// Worktree is the Git worktree of a child session.
type Worktree struct {
	Path, Branch string
	// Kept says that it is still there, because something in it would have been lost. Note says
	// what, and what to do, in words for a model or a user.
	Kept bool
	Note string
	// Later says that it may be removed later: it is only in use, or could not be looked at or removed now.
	Later bool
}
