package app

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/memory"
	"hermes/internal/memory/external"
	"hermes/internal/memory/external/honcho"
	localmemory "hermes/internal/memory/external/local"
	"hermes/internal/memory/external/mem0"
	"hermes/internal/memory/external/supermemory"
	"hermes/internal/plugin"
	"hermes/internal/prompt"
	"hermes/internal/services"
	"hermes/internal/undo"
)

// makeMemoryFile makes the two files of memory, which all sessions share.
func (a *App) makeMemoryFile() (*memory.File, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	c, h := cfg.Memory(), cfg.Home()
	return memory.NewFile(memory.Config{
		Dir: h.Memories(), Pending: h.Pending("memory"),
		NotesLimit: c.CharLimit, UserLimit: c.UserCharLimit, NoNotes: !c.Enabled, NoUser: !c.UserProfile,
		Approval: c.WriteApproval, Archive: c.WhenFull == "archive", PerUser: c.Scope == "user", Now: a.opts.Now,
		Record: func(ctx context.Context, by memory.Origin, what string, paths []string, write func() error) error {
			actor := by.Session
			if by.By != "agent" {
				actor = "person"
			}
			return a.changes(h).Record(ctx, undo.Note{Kind: "memory", Actor: actor, What: what}, paths, write)
		},
	}), nil
}

// Memory returns the two files of memory for commands.
func (a *App) Memory() (*Memory, error) {
	b, err := a.memoryFile()
	if err != nil {
		return nil, err
	}
	return &Memory{File: b, app: a}, nil
}

// Memory is the two files of memory with what commands need.
type Memory struct {
	*memory.File
	app *App
}

// SetApproval sets memory.write_approval, also for running sessions.
func (m *Memory) SetApproval(ctx context.Context, on bool) error {
	_, err := m.app.save(ctx, "memory.write_approval", fmt.Sprint(on))
	if err == nil {
		m.File.SetApproval(on)
	}
	return err
}

// remembers reports whether a session has memory. Sub-agents have none, nor do runs
// that ignore rules.
func remembers(run hermes.RunSpec) bool {
	return !run.Prompt.IgnoreRules && run.Origin.Platform != "subagent"
}

// MemoryServices lists the external memory services: those that are built in, then the plugins.
func (a *App) MemoryServices() []external.Service {
	cfg, err := a.config()
	if err != nil {
		return nil
	}
	list := a.builtinMemories(cfg)
	for _, m := range a.pluginMemories() {
		list = append(list, external.Service{
			Name: m.Name(), Title: cmp.Or(m.Description(), "a plugin"), Missing: m.Missing(), Make: func() hermes.MemoryProvider { return m },
		})
	}
	return list
}

// pluginMemories are the memories that plugins bring along.
func (a *App) pluginMemories() []*plugin.Memory {
	if all := a.tooling().plugins; all != nil {
		return all.Memories()
	}
	return nil
}

// PluginMemory returns the memory that the user chose, nil if it is not that of a plugin.
func (a *App) PluginMemory() *plugin.Memory {
	cfg, err := a.config()
	if err != nil || cfg.Memory().Provider == "" || a.isBuiltinMemory(cfg, cfg.Memory().Provider) {
		return nil
	}
	for _, m := range a.pluginMemories() {
		if m.Name() == cfg.Memory().Provider {
			return m
		}
	}
	return nil
}

// isBuiltinMemory reports whether a name is that of a service that no plugin may take.
func (a *App) isBuiltinMemory(cfg *config.Config, name string) bool {
	return slices.ContainsFunc(a.builtinMemories(cfg), func(s external.Service) bool { return s.Name == name })
}

// builtinMemories is the only list of the services that are built in.
func (a *App) builtinMemories(cfg *config.Config) []external.Service {
	e := external.Env{
		Getenv: cfg.Getenv, Client: func() *http.Client { return services.Client(cfg, "hermes/"+Version) }, User: "hermes-" + cfg.Home().Profile(),
	}
	return []external.Service{
		localmemory.NewService(func(ctx context.Context) (hermes.Recollections, error) { return a.Database(ctx) }),
		honcho.NewService(e),
		mem0.NewService(e),
		supermemory.NewService(e),
	}
}

// makeExternalMemory makes the configured service, nil if there is none or it cannot
// be used.
func (a *App) makeExternalMemory() hermes.MemoryProvider {
	cfg, err := a.config()
	if err != nil || cfg.Memory().Provider == "" {
		return nil
	}
	list := a.builtinMemories(cfg)
	if !a.isBuiltinMemory(cfg, cfg.Memory().Provider) {
		list = a.MemoryServices() // needs the tools, which need a service that is built in
	}
	p, err := external.Open(list, cfg.Memory().Provider, a.Mask)
	if err != nil {
		a.log().Warn("memory", "service", cfg.Memory().Provider, "err", err)
	}
	return p
}

// perUser reports whether each user has a separate memory, if their session says nothing.
func (a *App) perUser() bool {
	cfg, err := a.config()
	return err == nil && cfg.Memory().Scope == "user"
}

// externalMemoryOf returns the service for a session, nil without one. It knows only the
// owner: if each user has a separate memory, others have none.
func (a *App) externalMemoryOf(run hermes.RunSpec) hermes.MemoryProvider {
	if !remembers(run) || !a.ownersMemory(run.Ref()) {
		return nil
	}
	return a.externalMemory()
}

// ownersMemory reports whether a session may use what knows the owner only.
func (a *App) ownersMemory(s hermes.SessionRef) bool {
	return s.User == "" || !memory.PerUser(s, a.perUser())
}

// memoryTools returns the toolset memory: the tools of the files and of a service that is
// built in, if one is used.
func (a *App) memoryTools() hermes.Toolset {
	var providers []hermes.MemoryProvider
	if b, err := a.memoryFile(); err == nil && (b.Has(memory.Notes) || b.Has(memory.User)) {
		providers = append(providers, memory.Builtin{File: b})
	}
	cfg, err := a.config()
	if err == nil && a.isBuiltinMemory(cfg, cfg.Memory().Provider) { // the tools of a plugin are a toolset of their own
		if p := a.externalMemory(); p != nil {
			providers = append(providers, memory.OwnersOnly(p, a.perUser()))
		}
	}
	return memory.New(providers...)
}

// rememberIn adds memory to a prompt: its content and, if its tool is offered, how to
// use it.
func (a *App) rememberIn(ctx context.Context, in *prompt.Input, run hermes.RunSpec, specs []hermes.Spec) {
	b, err := a.memoryFile()
	if err != nil || !remembers(run) {
		return
	}
	b = b.For(run.Ref())
	for _, s := range specs {
		if s.Name == "memory" {
			in.Guides = append(in.Guides, prompt.Section{Name: "memory-guide", Tier: prompt.Stable, Text: memory.Guide()})
		}
	}
	blocks, err := memory.Blocks(ctx, b, a.externalMemoryOf(run))
	if err != nil {
		a.log().Warn("system prompt", "session", run.Session, "warning", err)
	}
	for _, k := range blocks {
		in.Memories = append(in.Memories, prompt.Section{Name: k.Name, Tier: prompt.Context, Text: k.Text, Provenance: k.Provenance, Shorten: k.Shorten})
	}
}
