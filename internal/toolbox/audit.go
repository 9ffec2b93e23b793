package toolbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/audit"
)

// What refuses or allows a call, in rows of the audit log, besides the user and a model.
const (
	byUser      = "user"
	byModel     = "model"
	byRule      = "rule"      // of a file, of the settings or of the run
	byGrant     = "grant"     // that is stored
	bySession   = "session"   // an earlier answer of the user in this session
	byMode      = "mode"      // yolo, or accept-edits
	bySetting   = "setting"   // for runs without a user, or command_allowlist
	byHook      = "hook"      // of the program or the user
	byGuardrail = "guardrail" // against calls that repeat
	byProgram   = "program"   // what is never allowed, and calls that cannot be understood
	byInterrupt = "interrupt" // the turn was stopped
)

// maxRecorded is how many characters of a call's main argument a row has.
const maxRecorded = 500

// audit records a call with an effect before it is judged and runs, and the result of each call
// that has one or was asked about. A call that cannot be recorded does not run.
func (b *Toolbox) audit(next runner) runner {
	return func(ctx context.Context, c *call) hermes.Result {
		if b.o.Audit == nil {
			return next(ctx, c)
		}
		effect := c.Spec.EffectOf(c.Arguments) != hermes.EffectNone
		if effect {
			if refused := b.record(ctx, c, b.row(c, audit.KindCall)); refused != nil {
				return *refused
			}
		}
		r := next(ctx, c)
		if !c.ran || !effect && !c.risky {
			return r
		}
		row := b.row(c, audit.KindResult)
		row.Status, row.Result = status(r), sum([]byte(r.Text))
		if c.Propose {
			row.Note = "stored as a pending change for the user"
		}
		if err := b.o.Audit.Append(context.WithoutCancel(ctx), row); err != nil {
			b.o.Log.Error("record a result", "tool", c.Name, "call", c.ID, "err", err)
			r.Shown = strings.TrimSpace("The result of this call is missing in the audit log: " + err.Error() + "\n" + r.Shown)
		}
		return r
	}
}

// refused records a call that did not run, with what the model was told about it.
func (b *Toolbox) refused(ctx context.Context, c *call, r hermes.Result) hermes.Result {
	if b.o.Audit == nil || c.ran {
		return r
	}
	row := b.row(c, audit.KindRefusal)
	row.By, row.Status = c.by, status(r)
	row.Decision, row.Rule = said(r)
	if c.rule != "" {
		row.Rule = c.rule
	}
	if row.By == "" {
		row.By = byProgram
		if ctx.Err() != nil {
			row.By = byInterrupt
		}
	}
	if err := b.o.Audit.Append(context.WithoutCancel(ctx), row); err != nil {
		b.o.Log.Error("record a refusal", "tool", c.Name, "call", c.ID, "err", err)
	}
	return r
}

// said returns the outcome and the reason of a call that did not run.
func said(r hermes.Result) (outcome, reason string) {
	text, _, _ := strings.Cut(r.Text, "\n\n")
	var in struct{ Outcome, Reason, Error string }
	if json.Unmarshal([]byte(text), &in) != nil {
		return "", text
	}
	if in.Reason == "" {
		in.Reason = in.Error
	}
	return in.Outcome, in.Reason
}

// record writes a row without which the call does not run. The result is the refusal.
func (b *Toolbox) record(ctx context.Context, c *call, row audit.Row) *hermes.Result {
	if b.o.Audit == nil {
		return nil
	}
	err := b.o.Audit.Append(ctx, row)
	if err == nil {
		return nil
	}
	b.o.Log.Error("record a call", "tool", c.Name, "call", c.ID, "err", err)
	r := hermes.ErrorResult(fmt.Sprintf("not run: %v. No call with an effect runs without a row in the audit log; tell the user to run `hermes audit verify`", err))
	return &r
}

// row is a row about a call.
func (b *Toolbox) row(c *call, kind audit.Kind) audit.Row {
	row := audit.Row{
		Kind: kind, Call: c.ID, Tool: c.Name, Parent: b.o.Parent, Subject: c.subject.Text, Dir: c.subject.Dir, Arguments: sum(c.Arguments),
	}
	if row.Subject == "" {
		row.Subject = preview(c.Name, c.Arguments, maxRecorded)
	}
	if c.Host != nil {
		s := c.Host.Session()
		row.Session, row.Turn, row.Platform, row.User = s.ID, s.Turn, s.Platform, s.User
	}
	return row
}

// recordAsked records that a question about a call is put.
func (b *Toolbox) recordAsked(ctx context.Context, c *call) *hermes.Result {
	c.risky = true
	row := b.row(c, audit.KindAsked)
	row.Risks, row.Rule = riskKeys(c.open), reasons(c.open)
	return b.record(ctx, c, row)
}

// recordAnswer records a decision about a call and who made it.
func (b *Toolbox) recordAnswer(ctx context.Context, c *call, by string, answer hermes.ApprovalAnswer) *hermes.Result {
	if !answer.Allowed() {
		c.by = by
	}
	row := b.row(c, audit.KindAnswer)
	row.Risks, row.By, row.Decision, row.Rule = riskKeys(c.open), by, string(answer.Decision), answer.Reason
	if answer.Decision != hermes.AllowOnce && answer.Allowed() {
		row.Scope = string(answer.Scope)
	}
	return b.record(context.WithoutCancel(ctx), c, row)
}

// answerer says who gave an answer that the host returned.
func answerer(c *call, answer hermes.ApprovalAnswer) string {
	switch {
	case answer.Decision == hermes.Unattended || answer.Decision == hermes.TimedOut:
		return byProgram
	case answer.Allowed() && !attended(c.Call) && !onlyUser(c.Call): // see approvals.unattended_mode
		return bySetting
	}
	return byUser
}

// recordGrant records that what the user always allows was stored.
func (b *Toolbox) recordGrant(ctx context.Context, c *call, answer hermes.ApprovalAnswer) error {
	if b.o.Audit == nil {
		return nil
	}
	row := b.row(c, audit.KindGrant)
	row.Risks, row.By, row.Decision, row.Scope, row.Rule = riskKeys(c.open), byUser, string(answer.Decision), string(answer.Scope), b.approvals.rules.Grants.Place()
	return b.o.Audit.Append(context.WithoutCancel(ctx), row)
}

// recordAllowed records that a call with risks runs without a question, by what, and by which rules.
func (b *Toolbox) recordAllowed(ctx context.Context, c *call, found []hermes.Risk, rules string) *hermes.Result {
	if b.o.Audit == nil {
		return nil
	}
	c.risky = true
	row := b.row(c, audit.KindAllowed)
	row.Risks, row.Decision, row.Rule = riskKeys(found), "allowed", rules
	var by []string
	for _, f := range found {
		if what := b.allowedBy(c, f); !slices.Contains(by, what) {
			by = append(by, what)
		}
	}
	row.By = strings.Join(by, ", ")
	return b.record(ctx, c, row)
}

// allowedBy says what allows a risk of a call that runs without a question.
func (b *Toolbox) allowedBy(c *call, f hermes.Risk) string {
	a, as := b.approvals, b.approvals.described(c, f.Key)
	a.mu.Lock()
	defer a.mu.Unlock()
	mode := b.mode(c)
	switch {
	case a.answered(as):
		return bySession
	case a.rules.Grants != nil && a.rules.Grants.Covers(as):
		return byGrant
	case slices.Contains(a.rules.Allowed, f.Key):
		return bySetting
	case mode == hermes.ModeYolo && !f.EveryMode, mode == hermes.ModeAcceptEdits && edit(f):
		return byMode
	}
	return byRule
}

// recordCrash records that a tool panicked.
func (b *Toolbox) recordCrash(ctx context.Context, c *call, why any) {
	if b.o.Audit == nil {
		return
	}
	row := b.row(c, audit.KindCrashed)
	row.Note = fmt.Sprint(why)
	if err := b.o.Audit.Append(context.WithoutCancel(ctx), row); err != nil {
		b.o.Log.Error("record a crash", "tool", c.Name, "call", c.ID, "err", err)
	}
}

func riskKeys(risks []hermes.Risk) []string {
	var keys []string
	for _, r := range risks {
		keys = append(keys, r.Key)
	}
	return keys
}

func status(r hermes.Result) string {
	if r.Failed {
		return "failed"
	}
	return "ok"
}

func sum(content []byte) string {
	h := sha256.Sum256(content)
	return hex.EncodeToString(h[:])
}
