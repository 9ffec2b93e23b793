package protocol

import (
	"context"

	"hermes"
)

// Client is what a frontend has of the sessions. Its methods may be called concurrently.
// Errors are worded for the user; what a frontend decides by is in errors.go.
type Client interface {
	// Sessions lists stored sessions, last active first, and which of them run where.
	Sessions(ctx context.Context, f Filter) ([]SessionInfo, error)
	// Open makes a session live. If the spec names none, it is a new one, which is stored with
	// its first message; otherwise a stored or live one, whose Model, Rights and Budget the
	// spec may change unless it is live. If another process runs it, the error is
	// hermes.ErrLeased.
	Open(ctx context.Context, from hermes.From, run hermes.RunSpec) (SessionInfo, error)
	// Attach returns the state of a live session and its events from there on: nothing
	// between the two is missed or comes twice. The channel is closed after hermes.Closed, after
	// hermes.Lagged, when ctx ends, or when the connection is lost. If from attends, its
	// user can be asked as long as it is attached.
	Attach(ctx context.Context, id string, from hermes.From, after After) (Snapshot, <-chan Envelope, error)
	// Do sends an operation and returns when the session has accepted or refused it.
	Do(ctx context.Context, id string, from hermes.From, op hermes.Op) error
	// History returns a part of the stored transcript in order, at most [MaxPage] messages and
	// about [MaxPageBytes] bytes of it, but always one message if there is one. Without First
	// and Last it begins at the start of the range. The session need not be live.
	History(ctx context.Context, id string, r hermes.Range) ([]hermes.Message, error)
	// Command runs a slash command in the process of the session. Its outcome is a
	// hermes.CommandDone event; an error means that there is none.
	Command(ctx context.Context, id string, from hermes.From, line string) error
}

// Halter is a client that can stop all work of one process.
type Halter interface {
	// Halt stops all turns with their child sessions, jobs and background processes, and returns
	// when the turns have ended or ctx has. Messages that wait stay stored.
	Halt(ctx context.Context) (Halted, error)
}

// Halted is what a process stopped. What did not stop is an error.
type Halted struct {
	Sessions int `json:"sessions"` // that are live
	Turns    int `json:"turns"`    // of them, child sessions included
	Jobs     int `json:"jobs"`     // titles, reviews and the like
}

// The limits of one page of History.
const (
	MaxPage      = 500
	MaxPageBytes = 4 << 20
)

// Filter selects sessions; zero fields do not narrow.
type Filter struct {
	ID       string   `json:"id,omitempty"` // its id, a unique prefix of it, or its title
	Platform string   `json:"platform,omitempty"`
	Exclude  []string `json:"exclude,omitempty"` // platforms to skip
	Dir      string   `json:"dir,omitempty"`
	Parent   string   `json:"parent,omitempty"`
	Archived bool     `json:"archived,omitempty"` // include archived ones
	Live     bool     `json:"live,omitempty"`     // only those that run; a server lists those of its own process
	Limit    int      `json:"limit,omitempty"`    // 0 means 20, negative means all
	Offset   int      `json:"offset,omitempty"`
}
