// Package toolbox runs the calls of one session through the tool chain.
//
// chain.go lists the layers in order; start there. Each layer has its own file or
// a part of one. Every problem becomes a result that tells the model what to try
// next; Run never fails.
//
// Package toolset selects the tools. This one knows no particular tool, frontend
// or store. It is handed what it needs of them: hooks, approval rules, a store for
// large results.
package toolbox

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hermes"
	"hermes/internal/audit"
	"hermes/internal/hook"
	"hermes/internal/toolset"
)

// Options configures a Toolbox.
type Options struct {
	Set *toolset.Set
	// Select makes the set again; nil keeps it.
	Select    func(ctx context.Context) (*toolset.Set, error)
	Hooks     *hook.Hooks // nil is none
	Approvals Approvals
	Guardrail Guardrail
	Limits    Limits
	// Spill stores large results outside the context; nil cuts them.
	Spill Spill
	// Remind returns what to add below the result of a call, such as a line about a
	// forgotten plan; "" adds nothing. It is called once for each call of the model,
	// in their order. Nil adds nothing.
	Remind func(c *hermes.Call, r hermes.Result) string
	// Redact masks secrets in text; nil leaves text alone.
	Redact func(string) string
	// Trusted reports whether the user trusts the text of a file or folder, by its
	// absolute path; nil trusts none.
	Trusted func(path string) bool
	// TrustCommand returns the command with which the user trusts a folder; "" if
	// it should not be trusted as a whole. Nil gives no such advice.
	TrustCommand func(folder string) string
	// Audit takes a row for each call with an effect, each refusal and each decision; nil
	// takes none. Calls whose rows it refuses do not run.
	Audit audit.Recorder
	// Parent is the session above, for the rows of a child; "" if there is no such session.
	Parent string
	Log    *slog.Logger     // nil discards
	Now    func() time.Time // nil is time.Now
}

// Toolbox is the tools of one session behind the tool chain. Its methods may be
// called concurrently.
type Toolbox struct {
	o         Options // with their defaults
	approvals *approvals
	streaks   *streaks
	run       runner // the whole chain
	tools     atomic.Pointer[toolset.Set]

	mu    sync.Mutex
	spent int    // bytes of results that this turn has put into the context
	read  string // the untrusted text that the session had read when the last call began
}

// call is a call on its way through the chain.
type call struct {
	*hermes.Call
	toolset.Entry
	// subject and open are set by the layer permission, for approval: what the call
	// acts on, and the risks that need approval.
	subject hermes.Subject
	open    []hermes.Risk
	// risky is set if a question was put about the call, or would have been, and ran
	// when its tool begins. by and rule say who or what refused it, if that is known.
	risky, ran bool
	by, rule   string
}

// runner runs a call and returns its result; errors are results, too.
type runner func(ctx context.Context, c *call) hermes.Result

// layer wraps a runner.
type layer func(next runner) runner

// New returns the toolbox of a session.
func New(o Options) *Toolbox {
	if o.Set == nil {
		o.Set = &toolset.Set{}
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Limits = o.Limits.orDefaults()
	b := &Toolbox{o: o, approvals: newApprovals(o.Approvals, o.Now), streaks: newStreaks(o.Guardrail)}
	b.tools.Store(o.Set)
	b.run = b.chain()
	return b
}

// set is the tools of the session.
func (b *Toolbox) set() *toolset.Set { return b.tools.Load() }

// Renew makes the list of tools again; see [hermes.RenewableTools].
func (b *Toolbox) Renew(ctx context.Context) error {
	if b.o.Select == nil {
		return nil
	}
	s, err := b.o.Select(ctx)
	if err == nil {
		b.tools.Store(s)
	}
	return err
}

// chain wraps a tool in the layers. A call passes them from top to bottom, its
// result from bottom to top.
func (b *Toolbox) chain() runner {
	next := b.core
	for _, wrap := range slices.Backward([]layer{
		b.beforeTool,
		b.guardrail,
		b.audit,
		b.journal,
		b.afterTool,
		b.recoverPanic,
		b.permission,
		b.approval,
		b.beforeRun,
		b.truncate,
		b.redact,
		b.provenance,
	}) {
		next = wrap(next)
	}
	return next
}

// Specs returns the tools to offer, sorted by name.
func (b *Toolbox) Specs() []hermes.Spec { return b.set().Specs() }

// Names lists the tools that the session began with, sorted, also those that are found by a search.
func (b *Toolbox) Names() []string { return b.set().Names() }

// Groups returns the deferrable toolsets of the session; see [hermes.GroupedTools].
func (b *Toolbox) Groups() []hermes.ToolGroup { return b.set().Groups() }

// Forwards reports whether another tool may call a tool; see [hermes.GroupedTools].
func (b *Toolbox) Forwards(tool string) bool { return b.set().Forwards(tool) }

// Spec returns the description of a tool, found by its name or an alias. It may be one that Specs
// does not have.
func (b *Toolbox) Spec(name string) (hermes.Spec, bool) {
	m, ok := b.set().Find(name)
	return m.Spec, ok
}

// Preview returns the main argument of a call, shortened for display and
// without secrets; "" if there is nothing to show.
func (b *Toolbox) Preview(c hermes.ToolCall) string {
	return b.o.Redact(preview(toolset.Canonical(c.Name), json.RawMessage(c.Arguments), b.o.Limits.Preview))
}

// Canonical returns the arguments of a call in the one form that is assessed,
// shown, journaled and run: fitted to the tool's schema, without arguments that
// the schema does not have. Arguments that cannot be fitted, and those of an
// unknown tool, are returned as they are; Run refuses them.
func (b *Toolbox) Canonical(c hermes.ToolCall) string {
	ready, problem := b.prepare(&hermes.Call{Name: c.Name, Arguments: json.RawMessage(c.Arguments)})
	if problem != "" {
		return c.Arguments
	}
	return string(ready.Arguments)
}

// TurnStarted resets everything that is counted per turn.
func (b *Toolbox) TurnStarted() {
	b.streaks.reset()
	b.approvals.agreed()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent = 0
}

// Run passes a call through the chain. It never fails: an error becomes a
// result that says what went wrong and what to try.
func (b *Toolbox) Run(ctx context.Context, c *hermes.Call) hermes.Result {
	ready, problem := b.prepare(c)
	if problem != "" {
		ready = &call{Call: c}
		return b.refused(ctx, ready, b.answered(ctx, ready, hermes.ErrorResult(problem)))
	}
	return b.refused(ctx, ready, b.run(ctx, ready))
}

// answered returns the result of a call that does not run. The guardrail warns when
// the same mistake is repeated.
func (b *Toolbox) answered(ctx context.Context, c *call, r hermes.Result) hermes.Result {
	return b.guardrail(func(context.Context, *call) hermes.Result { return r })(ctx, c)
}
