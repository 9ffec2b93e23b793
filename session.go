package hermes

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// SystemPrompt is a complete system prompt and the layers that it is made of.
type SystemPrompt struct {
	Text   string
	Layers []PromptLayer
	// Provenance names the sources of untrusted text in it, as in [Message].
	Provenance string
	// Warnings tell the user what was left out of it.
	Warnings []string
}

// PromptLayer describes one piece of a system prompt, for reports.
type PromptLayer struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"` // with the separator to the next one
	// Tokens is an estimate.
	Tokens int `json:"tokens"`
	// Was is its size before it was shortened, 0 if it was not. Why is the
	// reason, for the user.
	Was int    `json:"was,omitempty"`
	Why string `json:"why,omitempty"`
}

// Session is a stored conversation, without its messages.
type Session struct {
	ID       string
	Platform string // cli, oneshot, tui, a platform, subagent, …
	User     string // the platform's id of the user; "" is the owner of this home
	Title    string // empty until it has one; unique otherwise
	Parent   string // the session it was branched or compacted from
	Model    string // reference of the model
	Dir      string // working folder at its start
	Branch   string // git branch of that folder, if any

	// System and Tools are built once and never change: every request of the
	// session begins with them.
	System string
	Tools  json.RawMessage
	// Layers describe the pieces of System in order; empty if unknown. Nothing
	// that is sent depends on them.
	Layers []PromptLayer

	Started   time.Time
	Active    time.Time // when its last message was stored
	Ended     time.Time // zero while it is open
	EndReason string

	Messages int // stored messages that are part of the transcript
	Calls    int // tool calls in these messages
	Turns    int64
	Usage    Usage
	Archived bool
	Pinned   bool

	// Provenance names the sources of untrusted text that the session began
	// with, as in [Message]: project files in its prompt, and what its parent
	// had read.
	Provenance string
	// Tainted reports whether its prompt or a message that was not undone holds
	// untrusted text. Stores compute it; it is not stored.
	Tainted bool
	// Asking says that a question of the session waits for the user, asked by
	// this process or an earlier one. Stores compute it; it is not stored.
	Asking bool
	// Run is the part of the session's RunSpec that holds for its life. It is the zero value
	// if an earlier version stored the session, and in rows of lists.
	Run StoredRun
}

// MaxTitle is the maximum length of a session's title, in runes.
const MaxTitle = 100

// CleanTitle removes control and invisible characters (zero width, text
// direction) from a title and folds blanks. The result may be empty, which
// means no title. A title longer than MaxTitle is an error, worded for the
// user.
func CleanTitle(title string) (string, error) {
	title = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case Invisible(r):
			return -1
		}
		return r
	}, title)
	title = strings.Join(strings.Fields(title), " ")
	if n := utf8.RuneCountInString(title); n > MaxTitle {
		return "", fmt.Errorf("the title has %d characters; use at most %d", n, MaxTitle)
	}
	return title, nil
}

// Invisible reports whether CleanTitle removes a character that is no blank:
// control and format characters, fillers and selectors that show nothing, and
// what replaces bytes that are no text.
func Invisible(r rune) bool {
	return unicode.In(r, unicode.C, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || r == unicode.ReplacementChar || r == '\u2800'
}

// SplitTitle splits a numbered title, "name #3", into its name and number. A
// title without a number has number 1.
func SplitTitle(title string) (name string, n int) {
	i := strings.LastIndex(title, " #")
	if i <= 0 {
		return title, 1
	}
	digits := title[i+2:]
	n, err := strconv.Atoi(digits)
	if err != nil || n < 2 || digits != strconv.Itoa(n) {
		return title, 1
	}
	return title[:i], n
}

// NextTitle returns the title with the next number: "name #2" after "name". A
// name that gets too long with its number is cut.
func NextTitle(title string) string {
	if title == "" {
		return ""
	}
	name, n := SplitTitle(title)
	suffix := " #" + strconv.Itoa(n+1)
	runes := []rune(name)
	if most := MaxTitle - len(suffix); len(runes) > most {
		name = strings.TrimSpace(string(runes[:most]))
	}
	return name + suffix
}

// Summaries stores what sessions were about, in a few sentences each. Stores
// implement it. All methods may be called concurrently and return when their
// change is committed.
type Summaries interface {
	// SaveSummary stores the summary of a session and replaces an older one.
	// It is deleted with its session. If there is no such session, the error
	// is ErrNotFound.
	SaveSummary(ctx context.Context, s Summary) error
	// Summaries returns the stored summaries of these sessions, by session id.
	// Sessions without one are not an error.
	Summaries(ctx context.Context, sessions ...string) (map[string]Summary, error)
	// FindSummaries returns the summaries that contain every word of text, in
	// any case and also inside words, newest first. It returns at most limit,
	// or 20 if limit is 0.
	FindSummaries(ctx context.Context, text string, limit int) ([]Summary, error)
}

// Summary is what a session was about.
type Summary struct {
	Session string // its id
	Text    string
	At      time.Time // when it was written
}
