package hermes

import (
	"context"
	"slices"
	"time"
)

// RiskAssessor is implemented by tools whose calls may need approval.
type RiskAssessor interface {
	// AssessRisk returns the risks of a call before it runs and has no side
	// effects. A call without risks may run.
	AssessRisk(ctx context.Context, c *Call) []Risk
}

// Risk is one reason why a call may be dangerous.
type Risk struct {
	// Key names the pattern that was found: approval of one pattern does not
	// cover another.
	Key string `json:"key"`
	// Reason says in plain words what is dangerous.
	Reason string `json:"reason"`
	// Deny marks a call that is never allowed, in any mode.
	Deny bool `json:"deny,omitempty"`
	// Unclear marks a call of which it is not known what runs, so that each rule about
	// commands may be about it.
	Unclear bool `json:"-"`
	// Mistake marks a call that is refused as it is: Reason says how to call instead.
	// Such a risk is Deny, too.
	Mistake bool `json:"-"`
	// NoRemember marks a call that only the user may allow, for this session at
	// most: no model judges it, and no grant is kept after the session.
	NoRemember bool `json:"no_remember,omitempty"`
	// EveryMode marks a call that needs an answer of the user in each mode, also in yolo, and
	// that the keys of the settings and of the run do not allow, nor a model. A stored grant, which is
	// such an answer, covers it unless it is NoRemember.
	EveryMode bool `json:"-"`
	// Bound marks a call that an answer covers only with the same subject in the same folder.
	Bound bool `json:"-"`
	// Once marks a call that must be allowed each time: no grant covers it, and none
	// is made. Such a risk is NoRemember, too.
	Once bool `json:"once,omitempty"`
}

// SubjectNamer is implemented by tools that can say best what a call acts on.
// For other tools the user who is asked sees every argument.
type SubjectNamer interface {
	// Subject describes a call to the user who is asked to allow it. It reads
	// the same arguments as Run and has no side effects.
	Subject(ctx context.Context, c *Call) Subject
}

// FileNamer is implemented by tools that change files which their arguments do not name. Rules
// about writing files hold for them.
type FileNamer interface {
	// Files returns the files that a call changes, and false if that cannot be known. It reads
	// the same arguments as Run and has no side effects.
	Files(ctx context.Context, c *Call) ([]string, bool)
}

// Subject is what a call acts on.
type Subject struct {
	// Text is the whole command or path, never shortened. A grant for a single
	// call is bound to it.
	Text string
	// Detail is what else the user must see before deciding, such as the text
	// that is written. It is never shortened.
	Detail string
	// Dir is the folder in which the call runs; "" means that the folder does
	// not matter.
	Dir string
	// Commands are what rules about commands read, if that is not Text; nil is Text.
	Commands []string
}

// Equal reports whether two calls act on the same.
func (s Subject) Equal(other Subject) bool {
	return s.Text == other.Text && s.Detail == other.Detail && s.Dir == other.Dir && slices.Equal(s.Commands, other.Commands)
}

// ApprovalRequest is what the user is asked to allow.
type ApprovalRequest struct {
	CallID  string `json:"call_id"`
	Tool    string `json:"tool"`
	Subject string `json:"subject"`          // as in [Subject], with invisible characters spelled out
	Detail  string `json:"detail,omitempty"` // as in [Subject], with invisible characters spelled out
	Dir     string `json:"dir,omitempty"`
	Risks   []Risk `json:"risks,omitempty"`
	// Session and Always list the scopes that AllowSession and AllowAlways may
	// have, the default first. Without a scope the decision is not offered.
	Session []GrantScope `json:"session,omitempty"`
	Always  []GrantScope `json:"always,omitempty"`
	// Stored names the file that keeps an AllowAlways, for the user.
	Stored string `json:"stored,omitempty"`
}

// ApprovalAnswer is the user's answer to an ApprovalRequest.
type ApprovalAnswer struct {
	Decision Decision `json:"decision"`
	// Scope is one of the scopes that the request offers for the decision; an
	// empty one means the first, any other allows only this call.
	Scope GrantScope `json:"scope,omitempty"`
	// Reason is what the user said when refusing, for the model.
	Reason string `json:"reason,omitempty"`
}

// Allowed reports whether the call may run.
func (a ApprovalAnswer) Allowed() bool { return a.Decision.Allowed() }

// GrantScope says which calls a grant covers.
type GrantScope string

// The scopes.
const (
	// ScopeCall covers calls with the same subject in the same folder.
	ScopeCall GrantScope = "call"
	// ScopeKind covers every call with the same risks.
	ScopeKind GrantScope = "kind"
)

// Grant is permission for calls with one risk, given by the user. Empty fields
// except Tool and Key match everything.
type Grant struct {
	Tool     string
	Key      string // of the risk
	Subject  string
	Dir      string
	Platform string
	// Unattended grants also hold where no user can be asked; others do not.
	Unattended bool
	By         string    // who gave it
	Created    time.Time // for display
	Expires    time.Time // zero means never
}

// Covers reports whether the grant allows a call at a time. The call is
// described by a grant with its own tool, risk, subject, folder and platform;
// Unattended says that no user can be asked.
func (g Grant) Covers(call Grant, now time.Time) bool {
	fits := func(granted, own string) bool { return granted == "" || granted == own }
	return g.Tool != "" && g.Tool == call.Tool && g.Key != "" && g.Key == call.Key &&
		fits(g.Subject, call.Subject) && fits(g.Dir, call.Dir) && fits(g.Platform, call.Platform) &&
		(g.Unattended || !call.Unattended) && (g.Expires.IsZero() || now.Before(g.Expires))
}

// Decision is the user's decision about an ApprovalRequest.
type Decision string

// The answers. Anything else counts as a refusal.
const (
	AllowOnce    Decision = "once"
	AllowSession Decision = "session"
	AllowAlways  Decision = "always"
	Deny         Decision = "denied"
	TimedOut     Decision = "timeout"
	Unattended   Decision = "absent" // the session has no user to ask
)

// Allowed reports whether the call may run.
func (c Decision) Allowed() bool {
	return c == AllowOnce || c == AllowSession || c == AllowAlways
}
