package hermes

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
)

// RunSpec says everything about one run of a session: where it comes from, where it works, with
// which model, tools and rights, and what it may cost. It is plain data, so one process can run
// many sessions that differ in all of it. Zero fields mean what is configured.
//
// Origin, Workspace, Tools and Prompt are stored with the session and hold for its life. Model,
// Rights and Budget may differ each time it is opened. Whether a user attends is not part of it:
// that is asked of the attached frontends.
type RunSpec struct {
	// Session is the id of the session. To open one, it is an id, a unique prefix of one or a
	// title; empty opens a new session.
	Session   string       `json:"session,omitempty"`
	Origin    Origin       `json:"origin,omitzero"`
	Workspace Workspace    `json:"workspace,omitzero"`
	Model     ModelChoice  `json:"model,omitzero"`
	Tools     ToolChoice   `json:"tools,omitzero"`
	Rights    Rights       `json:"rights,omitzero"`
	Prompt    PromptChoice `json:"prompt,omitzero"`
	Budget    RunBudget    `json:"budget,omitzero"`
}

// Origin says where a session comes from.
type Origin struct {
	// Platform is the frontend: cli, oneshot, telegram, subagent, …. The frontend sets it.
	Platform string `json:"platform,omitempty"`
	// Label is what lists show as the source instead of the platform. Nothing else depends on
	// it but what lists, titles and reviews leave out.
	Label string `json:"label,omitempty"`
	// User is the platform's id of the user; "" is the owner of this home.
	User string `json:"user,omitempty"`
	// Chat is the kind of chat, such as private or group; "" is unknown, or no chat.
	Chat string `json:"chat,omitempty"`
	// Root is the platform of the outermost session above this one, RootID its id; "" if there is none.
	Root   string `json:"root,omitempty"`
	RootID string `json:"root_id,omitempty"`
	// Parent is the session that started this one, and Depth how many there are above it.
	Parent string `json:"parent,omitempty"`
	Depth  int    `json:"depth,omitempty"`
	// Task is what a child session was started for.
	Task TaskOrigin `json:"task,omitzero"`
	// Provenance names the sources of untrusted text that the session begins with, as in
	// [Message].
	Provenance string `json:"provenance,omitempty"`
}

// Workspace is where the commands of a session run.
type Workspace struct {
	// Dir is the working folder, where the commands run. To open a new session, it is a folder of this
	// machine.
	Dir string `json:"dir,omitempty"`
	// Backend names the kind of environment, such as docker; Profile is the home's profile. To
	// open a new session, no backend is the configured one. A stored session without one is of
	// this machine.
	Backend string `json:"backend,omitempty"`
	Profile string `json:"profile,omitempty"`
	// Mount is a folder of this machine that commands elsewhere see as their working folder; empty is none.
	Mount string `json:"mount,omitempty"`
}

// BackendLocal is the backend that runs commands on this machine.
const BackendLocal = "local"

// StoredBackend returns the backend of a stored session.
func (w Workspace) StoredBackend() string { return cmp.Or(w.Backend, BackendLocal) }

// Elsewhere reports whether the commands and files of a stored session are not on this machine.
// Then the folder is one there.
func (w Workspace) Elsewhere() bool { return w.StoredBackend() != BackendLocal }

// ModelChoice is the model of a run.
type ModelChoice struct {
	Ref string `json:"ref,omitempty"` // a reference; empty is the stored one, or the default
	// Provider is the service to use if Ref does not name one. Without a Ref it is the
	// service's default model.
	Provider    string   `json:"provider,omitempty"`
	Effort      Effort   `json:"effort,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"` // nil is the model's default
	MaxTokens   int      `json:"max_tokens,omitempty"`  // of an answer
}

// ToolChoice narrows the tools of a session: nothing that it names adds a right.
type ToolChoice struct {
	Enabled  []string `json:"enabled,omitempty"`  // toolsets or tools; empty means those configured
	Disabled []string `json:"disabled,omitempty"` // these are left out
	// Only, if set, lists the tools that the session may have at all: those of its parent.
	Only []string `json:"only,omitempty"`
}

// Rights says what a run may do without asking.
type Rights struct {
	Mode     RightsMode `json:"mode,omitempty"`
	Approver Approver   `json:"approver,omitempty"`
	// Allow lists rules for calls that run without asking in this run, also where no user can be
	// asked: "tool" or "tool: subject", such as "terminal: go test*". A rule never covers what only
	// the user may allow, what changes Hermes itself, what a rule of the configuration forbids, or
	// what untrusted text may have asked for. A session with a rule that cannot be read is not opened.
	Allow []string `json:"allow,omitempty"`
	// Risks lists the keys of risks that are approved, in any folder, only where a user attends.
	Risks []string `json:"risks,omitempty"`
	// WhenUnattended decides where no user can be asked.
	WhenUnattended Unattendance `json:"when_unattended,omitempty"`
}

// RightsMode is how risky calls are treated. In a [Rights] the empty mode is what is configured.
type RightsMode string

// The modes.
const (
	ModePlan        RightsMode = "plan"         // calls with an effect are refused
	ModeAsk         RightsMode = "ask"          // the user decides
	ModeAcceptEdits RightsMode = "accept-edits" // changes of files in the working folder are approved, except protected ones
	ModeYolo        RightsMode = "yolo"         // what no rule denies is approved, except what untrusted text may have asked to keep
)

// ModeAskUser is [ModeAsk] where neither a model nor a setting answers for the user: that of turns which a
// client asked for, see [ClientSource]. A session is never put into it.
const ModeAskUser RightsMode = "ask-user"

// Modes returns all modes that a session can be put into, each wider than the one before it.
func Modes() []RightsMode { return []RightsMode{ModePlan, ModeAsk, ModeAcceptEdits, ModeYolo} }

// Narrower returns the mode that allows less. An unknown or empty mode counts as ModeAsk.
func (m RightsMode) Narrower(o RightsMode) RightsMode { return Modes()[min(m.width(), o.width())] }

func (m RightsMode) width() int {
	if i := slices.Index(Modes(), m); i >= 0 {
		return i
	}
	return slices.Index(Modes(), ModeAsk)
}

// Check returns an error, worded for the user, if the mode is neither empty nor one of [Modes].
func (m RightsMode) Check() error {
	if m == "" || slices.Contains(Modes(), m) {
		return nil
	}
	return fmt.Errorf("unknown mode %q; use ask, plan, accept-edits or yolo", string(m))
}

// Approver is who decides first about a risky call; empty is what is configured.
type Approver string

// The approvers.
const (
	ApproverManual Approver = "manual" // the user
	ApproverSmart  Approver = "smart"  // a model, and the user where it is not sure
)

// Unattendance is what happens to a risky call where no user can be asked; empty is what is
// configured.
type Unattendance string

// What happens without a user.
const (
	UnattendedDeny    Unattendance = "deny"
	UnattendedApprove Unattendance = "approve"
)

// PromptChoice is what a session adds to its prompt or leaves out.
type PromptChoice struct {
	Extra  string   `json:"extra,omitempty"`  // text at the end of the guides
	Skills []string `json:"skills,omitempty"` // skills that are loaded at the start
	// IgnoreRules leaves out SOUL.md, memory, skills and project files.
	IgnoreRules bool `json:"ignore_rules,omitempty"`
	// PassSessionID gives the model the id of the session.
	PassSessionID bool `json:"pass_session_id,omitempty"`
	// MemoryScope says whose memory the session has: "user" gives each user their own, "shared"
	// all the same; empty means what is configured.
	MemoryScope string `json:"memory_scope,omitempty"`
}

// RunBudget bounds one run.
type RunBudget struct {
	// Steps is how many model calls a turn may make; 0 means what is configured, less than 0 no
	// limit.
	Steps int `json:"steps,omitempty"`
	// Money is how much the session and its children may cost in total, beside the configured
	// caps; 0 adds no cap. In JSON it is in millionths of a dollar.
	Money Money `json:"money_micros,omitempty"`
}

// StoredRun is the part of a RunSpec that is stored with its session.
type StoredRun struct {
	Origin    Origin       `json:"origin,omitzero"`
	Workspace Workspace    `json:"workspace,omitzero"`
	Tools     ToolChoice   `json:"tools,omitzero"`
	Prompt    PromptChoice `json:"prompt,omitzero"`
	// Plan says that a user has put the session into [ModePlan] and not taken it out again. So
	// it is opened in that mode, whatever its opener asks for.
	Plan bool `json:"plan,omitempty"`
}

// Stored returns the part of the spec that holds for the life of its session.
func (r RunSpec) Stored() StoredRun {
	return StoredRun{Origin: r.Origin, Workspace: r.Workspace, Tools: r.Tools, Prompt: r.Prompt}
}

// Ref describes the session of the run as far as its spec does.
func (r RunSpec) Ref() SessionRef {
	return SessionRef{
		ID: r.Session, Platform: r.Origin.Platform, User: r.Origin.User, Dir: r.Workspace.Dir, Depth: r.Origin.Depth,
		Chat: r.Origin.Chat, Root: SessionRoot{ID: r.Origin.RootID, Platform: r.Origin.Root},
		IgnoreRules: r.Prompt.IgnoreRules, MemoryScope: r.Prompt.MemoryScope,
	}
}

// Resumed returns the spec of a session that is opened again: what was stored, and the model,
// the rights and the budget of r.
func (r RunSpec) Resumed(session string, s StoredRun) RunSpec {
	r.Session, r.Origin, r.Workspace, r.Tools, r.Prompt = session, s.Origin, s.Workspace, s.Tools, s.Prompt
	return r
}

// StoredRun returns what is stored of the session's spec. For a session of an earlier version,
// which stored no spec, it has what the other fields say. It needs a complete row, not one of a
// list.
func (s Session) StoredRun() StoredRun {
	if !reflect.ValueOf(s.Run).IsZero() {
		return s.Run
	}
	run := StoredRun{
		Origin:    Origin{Platform: s.Platform, User: s.User, Parent: s.Parent, Provenance: s.Provenance},
		Workspace: Workspace{Dir: s.Dir},
	}
	if s.Platform == PlatformChild {
		run.Origin.Depth = 1
	}
	return run
}

// PlatformChild is the platform of the sessions that a session starts.
const PlatformChild = "subagent"
