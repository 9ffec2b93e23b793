package toolbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"hermes"
	"hermes/internal/permission"
)

// Outcome is what becomes of a call.
type Outcome string

// The outcomes.
const (
	Runs      Outcome = "run"       // without asking
	Asks      Outcome = "ask"       // the user, or in smart mode a model first
	Forbidden Outcome = "forbidden" // in every mode, whatever is answered
	Planned   Outcome = "plan"      // refused in plan mode, since it may change something
	Mistaken  Outcome = "refused"   // as it is; the reason says how to call instead
)

// Verdict says what becomes of a call, and why.
type Verdict struct {
	Outcome Outcome
	// Reason says why a call is refused.
	Reason string
	// Risks are those that were found, and Open those that the user is asked about.
	Risks, Open []hermes.Risk
	// By are the rules that allow what was not allowed otherwise, or the one that forbids.
	By []string
}

// decide judges a call. It has no side effects, but sets the subject of the call.
//
// The order is: what is never allowed; what a rule denies; plan mode; taint; what a rule asks; grants and what a
// rule allows; a call without risks runs; the mode; the user is asked. A rule that denies thus binds every
// mode, grant and rule that allows, and so does an unclear one.
func (b *Toolbox) decide(ctx context.Context, c *call) Verdict {
	var found []hermes.Risk
	if assessor, ok := c.Tool.(hermes.RiskAssessor); ok {
		found = assessor.AssessRisk(ctx, c.Call)
	}
	if i := slices.IndexFunc(found, func(r hermes.Risk) bool { return r.Deny && !r.Mistake }); i >= 0 {
		return Verdict{Outcome: Forbidden, Reason: found[i].Reason, Risks: found}
	}
	policies := b.policies(c)
	if p, unclear := policies.Unclear(); unclear {
		return Verdict{Outcome: Forbidden, By: []string{p.Place}, Risks: found,
			Reason: "it is unclear what the rules forbid, so nothing runs until the user has repaired " + p.String()}
	}
	seen := b.seen(c)
	ruled := policies.Concern(seen)
	kept, keeps := b.taint(c)
	sent := b.sends(c)
	if ruled || keeps || c.Asks != "" || len(sent) > 0 || len(found)+len(b.approvals.deny.Entries) > 0 {
		c.subject = subject(ctx, c)
		seen.Texts = texts(c)
		seen.Unclear = slices.ContainsFunc(found, func(r hermes.Risk) bool { return r.Unclear })
	}
	if keeps || len(sent) > 0 { // what is kept or sent is shown whole, beside what the tool itself shows
		c.subject.Text = spelled(c.Arguments)
	}
	if ruled {
		located(ctx, c, seen)
		if c.Spec.CanOmit {
			seen.LeavesOut, c.Omits = true, b.omits(*seen, policies)
		}
	}
	denied, asks := append(policies, b.approvals.deny).Denied(seen, b.o.Now())
	if denied != nil {
		return Verdict{Outcome: Forbidden, By: []string{denied.String()}, Risks: found, Reason: because("it matches the rule "+denied.Rule.String()+" in "+denied.Place, denied.Reason)}
	}
	if b.plans(c) {
		return Verdict{Outcome: Planned, Reason: planMode, Risks: found}
	}
	if i := slices.IndexFunc(found, func(r hermes.Risk) bool { return r.Mistake }); i >= 0 {
		return Verdict{Outcome: Mistaken, Reason: found[i].Reason, Risks: found}
	}
	if keeps {
		found = append(slices.Clip(found), kept)
	}
	found = append(slices.Clip(tainted(c, found)), sent...)
	for _, f := range asks {
		found = append(slices.Clip(found), asked(c, f))
	}
	if c.Asks != "" {
		found = append(slices.Clip(found), hooked(c))
	}
	v := Verdict{Outcome: Runs, Risks: found, Open: b.approvals.open(c, found)}
	v.Open, v.By = b.byRules(ctx, c, seen, policies, v.Open)
	v.Open = b.byMode(ctx, c, v.Open)
	if len(v.Open) > 0 {
		v.Outcome = Asks
	}
	return v
}

func because(what, reason string) string {
	if reason == "" {
		return what
	}
	return what + ": " + reason
}

// omits reports which files a tool leaves out because a rule forbids to read them.
func (b *Toolbox) omits(seen permission.Call, policies permission.Policies) func(string) bool {
	return func(path string) bool {
		read := seen
		read.Tool, read.Files, read.LeavesOut = "read_file", []string{path}, false
		denied, _ := policies.Denied(&read, b.o.Now())
		return denied != nil
	}
}

// policies are the rules of files that hold for a call now.
func (b *Toolbox) policies(c *call) permission.Policies {
	if b.approvals.rules.Policies == nil {
		return nil
	}
	dir := ""
	if c.Host != nil {
		dir = c.Host.Session().Dir
	}
	return slices.Clip(b.approvals.rules.Policies(dir))
}

// asked is the risk of a call that a rule asks for. Its key has the rule and the subject, so that no
// answer covers another one; a call that may be forbidden is asked each time.
func asked(c *call, f permission.Finding) hermes.Risk {
	rule := f.Rule.String() + " in " + f.Place
	if f.Maybe && f.Verdict == permission.Deny {
		return hermes.Risk{Key: "rule-may-deny:" + f.ID(), Once: true, NoRemember: true, EveryMode: true,
			Reason: because("may be what the rule "+rule+" denies, which only running it shows", f.Reason)}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", c.subject.Text, c.subject.Dir))
	return hermes.Risk{Key: "rule:" + f.ID() + ":" + hex.EncodeToString(sum[:8]), EveryMode: true, Bound: true,
		Reason: because("the rule "+rule+" asks", f.Reason)}
}

// hooked is the risk of a call about which a hook wants the user to decide. No grant, rule or model
// answers it.
func hooked(c *call) hermes.Risk {
	return hermes.Risk{Key: "hook", Once: true, NoRemember: true, Reason: "a hook asks: " + c.Asks}
}

// byRules returns the risks of a call that no rule allows, and the rules that allow the others. A rule
// also holds where no user can be asked, so it covers no more than a setting may allow there: neither what
// only the user may allow, nor what changes Hermes itself. It names a command, so it covers nothing that the
// command asks for beyond its walls.
func (b *Toolbox) byRules(ctx context.Context, c *call, seen *permission.Call, policies permission.Policies, open []hermes.Risk) (rest []hermes.Risk, by []string) {
	run := b.approvals.rules.Rules
	own := slices.ContainsFunc(run, func(r permission.Rule) bool { return r.Names(c.Name, c.Toolset) })
	if len(open) == 0 || !own && !policies.Concern(seen) {
		return open, nil
	}
	if seen.Workspace == "" {
		located(ctx, c, seen)
	}
	rest = slices.DeleteFunc(slices.Clone(open), func(r hermes.Risk) bool {
		if _, need := hermes.GrantedNeed(r.Key); need || !AllowedUnattended(r) {
			return false
		}
		if run.Allow(*seen, r.Key) {
			by = append(by, "--allow-tools")
			return true
		}
		entries := policies.Allowed(seen, r.Key, b.o.Now())
		for _, e := range entries {
			by = append(by, e.String())
		}
		return len(entries) > 0
	})
	slices.Sort(by)
	return rest, slices.Compact(by)
}
