package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"hermes/internal/text"
)

// Kind says what a row tells.
type Kind string

// The kinds. This list is closed: a row of another kind is refused.
const (
	KindCall    Kind = "call"    // a call with an effect was asked for; it has not run yet
	KindResult  Kind = "result"  // a call ran: how it ended
	KindRefusal Kind = "refusal" // a call did not run: who or what refused it, and why
	KindAsked   Kind = "asked"   // a question of approval was put
	KindAnswer  Kind = "answer"  // the decision about it
	KindAllowed Kind = "allowed" // a risky call was allowed without a question: by what
	KindCrashed Kind = "crashed" // a tool panicked
	KindGrant   Kind = "grant"   // a permission was stored, or holds in other sessions from now on
	KindRevoked Kind = "revoked" // a permission was removed
	KindMode    Kind = "mode"    // the mode of a session was changed
	KindTrust   Kind = "trust"   // a folder was trusted, or no longer
	KindPanic   Kind = "panic"   // the user stopped everything
	KindSetting Kind = "setting" // a setting was changed

	KindFile   Kind = "file"   // the first row of each file: its number
	KindTorn   Kind = "torn"   // what is before it in the file was not written to its end
	KindGap    Kind = "gap"    // the record was damaged when this row was written: how
	KindPruned Kind = "pruned" // an old file was removed, as the settings say; the note is what was wrong
)

// Kinds lists all kinds, those of the record itself last.
func Kinds() []Kind {
	return []Kind{KindCall, KindResult, KindRefusal, KindAsked, KindAnswer, KindAllowed, KindCrashed, KindGrant, KindRevoked, KindMode, KindTrust, KindPanic,
		KindSetting, KindFile, KindTorn, KindGap, KindPruned}
}

// Row is one entry of the record. Empty fields do not apply or are not known.
type Row struct {
	Seq      int64     `json:"seq"` // from 1, without gaps
	Time     time.Time `json:"time"`
	Kind     Kind      `json:"kind"`
	Session  string    `json:"session,omitempty"`
	Turn     int64     `json:"turn,omitempty"`
	Call     string    `json:"call,omitempty"`   // the id of the call
	Parent   string    `json:"parent,omitempty"` // the session above, of a child
	Platform string    `json:"platform,omitempty"`
	User     string    `json:"user,omitempty"` // the platform's id; "" is the owner of the home
	Tool     string    `json:"tool,omitempty"`
	// Subject is what the call acts on, such as a path or a command, without secrets and cut.
	Subject string   `json:"subject,omitempty"`
	Dir     string   `json:"dir,omitempty"`
	Risks   []string `json:"risks,omitempty"` // their keys
	// Arguments is the SHA-256 of the arguments as they were judged and run, in hex.
	Arguments string `json:"arguments,omitempty"`
	Decision  string `json:"decision,omitempty"` // once, session, always, denied, timeout, …
	Scope     string `json:"scope,omitempty"`    // of a grant: call or kind
	By        string `json:"by,omitempty"`       // who or what decided: user, model, rule, grant, mode, …
	Rule      string `json:"rule,omitempty"`     // by which rule, or why
	Status    string `json:"status,omitempty"`   // of a result: ok or failed
	Result    string `json:"result,omitempty"`   // SHA-256 of the result as the model got it, in hex
	Note      string `json:"note,omitempty"`
	Span      *Span  `json:"span,omitempty"` // of rows of the record itself
	Prev      string `json:"prev"`           // the code of the row before

	MAC string `json:"-"` // the code of this row, in hex; readers set it
	// File and Line say where the row is; readers set them.
	File string `json:"-"`
	Line int    `json:"-"`
}

// Span is what a row of the record itself is about.
type Span struct {
	File  int64  `json:"file,omitempty"`  // the number of a file
	First int64  `json:"first,omitempty"` // rows
	Last  int64  `json:"last,omitempty"`
	MAC   string `json:"mac,omitempty"`   // of the last row
	Bytes int64  `json:"bytes,omitempty"` // that are no row
	Hash  string `json:"hash,omitempty"`  // their SHA-256
}

// maxText bounds each text of a row in bytes, maxRisks their number.
const (
	maxText  = 500
	maxRisks = 20
	// maxJudged is how much of a text is searched for secrets before it is cut.
	maxJudged = 64 << 10
)

// bounded returns a row whose texts have no secrets and are cut. A model chooses more of them than
// the arguments: the tool, and the id of the call. Only what is a hash is not searched.
func (r Row) bounded(redact func(string) string) Row {
	tidy := func(s string) string {
		if s == "" {
			return s
		}
		return clean(redact(text.Prefix(s, maxJudged)))
	}
	for _, s := range []*string{&r.Session, &r.Call, &r.Parent, &r.Platform, &r.User, &r.Tool, &r.Decision, &r.Scope, &r.By, &r.Status,
		&r.Subject, &r.Dir, &r.Rule, &r.Note} {
		*s = tidy(*s)
	}
	for _, s := range []*string{&r.Arguments, &r.Result} {
		if _, err := hex.DecodeString(*s); err != nil || len(*s) != 2*sha256.Size {
			*s = tidy(*s)
		}
	}
	if len(r.Risks) > maxRisks {
		r.Risks = r.Risks[:maxRisks]
	}
	if len(r.Risks) > 0 {
		risks := make([]string, len(r.Risks))
		for i, k := range r.Risks {
			risks[i] = tidy(k)
		}
		r.Risks = risks
	}
	return r
}

func clean(s string) string {
	return strings.ToValidUTF8(text.Clip(s, maxText), "\ufffd")
}
