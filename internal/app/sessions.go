package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/hook"
	"hermes/internal/memory"
	"hermes/internal/policy"
	"hermes/internal/proc"
	"hermes/internal/prompt"
	"hermes/internal/session"
	"hermes/internal/session/jobs"
	"hermes/internal/toolbox"
	"hermes/internal/toolset"
	"hermes/internal/upkeep"
)

// Sessions returns the manager of the live sessions, made on first use.
func (a *App) Sessions(ctx context.Context) (*session.Manager, error) {
	if err := a.CheckSpend(); err != nil {
		return nil, err
	}
	if _, err := a.models.Catalogue(); err != nil { // reported before anything is started
		return nil, err
	}
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	if servers := a.mcp(); servers != nil { // closed after the sessions
		servers.Ahead()
	}
	if _, err := a.confinement(); err != nil { // closed after the sessions
		return nil, err
	}
	if _, err := a.record(); err != nil { // closed after the sessions
		return nil, err
	}
	a.mark()                      // before anything is started, and closed after the sessions
	store, err := a.Database(ctx) // closed after the lease owner, which asks it
	if err != nil {
		return nil, err
	}
	worktrees, err := a.worktrees()
	if err != nil {
		return nil, err
	}
	a.scripts() // closed after the sessions
	leaseOwner, listening := a.leaseOwner(), a.listening()
	tools := a.tooling() // all three are closed after the sessions
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sessions != nil {
		return a.sessions, nil
	}
	agent := cfg.Agent()
	a.sessions = session.NewManager(session.Config{
		Store: listening.Leasing(store), Models: a.models, NewRuntime: a.newRuntime, Owner: leaseOwner,
		Steps: int(agent.MaxTurns), Busy: hermes.Busy(cfg.Display().BusyInputMode), MaxResume: cfg.Sessions().MaxResumeMessages,
		Effort: func(model string) hermes.Effort { // reasoning_overrides, else reasoning_effort
			return hermes.EffortOf(model, agent.ReasoningEffort, agent.ReasoningOverrides)
		}, MaxTokens: cfg.Model().MaxTokens,
		Ask:      session.AskTimes{Approval: cfg.Approvals().Timeout, Question: agent.ClarifyTimeout, Escalate: cfg.Approvals().EscalateAfter},
		Children: a.children(cfg, tools, worktrees), Bounds: session.Bounds{
			Mode: func(r hermes.Rights) hermes.RightsMode { return toolbox.BeginMode(cfg.Approvals().Mode, r) }, Halted: a.CheckHalt, EndLeft: proc.EndOrphans, RecordMode: a.recordMode,
			KnownHost: a.knownHosts(cfg), Workspace: a.workspace,
		}, Now: a.opts.Now, Log: a.log(),
	})
	unused := upkeep.Unused(ctx, store, a.opts.Now())
	a.closers = append(a.closers, a.upkeep(store, cfg), a.tidy(store, cfg, unused), a.places.Close, a.sessions.Close)
	return a.sessions, nil
}

// newRuntime makes the runtime of a session.
func (a *App) newRuntime(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	if profile := run.Workspace.Profile; profile != "" && profile != cfg.Home().Profile() {
		return nil, fmt.Errorf("the session is of the profile %s; open it with `hermes --profile %s`", profile, profile)
	}
	if err := memory.CheckScope(run.Prompt.MemoryScope); err != nil {
		return nil, err
	}
	if !run.Workspace.Elsewhere() {
		trees, err := a.worktrees()
		if err == nil {
			err = trees.enter(run)
		}
		if err != nil {
			return nil, err
		}
	}
	meter, err := a.meter()
	if err != nil {
		return nil, err
	}
	meter.Bound(run.Session, run.Origin.Parent, run.Budget.Money)
	if servers := a.mcp(); servers != nil {
		servers.Start()
	}
	tools, scripted := a.scripted(cfg, run)
	tb, err := a.newToolbox(ctx, cfg, tools, run)
	if err != nil {
		return nil, err
	}
	env, end, err := a.environmentOf(run, walled{granted: func() []hermes.Need { return tb.Granted(run.Ref()) }, read: tb.Read})
	if err != nil {
		return nil, err
	}
	engine, follower := a.contextEngine(cfg, run), a.follow(cfg, run, tools, env)
	r := &session.Runtime{
		Environment: env, Tools: tb, Hooks: tools.hooks, Prompt: prompter{a, cfg, run, env, tb.Names}, Follower: follower,
		Context: engine, Window: a.models.Window, Unattended: toolbox.UnattendedOf(cfg.Approvals().UnattendedMode, run.Rights),
		Confirm: a.confirm(cfg, run), EndLeft: endLeft(env),
		Jobs: a.jobs(cfg, run, engine, tools.hooks), Close: func() error {
			if run.Origin.Depth > 0 { // there may be many, and one that goes on is bounded again when it is opened
				meter.Forget(run.Session)
			}
			follower.done()
			return errors.Join(scripted.Close(), end())
		},
	}
	if p := a.externalMemoryOf(run); p != nil {
		r.Memory = p
	}
	if scripted != nil {
		r.Jobs = append(r.Jobs, jobs.Notices(scripted.Notices))
		if after := cfg.General().HooksIdleAfter; after > 0 && scripted.WantsIdle() {
			r.Jobs = append(r.Jobs, jobs.Idle(after, scripted.Idle))
		}
	}
	return r, nil
}

// endLeft ends what commands of an environment left running; nil if it knows none.
func endLeft(env hermes.Environment) func() error {
	if e, ok := env.(interface{ EndLeft() error }); ok {
		return e.EndLeft
	}
	return nil
}

// prompter builds the system prompts of one run.
type prompter struct {
	app *App
	cfg *config.Config
	run hermes.RunSpec
	env hermes.Environment
	// tools names the tools of the session, also those that are found by a search.
	tools func() []string
}

// Prompt builds the system prompt.
func (b prompter) Prompt(ctx context.Context, row hermes.Session, specs []hermes.Spec) (hermes.SystemPrompt, error) {
	if err := reachable(ctx, b.run.Workspace, b.env); err != nil {
		return hermes.SystemPrompt{}, err
	}
	p := b.app.prompt(ctx, b.cfg, b.run, b.env, row, specs, b.tools())
	trusts := trusted(b.cfg, b.run.Workspace)
	own := trusts != nil && trusts(b.run.Workspace.Dir)
	from := hermes.MarkChosen(p.Provenance(), func(source string) bool { return own && hermes.IsProjectFile(source) })
	return hermes.SystemPrompt{Text: p.Text(), Layers: p.Layers(), Provenance: from, Warnings: p.Warnings}, nil
}

// reachable returns why a session cannot work where it does, if that is not this machine. A prompt
// would say too little of it, for the life of the session.
func reachable(ctx context.Context, w hermes.Workspace, env hermes.Environment) error {
	if !w.Elsewhere() {
		return nil
	}
	if _, err := env.Exec(ctx, hermes.Command{Line: ":", Dir: w.Dir}); err != nil {
		return fmt.Errorf("this session works in %s, which cannot be used now: %w; nothing was run on this machine instead, and `hermes doctor` says more", w.Backend, err)
	}
	return nil
}

// jobs lists what goes on beside and after the turns of a session.
func (a *App) jobs(cfg *config.Config, run hermes.RunSpec, engine hermes.ContextEngine, hooks *hook.Hooks) []jobs.Job {
	var list []jobs.Job
	if find := a.titles(cfg, run); find != nil {
		list = append(list, jobs.Title(find, a.log()))
	}
	if p := a.externalMemoryOf(run); p != nil {
		list = append(list, jobs.Memory(p.Observe, a.opts.Now, a.log()))
	}
	if review := a.reviewJob(cfg, run); review != nil {
		list = append(list, review)
	}
	if sumUp := a.summarizer(cfg, run); sumUp != nil {
		list = append(list, jobs.Summary(sumUp))
	}
	if after := cfg.Compression().IdleAfter; engine != nil && after > 0 {
		list = append(list, jobs.Compaction(engine, hooks, after, a.log()))
	}
	return list
}

// newToolbox puts the selected tools behind the tool chain.
func (a *App) newToolbox(ctx context.Context, cfg *config.Config, tools *tooling, run hermes.RunSpec) (*toolbox.Toolbox, error) {
	choose := func(ctx context.Context) (*toolset.Set, error) {
		return tools.catalogue.Select(ctx, selection(cfg, run))
	}
	set, err := choose(ctx)
	if err != nil {
		return nil, err
	}
	approvals, err := a.approvals(cfg, run)
	if err != nil {
		return nil, err
	}
	// The session has the mode; this says who decides when that asks.
	approvals.Mode = toolbox.ModeOf(cfg.Approvals().Mode, hermes.Rights{Mode: hermes.ModeAsk, Approver: run.Rights.Approver})
	o := toolbox.Options{
		Set: set, Select: choose, Hooks: tools.hooks, Approvals: approvals, Guardrail: guardrail(cfg.Guardrails()),
		Limits: toolbox.Limits{Result: cfg.ToolBudget().SpillChars, Preview: cfg.Display().ToolPreviewLength},
		Spill:  toolbox.Spillover{Dir: cfg.Home().Cache("spillover")},
		Parent: run.Origin.Parent, Log: a.log(), Now: a.opts.Now, Trusted: trusted(cfg, run.Workspace), TrustCommand: trustCommand(cfg, run.Workspace),
	}
	if o.Audit, err = a.record(); err != nil {
		return nil, err
	}
	if cfg.Agent().PlanReminders {
		o.Remind = tools.catalogue.Remind
	}
	if cfg.Security().RedactSecrets {
		o.Redact = a.Mask
	}
	return toolbox.New(o), nil
}

func guardrail(g config.Guardrails) toolbox.Guardrail {
	return toolbox.Guardrail{
		Quiet: !g.Warnings, HardStop: g.HardStop, HardStopUnattended: g.NonInteractiveHardStop,
		WarnExact: g.WarnAfter.Exact, BlockExact: g.StopAfter.Exact,
		WarnTool: g.WarnAfter.SameTool, StopTool: g.StopAfter.SameTool,
		WarnSame: g.WarnAfter.NoProgress, BlockProgress: g.StopAfter.NoProgress,
		WarnEqual: g.WarnAfter.Success, BlockEqual: g.StopAfter.Success,
		Searches: g.LoopCaps.WebSearches, Subagents: g.LoopCaps.Subagents,
	}
}

// wallsLine says in one line for the model what commands may do, "" where there are no
// walls: then a refusal is that of the system.
func wallsLine(on hermes.Description) string {
	if on.Isolation.Layer != "A" && on.Isolation.Layer != "B" {
		return ""
	}
	return "layer " + on.Isolation.Layer + ": writes only here and to temporary files; only allowed hosts"
}

// prompt builds the system prompt of a session.
func (a *App) prompt(ctx context.Context, cfg *config.Config, run hermes.RunSpec, env hermes.Environment, row hermes.Session, specs []hermes.Spec, tools []string) prompt.Prompt {
	on := env.Describe(ctx)
	in := prompt.Input{
		Model: row.Model, Platform: cmp.Or(run.Origin.Platform, "cli"), Started: row.Started, Enforce: cfg.Agent().ToolUseEnforcement,
		Soul: cfg.Home().Soul(), IgnoreRules: run.Prompt.IgnoreRules,
		Window: a.models.Window(row.Model), Share: cfg.Context().PromptShare, Limits: cfg.Context().Layers,
		MaxChars: cfg.General().ContextFileMaxChars, ReadTimeout: cfg.General().ContextFileReadTimeout,
		Environment: prompt.Environment{OS: on.System + " (" + on.Arch + ")", Home: on.Home, Dir: run.Workspace.Dir, Shell: on.Shell, Isolation: wallsLine(on)},
	}
	var files prompt.Files = prompt.Disk{Rules: pathRules(cfg)}
	if run.Workspace.Elsewhere() {
		in.Environment.Backend, in.Environment.Isolation = run.Workspace.Backend, on.Isolation.Text
		in.Environment.Dir, _ = env.Files().Resolve(run.Workspace.Dir) // "" if it is not known
		files = prompt.There{Own: prompt.Disk{Rules: pathRules(cfg)}, Files: env.Files(), Rules: policy.PathRules{Home: on.Home}}
	}
	if text := cfg.OwnPrompt(); text != "" {
		in.Guides = append(in.Guides, prompt.Section{Name: "own", Tier: prompt.Context, Text: text})
	}
	if run.Prompt.PassSessionID {
		in.SessionID = run.Session
	}
	childIn(cfg, &in, run)
	a.rememberIn(ctx, &in, run, specs)
	a.skillsIn(ctx, &in, run, tools)
	a.pluginsIn(&in, run)
	if extra := strings.TrimSpace(run.Prompt.Extra); extra != "" {
		in.Guides = append(in.Guides, prompt.Section{Name: "extra", Tier: prompt.Context, Text: extra})
	}
	if cfg.Security().RedactSecrets {
		in.Redact = a.Mask
	}
	p := prompt.Build(ctx, in, files)
	if w := p.Crowded(specs, in.Window); w != "" {
		p.Warnings = append(p.Warnings, w)
	}
	if run.Origin.Depth == 0 {
		p.Warnings = append(p.Warnings, a.notPlugged()...)
	}
	for _, w := range p.Warnings {
		a.log().Warn("system prompt", "session", run.Session, "warning", w)
	}
	return p
}
