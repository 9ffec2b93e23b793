package toolbox

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"hermes"
	"hermes/internal/permission"
	"hermes/internal/text"
)

// Mode says how dangerous calls are approved.
type Mode string

// The modes. Smart lets a model judge first; without a model it asks the user,
// as manual does.
const (
	ModeManual Mode = "manual"
	ModeSmart  Mode = "smart"
	ModeOff    Mode = "off"
)

// ParseMode converts approvals.mode from YAML. "off" and false (YAML's reading
// of an unquoted off) are off; true, empty and unknown values are manual.
func ParseMode(v any) Mode {
	switch v := v.(type) {
	case bool:
		if !v {
			return ModeOff
		}
	case string:
		switch m := Mode(strings.ToLower(strings.TrimSpace(v))); m {
		case ModeSmart, ModeOff:
			return m
		case "false":
			return ModeOff
		}
	}
	return ModeManual
}

// Approvals are the approval rules of a session.
type Approvals struct {
	// Mode says who decides, empty is manual; [ModeOff] holds for calls whose session has no mode.
	Mode Mode
	// Deny are globs of commands that are never run, in any mode.
	Deny []string
	// Policies returns the rules that hold now for the calls of a session with this folder;
	// nil has none.
	Policies func(dir string) permission.Policies
	// Settings names the version of the settings of the project of a folder, by a hash. It is set with Undecided.
	Settings func(dir string) string
	// Undecided returns the settings of the project of a folder about which the user has not decided;
	// nil if there are none, and so is a nil func.
	Undecided func(dir string) *Undecided
	// Profile is the profile of the home, for rules that hold in some only.
	Profile string
	// Allowed are the keys of risks that are already approved, in any folder.
	// They do not hold where no user can be asked, nor in child sessions, nor for
	// what untrusted text may have asked to keep.
	Allowed []string
	// Rules allow calls without asking, also where no user can be asked; see
	// [AllowedUnattended] for what they never cover.
	Rules permission.Rules
	// Grants keeps what the user always allows; nil keeps it for the session
	// only.
	Grants Grants
	// Judge lets a model decide in smart mode whether a call may run without a
	// question, where a user attends who can be asked if it is not sure: AllowOnce runs it, Deny refuses it, and anything else, or an
	// error, asks the user. It never sees calls that a deny rule forbids.
	Judge func(ctx context.Context, session hermes.SessionRef, a hermes.ApprovalRequest) (hermes.Decision, error)
	// Breaker is the number of refusals in a row after which the model is told
	// to stop; 0 means never.
	Breaker int
}

// Grants is where permission that outlives a session is kept. It may be used
// concurrently.
type Grants interface {
	// Covers reports whether a stored grant covers a call, as
	// [hermes.Grant.Covers] describes it.
	Covers(call hermes.Grant) bool
	// All lists the stored grants, none if they cannot be read.
	All() []hermes.Grant
	// Add stores grants. It returns when they are on disk.
	Add(ctx context.Context, grants ...hermes.Grant) error
	// Place names the file to the user.
	Place() string
}

// approvals holds what a session has been allowed so far.
type approvals struct {
	rules Approvals
	deny  *permission.Policy // of rules.Deny
	now   func() time.Time

	mu      sync.Mutex
	began   *string        // version of the project's settings before the first call
	offered []string       // settings of projects that the user was asked about, by what was shown
	granted []hermes.Grant // for the session
	refused int            // in a row
}

func newApprovals(rules Approvals, now func() time.Time) *approvals {
	return &approvals{rules: rules, deny: permission.Globs(rules.Deny, "approvals.deny"), now: now}
}

// approval asks for the risks that permission found and has not approved: a model in
// smart mode, else the user.
func (b *Toolbox) approval(next runner) runner {
	return func(ctx context.Context, c *call) hermes.Result {
		if len(c.open) == 0 {
			return next(ctx, c)
		}
		trusted, why := b.askTrust(ctx, c)
		if why != "" { // said with the question about the call
			c.open = slices.Clone(c.open)
			c.open[0].Reason += "; " + why
		}
		if trusted {
			if v := b.decide(ctx, c); v.Outcome != Asks && v.Outcome != Runs {
				return b.permission(b.approval(next))(ctx, c)
			} else if c.open = v.Open; len(v.Open) == 0 {
				if refused := b.recordAllowed(ctx, c, v.Risks, strings.Join(v.By, ", ")); refused != nil {
					return *refused
				}
				return next(ctx, c)
			}
		}
		note, refused := b.ask(ctx, c)
		if refused != nil {
			return *refused
		}
		if b.plans(c) { // the mode was changed meanwhile
			return planned()
		}
		r := next(ctx, c)
		if advice := b.lessAsking(c); c.Propose && !r.Failed && advice != "" {
			r.Text += "\n\n[" + advice + "]"
		}
		if note != "" {
			r.Shown = strings.TrimSpace(note + "\n" + r.Shown)
		}
		return r
	}
}

// ask asks about a call and returns a note for the user, or the refusal. A change that
// may be proposed instead becomes a proposal.
func (b *Toolbox) ask(ctx context.Context, c *call) (note string, refused *hermes.Result) {
	answer := hermes.ApprovalAnswer{Decision: hermes.Unattended}
	if c.Host != nil {
		shown := b.request(c)
		if refused := b.recordAsked(ctx, c); refused != nil {
			return "", refused
		}
		judged, r := b.judge(ctx, c, shown)
		if judged {
			verdict := hermes.AllowOnce
			if r != nil {
				verdict = hermes.Deny
			}
			return "", cmp.Or(r, b.recordAnswer(ctx, c, byModel, hermes.ApprovalAnswer{Decision: verdict}))
		}
		if refused := b.beforeAsk(ctx, c, shown); refused != nil {
			return "", refused
		}
		var err error
		answer, err = c.Host.Approve(ctx, shown)
		switch {
		case err != nil && stopped(ctx, err):
			c.by = byInterrupt
			r := hermes.ErrorResult("interrupted: the turn was stopped before this call was approved; it did not run")
			return "", &r
		case err != nil:
			b.o.Log.Warn("ask for approval", "tool", c.Name, "call", c.ID, "err", err)
			answer = hermes.ApprovalAnswer{Decision: hermes.Deny}
		}
	}
	if answer.Allowed() {
		answer = b.counted(answer, c)
	}
	if refused := b.recordAnswer(ctx, c, answerer(c, answer), answer); refused != nil {
		return "", refused
	}
	if c.canPropose(answer.Decision) {
		pending := *c.Call
		pending.Propose = true
		c.Call = &pending
		return "", nil
	}
	if !answer.Allowed() {
		r := b.approvals.refuse(answer, c.open)
		return "", &r
	}
	agreed := *c.Call
	agreed.Approved = &c.subject
	c.Call = &agreed
	if err := b.approvals.grant(ctx, c, answer); err != nil {
		b.o.Log.Warn("store a permission", "tool", c.Name, "call", c.ID, "err", err)
		note = "the permission could not be stored and holds for this session only: " + err.Error()
		c.Host.Progress(note)
	} else if answer.Decision == hermes.AllowAlways {
		if err := b.recordGrant(ctx, c, answer); err != nil {
			b.o.Log.Error("record a permission", "tool", c.Name, "call", c.ID, "err", err)
			note = "the permission that was stored is missing in the audit log: " + err.Error()
		}
	}
	return note, nil
}

// request is what the user is asked.
func (b *Toolbox) request(c *call) hermes.ApprovalRequest {
	session, always := b.scopes(c)
	risks := slices.Clone(c.open)
	for i := range risks {
		risks[i].Reason = text.VisibleName(risks[i].Reason)
	}
	a := hermes.ApprovalRequest{
		CallID: c.ID, Tool: c.Name, Subject: text.Visible(c.subject.Text), Detail: text.Visible(c.subject.Detail), Dir: text.VisibleName(c.subject.Dir), Risks: risks,
		Session: session, Always: always,
	}
	if len(always) > 0 {
		a.Stored = b.approvals.rules.Grants.Place()
	}
	return a
}

func (a *approvals) refuse(answer hermes.ApprovalAnswer, open []hermes.Risk) hermes.Result {
	switch answer.Decision {
	case hermes.TimedOut:
		return a.refusal("timeout", "no answer came in time, which counts as a refusal.", open)
	case hermes.Unattended:
		return a.refusal("denied", "there is no user to ask in this session."+a.without(), open)
	}
	if reason := strings.TrimSpace(answer.Reason); reason != "" {
		return a.refusal("denied", "the user refused and said: "+strconv.Quote(reason)+". Act on what the user said.", open)
	}
	return a.refusal("denied", "the user refused.", open)
}

// without names the calls that need no user, for the model.
func (a *approvals) without() string {
	if len(a.rules.Rules) == 0 {
		return ""
	}
	list := make([]string, len(a.rules.Rules))
	for i, r := range a.rules.Rules {
		list[i] = strconv.Quote(r.String())
	}
	return " Without one only these calls run, each command by itself: " + strings.Join(list, ", ") + "."
}

func (a *approvals) refusal(outcome, why string, open []hermes.Risk) hermes.Result {
	a.mu.Lock()
	a.refused++
	breaks := a.rules.Breaker > 0 && a.refused >= a.rules.Breaker
	a.mu.Unlock()
	text := "BLOCKED: this was not run. The user did NOT consent: " + why +
		" Do not retry it, do not rephrase it, and do not try to reach the same goal by a different command."
	if breaks {
		text += " Several requests in a row were refused: stop calling tools now and tell the user what you wanted to do and why."
	} else {
		text += " Say what you wanted to do, or continue with work that needs no approval."
	}
	return blocked(outcome, text, reasons(open))
}

// agreed forgets the refusals in a row.
func (a *approvals) agreed() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused = 0
}

// blocked is the shape of every refusal.
func blocked(outcome, message, reason string) hermes.Result {
	r, err := hermes.JSONResult(map[string]any{
		"approved": false, "user_consent": false, "outcome": outcome, "message": message, "reason": reason,
	})
	if err != nil { // texts and flags always have a JSON form
		r.Text = message
	}
	r.Failed = true
	return r
}

func reasons(found []hermes.Risk) string {
	list := make([]string, len(found))
	for i, f := range found {
		list[i] = f.Reason
	}
	return strings.Join(list, "; ")
}

// judge lets the model of the smart mode decide about one call and reports
// whether it did. If it decided without a refusal, the call runs this once.
func (b *Toolbox) judge(ctx context.Context, c *call, shown hermes.ApprovalRequest) (decided bool, refused *hermes.Result) {
	if b.approvals.rules.Judge == nil || !attended(c.Call) || onlyUser(c.Call) || b.approvals.rules.Mode != ModeSmart || anyNoRemember(shown.Risks) || anyEveryMode(shown.Risks) {
		return false, nil
	}
	c.Host.Progress("asking a model whether this is safe: " + reasons(shown.Risks))
	defer func() {
		if !decided {
			c.Host.Progress("") // a question to the user follows
		}
	}()
	verdict, err := b.approvals.rules.Judge(ctx, c.Host.Session(), shown)
	if err != nil {
		if ctx.Err() == nil {
			b.o.Log.Warn("judge a call", "tool", c.Name, "call", c.ID, "err", err)
		}
		return false, nil
	}
	b.o.Log.Info("judged a call", "tool", c.Name, "call", c.ID, "verdict", string(verdict), "reason", reasons(shown.Risks))
	switch verdict {
	case hermes.AllowOnce:
		c.Host.Progress("judged safe, running without asking: " + reasons(shown.Risks))
		b.approvals.agreed()
		return true, nil
	case hermes.Deny:
		r := b.approvals.refusal("denied", "an automatic check judged it too dangerous to run or to ask about.", shown.Risks)
		return true, &r
	}
	return false, nil
}
