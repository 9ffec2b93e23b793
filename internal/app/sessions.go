package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/permission"
	"hermes/internal/prompt"
	"hermes/internal/session"
	"hermes/internal/tokens"
	"hermes/internal/toolbox"
)

// Sessions returns the manager of the live sessions, made on first use.
func (a *App) Sessions(ctx context.Context) (*session.Manager, error) {
	if err := a.CheckSpend(); err != nil {
		return nil, err
	}
	models, err := a.Models()
	if err != nil {
		return nil, err
	}
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	a.mark()                                   // before anything is started, and closed after the sessions
	if _, err := a.Database(ctx); err != nil { // closed after the lease owner, which asks it
		return nil, err
	}
	leaseOwner := a.leaseOwner()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sessions != nil {
		return a.sessions, nil
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return nil, err
	}
	agent := cfg.Agent()
	a.sessions = session.NewManager(session.Config{
		Store: store, Models: a.watch().Models(models), NewRuntime: a.newRuntime, Owner: leaseOwner,
		Steps: a.steps(agent), Busy: session.Busy(cfg.Display().BusyInputMode), MaxResume: cfg.Sessions().MaxResumeMessages,
		Effort: efforts(agent), MaxTokens: cfg.Model().MaxTokens,
		AskTimeout: cfg.Approvals().Timeout, QuestionTimeout: agent.ClarifyTimeout, Unattended: a.unattended(cfg.Approvals()), Now: a.opts.Now, Log: a.log(),
	})
	if a.opts.Attended {
		a.idle = idleBefore(ctx, store, a.opts.Now())
	}
	a.closers = append(a.closers, a.upkeep(store, cfg), a.tidy(store, cfg), a.sessions.Close)
	return a.sessions, nil
}

func (a *App) steps(agent config.Agent) int {
	if a.opts.MaxTurns != nil {
		return *a.opts.MaxTurns
	}
	return int(agent.MaxTurns)
}

// newRuntime makes the runtime of a session.
func (a *App) newRuntime(ctx context.Context, row hermes.Session, wake func(string)) (*session.Runtime, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	env, err := a.environment(row)
	if err != nil {
		return nil, err
	}
	tools := a.newSessionTools(cfg, wake)
	tb, err := a.newToolbox(ctx, cfg, tools, row)
	if err != nil {
		return nil, errors.Join(err, env.Close())
	}
	surroundings, report := a.newSurroundings(cfg, row, tools, env)
	runtime := &session.Runtime{
		Environment: env, Tools: tb,
		System: func(ctx context.Context, model string, specs []hermes.Spec) (hermes.SystemPrompt, error) {
			p := a.prompt(ctx, cfg, row, model, specs)
			own := trusted(cfg)(row.Dir)
			from := hermes.MarkChosen(p.Provenance(), func(source string) bool { return own && hermes.IsProjectFile(source) })
			return hermes.SystemPrompt{Text: p.Text(), Layers: p.Layers(), Provenance: from, Warnings: p.Warnings}, nil
		},
		Restore: func(transcript []hermes.Message) {
			tools.restore(row.ID, transcript)
			surroundings.Restore(transcript)
		},
		Context: a.contextEngine(cfg, row), CompactAfter: cfg.Compression().IdleAfter, Compacted: func() {
			tools.files.Compressed(row.ID)
			a.watch().Expect(row.ID, "compression")
		},
		Undone: func() {
			tools.files.Compressed(row.ID) // what was read is no longer above
			a.watch().Expect(row.ID, "undo")
		},
		Prefix: func() (*hermes.PrefixBreak, int) { return a.watch().Broken(row.ID) },
		Window: a.window, Title: a.titles(cfg, row),
		Recall: a.recall(row), Observe: a.observe(row),
		Surroundings:  report,
		SumUp:         a.summarizer(cfg, row),
		StopProcesses: tools.stopProcesses,
		Close: func() error {
			a.watch().Forget(row.ID)
			return errors.Join(tools.close(row.ID), env.Close())
		},
	}
	a.addReview(cfg, row, runtime)
	return runtime, nil
}

// newToolbox puts the selected tools behind the tool chain.
func (a *App) newToolbox(ctx context.Context, cfg *config.Config, tools *sessionTools, row hermes.Session) (*toolbox.Toolbox, error) {
	set, err := a.catalogue(cfg, tools).Select(ctx, a.selection(cfg))
	if err != nil {
		return nil, err
	}
	o := toolbox.Options{
		Set: set, Hooks: tools.hooks, Approvals: a.judge(a.approvals(cfg), cfg.Approvals().SmartPolicy, row), Guardrail: a.guardrail(cfg.Guardrails()),
		Limits: toolbox.Limits{Result: cfg.ToolBudget().SpillChars, Preview: cfg.Display().ToolPreviewLength},
		Spill:  toolbox.Spillover{Dir: cfg.Home().Cache("spillover")},
		Log:    a.log(), Now: a.opts.Now, Trusted: trusted(cfg), TrustCommand: trustCommand(cfg),
	}
	if cfg.Agent().PlanReminders {
		o.Remind = func(c *hermes.Call, r hermes.Result) string { return tools.todo.Remind(row.ID, c.Name, r.Failed) }
	}
	if cfg.Security().RedactSecrets {
		o.Redact = a.Mask
	}
	return toolbox.New(o), nil
}

func (a *App) approvals(cfg *config.Config) toolbox.Approvals {
	ap := cfg.Approvals()
	mode := toolbox.ParseMode(ap.Mode)
	if a.opts.Yolo || a.opts.Getenv("HERMES_YOLO_MODE") == "1" {
		mode = toolbox.ModeOff
	}
	return toolbox.Approvals{
		Mode: mode, Deny: ap.Deny, Allowed: cfg.General().CommandAllowlist, Breaker: ap.DenialBreakerThreshold,
		Grants: a.permissions(cfg), Unattended: !a.opts.Attended,
	}
}

// unattended returns which risks are allowed where no user can be asked; nil allows
// none.
func (a *App) unattended(ap config.Approvals) func(hermes.Risk) bool {
	mode := ap.UnattendedMode
	if a.opts.SingleQuery {
		mode = ap.SingleQueryMode
	}
	if mode != "approve" || a.opts.Attended {
		return nil
	}
	return toolbox.AllowedUnattended
}

// Permissions returns what the user has allowed for good, and the risks that the
// setting command_allowlist allows.
func (a *App) Permissions() (f *permission.File, allowlist []string, err error) {
	cfg, err := a.config()
	if err != nil {
		return nil, nil, err
	}
	return a.permissions(cfg), cfg.General().CommandAllowlist, nil
}

// permissions is what the user has allowed for good, for all sessions.
func (a *App) permissions(cfg *config.Config) *permission.File {
	warn := func(problem string) { a.log().Warn("permissions", "problem", problem) }
	return permission.New(cfg.Home().Permissions(), warn, a.opts.Now)
}

func (a *App) guardrail(g config.Guardrails) toolbox.Guardrail {
	return toolbox.Guardrail{
		Quiet: !g.Warnings, HardStop: g.HardStop || g.NonInteractiveHardStop && !a.opts.Attended,
		WarnExact: g.WarnAfter.Exact, BlockExact: g.StopAfter.Exact,
		WarnTool: g.WarnAfter.SameTool, StopTool: g.StopAfter.SameTool,
		WarnSame: g.WarnAfter.NoProgress, BlockProgress: g.StopAfter.NoProgress,
		WarnEqual: g.WarnAfter.Success, BlockEqual: g.StopAfter.Success,
		Searches: g.LoopCaps.WebSearches, Subagents: g.LoopCaps.Subagents,
	}
}

// prompt builds the system prompt of a session.
func (a *App) prompt(ctx context.Context, cfg *config.Config, row hermes.Session, model string, specs []hermes.Spec) prompt.Prompt {
	userHome, _ := os.UserHomeDir() // a missing home is omitted from the prompt
	in := prompt.Input{
		Model: model, Platform: row.Platform, Started: row.Started, Enforce: cfg.Agent().ToolUseEnforcement,
		Soul: cfg.Home().Soul(), IgnoreRules: a.opts.IgnoreRules,
		Window: a.window(model), Share: cfg.Context().PromptShare, Limits: cfg.Context().Layers,
		MaxChars: cfg.General().ContextFileMaxChars, ReadTimeout: cfg.General().ContextFileReadTimeout,
		Environment: prompt.Environment{OS: runtime.GOOS + " (" + runtime.GOARCH + ")", Home: userHome, Dir: row.Dir, Shell: shellName(a.opts.Getenv("SHELL"))},
	}
	if text := ownPrompt(cfg); text != "" {
		in.Guides = append(in.Guides, prompt.Section{Name: "own", Tier: prompt.Context, Text: text})
	}
	if a.opts.PassSessionID {
		in.SessionID = row.ID
	}
	a.rememberIn(ctx, &in, row, specs)
	a.skillsIn(ctx, &in, row, specs)
	if cfg.Security().RedactSecrets {
		in.Redact = a.Mask
	}
	p := prompt.Build(ctx, in, prompt.Disk{Rules: pathRules(cfg)})
	if w := crowded(p, specs, in.Window); w != "" {
		p.Warnings = append(p.Warnings, w)
	}
	for _, w := range p.Warnings {
		a.log().Warn("system prompt", "session", row.ID, "warning", w)
	}
	return p
}

// ownPrompt returns the user's own text for the system prompt: agent.system_prompt and the chosen
// personality.
func ownPrompt(cfg *config.Config) string {
	agent := cfg.Agent()
	return strings.TrimSpace(strings.TrimSpace(agent.SystemPrompt) + "\n\n" + strings.TrimSpace(agent.Personalities[cfg.Display().Personality]))
}

// crowded returns a warning if the prompt and its tools leave too little of a small
// window for the conversation, else "".
func crowded(p prompt.Prompt, specs []hermes.Spec, window int) string {
	system, tools := tokens.Text(p.Text()), 0
	for _, s := range specs {
		tools += tokens.Texts(s.Name, s.Description, string(s.Schema)) + 15 // the JSON around it
	}
	if window <= 0 || system+tools <= window/2 {
		return ""
	}
	return fmt.Sprintf("the prompt (about %d tokens) and the %d tools (about %d) fill more than half of the model's window of %d; use fewer tools with --toolsets or agent.disabled_toolsets",
		system, len(specs), tools, window)
}
