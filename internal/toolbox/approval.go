package toolbox

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"hermes"
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
	Mode Mode // empty is manual
	// Deny are globs of commands that are never run, in any mode.
	Deny []string
	// Allowed are the keys of risks that are already approved.
	Allowed []string
	// Remember stores keys that the user always allows; nil keeps them for the
	// session only.
	Remember func(keys []string) error
	// Judge lets a model decide in smart mode whether a call may run without a
	// question: AllowOnce runs it, Deny refuses it, and anything else, or an
	// error, asks the user. It never sees calls that a deny rule forbids.
	Judge func(ctx context.Context, session hermes.SessionRef, a hermes.ApprovalRequest) (hermes.Decision, error)
	// Breaker is the number of refusals in a row after which the model is told
	// to stop; 0 means never.
	Breaker int
}

// approvals holds what a session has been allowed so far.
type approvals struct {
	rules Approvals

	mu      sync.Mutex
	mode    Mode
	allowed map[string]bool
	refused int // in a row
}

func newApprovals(rules Approvals) *approvals {
	a := &approvals{rules: rules, mode: cmp.Or(rules.Mode, ModeManual), allowed: map[string]bool{}}
	for _, key := range rules.Allowed {
		a.allowed[key] = true
	}
	return a
}

// SetMode changes how dangerous calls are approved from now on.
func (b *Toolbox) SetMode(m Mode) {
	b.approvals.mu.Lock()
	defer b.approvals.mu.Unlock()
	b.approvals.mode = m
}

// approval is the only layer that allows or refuses a risky call, whoever made
// it: the model, a script or a child.
func (b *Toolbox) approval(m member, next runner) runner {
	assessor, risks := m.tool.(hermes.RiskAssessor)
	return func(ctx context.Context, c *hermes.Call) hermes.Result {
		subject := wholeSubject(c)
		if glob := denied(subject, b.approvals.rules.Deny); glob != "" {
			return forbidden("it matches the rule " + glob + " in approvals.deny")
		}
		var found []hermes.Risk
		if risks {
			found = assessor.AssessRisk(ctx, c)
		}
		if risk, ok := taint(m, c); ok {
			found, subject = append(slices.Clip(found), risk), spelled(c.Arguments)
		}
		if len(found) == 0 {
			return next(ctx, c)
		}
		c, r := b.assess(ctx, m, c, subject, found)
		if r != nil {
			return *r
		}
		return next(ctx, c)
	}
}

// assess returns the call in the form that may run, or its refusal.
func (b *Toolbox) assess(ctx context.Context, m member, c *hermes.Call, subject string, found []hermes.Risk) (*hermes.Call, *hermes.Result) {
	for _, f := range found {
		if f.Deny {
			r := forbidden(f.Reason)
			return c, &r
		}
	}
	open := b.approvals.open(found)
	if len(open) == 0 {
		return c, nil
	}
	decision := hermes.Deny
	if c.Host != nil {
		shown := hermes.ApprovalRequest{CallID: c.ID, Tool: c.Name, Subject: visible(subject), Dir: visible(workdir(c)), Risks: open}
		judged, r := b.judge(ctx, c, shown)
		if judged {
			return c, r
		}
		answer, err := c.Host.Approve(ctx, shown)
		switch {
		case err != nil && stopped(ctx, err):
			r := failure("interrupted: the turn was stopped before this call was approved; it did not run")
			return c, &r
		case err != nil:
			b.log.Warn("ask for approval", "tool", c.Name, "call", c.ID, "err", err)
		default:
			decision = answer
		}
	}
	if canPropose(m, decision, open) {
		pending := *c
		pending.Propose = true
		return &pending, nil
	}
	if !decision.Allowed() {
		r := b.approvals.refuse(decision, open)
		return c, &r
	}
	if err := b.approvals.grant(decision, open); err != nil {
		b.log.Warn("remember an approval", "err", err)
	}
	return c, nil
}

// open returns the risks that are not approved yet. Each risk has its own key,
// and the approval of one says nothing about another.
func (a *approvals) open(found []hermes.Risk) []hermes.Risk {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mode == ModeOff {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(found), func(f hermes.Risk) bool { return a.allowed[f.Key] })
}

func (a *approvals) grant(decision hermes.Decision, open []hermes.Risk) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused = 0
	if decision == hermes.AllowOnce {
		return nil
	}
	var keys []string
	for _, f := range open {
		a.allowed[f.Key] = true
		if !f.NoRemember {
			keys = append(keys, f.Key)
		}
	}
	if decision == hermes.AllowAlways && len(keys) > 0 && a.rules.Remember != nil {
		return a.rules.Remember(keys)
	}
	return nil
}

func (a *approvals) refuse(decision hermes.Decision, open []hermes.Risk) hermes.Result {
	if decision == hermes.TimedOut {
		return a.refusal("timeout", "no answer came in time, which counts as a refusal.", open)
	}
	return a.refusal("denied", "the user refused, or there was no user to ask.", open)
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

func (a *approvals) newTurn() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused = 0
}

// forbidden is the refusal of a call that no mode and no approval allows.
func forbidden(why string) hermes.Result {
	return blocked("forbidden", "BLOCKED: this is never run: no mode and no approval can allow it. "+
		"Do not retry it, do not rephrase it, and do not try to reach the same goal by a different command. "+
		"If it is really needed, the user must do it by hand.", why)
}

// blocked is the shape of every refusal.
func blocked(outcome, message, reason string) hermes.Result {
	return refusal(map[string]any{
		"approved": false, "user_consent": false, "outcome": outcome, "message": message, "reason": reason,
	})
}

func reasons(found []hermes.Risk) string {
	list := make([]string, len(found))
	for i, f := range found {
		list[i] = f.Reason
	}
	return strings.Join(list, "; ")
}

// wholeSubject is what the user is asked to approve, never shortened: the
// command, the path, or the arguments as they are.
func wholeSubject(c *hermes.Call) string {
	var given map[string]any
	if json.Unmarshal(c.Arguments, &given) == nil {
		for _, name := range [...]string{"command", "code", "data", "path", "url"} {
			if s, ok := given[name].(string); ok && s != "" {
				return s
			}
		}
	}
	return string(c.Arguments)
}

// visible spells out the characters that could make a text look different on a
// screen: control characters, invisible ones and those that change the
// direction of writing. Line breaks and tabs stay.
func visible(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\ufffd") {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) && r != 0x2028 && r != 0x2029 {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "<U+%04X>", r)
	}
	return b.String()
}

// workdir is the folder in which the call would run.
func workdir(c *hermes.Call) string {
	var given struct {
		Workdir string `json:"workdir"`
	}
	if json.Unmarshal(c.Arguments, &given) == nil && given.Workdir != "" {
		return given.Workdir
	}
	if e := c.Host.Environment(); e != nil {
		if dir, err := e.Files().Resolve("."); err == nil {
			return dir
		}
	}
	return c.Host.Session().Dir
}
