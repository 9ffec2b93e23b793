package app

import (
	"cmp"
	"context"
	"errors"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/memory"
)

// memoryRow is one external memory service. At most one is used: the one that
// memory.provider names.
type memoryRow struct {
	MemoryService
	make func() hermes.MemoryProvider
}

// MemoryService describes an external memory service to the user.
type MemoryService struct {
	Name, Title string
	Missing     string // what must be set first; "" if nothing
}

// memories lists the external memory services.
func (a *App) memories(cfg *config.Config) []memoryRow {
	return []memoryRow{
		{
			MemoryService{Name: "local", Title: "search by words and similarity, in this profile's database, offline"},
			func() hermes.MemoryProvider {
				return memory.NewLocal(func(ctx context.Context) (hermes.Recollections, error) { return a.Database(ctx) })
			},
		},
		{
			MemoryService{Name: "honcho", Title: "Honcho, a service that builds a profile of you", Missing: missingKey(cfg, "HONCHO_API_KEY", "HONCHO_BASE_URL")},
			func() hermes.MemoryProvider {
				return memory.NewHoncho(a.memoryService(cfg, "HONCHO_API_KEY", "HONCHO_BASE_URL", "HONCHO_PEER_ID"), cfg.Getenv("HONCHO_WORKSPACE_ID"))
			},
		},
		{
			MemoryService{Name: "mem0", Title: "Mem0, a service that stores facts", Missing: missingKey(cfg, "MEM0_API_KEY", "MEM0_BASE_URL")},
			func() hermes.MemoryProvider {
				return memory.NewMem0(a.memoryService(cfg, "MEM0_API_KEY", "MEM0_BASE_URL", "MEM0_USER_ID"))
			},
		},
		{
			MemoryService{Name: "supermemory", Title: "Supermemory, a service that stores a profile and memories", Missing: missingKey(cfg, "SUPERMEMORY_API_KEY", "SUPERMEMORY_BASE_URL")},
			func() hermes.MemoryProvider {
				return memory.NewSupermemory(a.memoryService(cfg, "SUPERMEMORY_API_KEY", "SUPERMEMORY_BASE_URL", "SUPERMEMORY_CONTAINER_TAG"))
			},
		},
	}
}

// missingKey says what to set if neither a key nor a base URL is set.
func missingKey(cfg *config.Config, key, address string) string {
	if cfg.Getenv(key) != "" || cfg.Getenv(address) != "" {
		return ""
	}
	return "set " + key + " with `hermes config set " + key + " …`"
}

// memoryService says how to reach a service. Each profile is a separate user of the
// service, unless a variable names the user.
func (a *App) memoryService(cfg *config.Config, key, address, user string) memory.Service {
	return memory.Service{
		BaseURL: cfg.Getenv(address), Key: hermes.Secret(cfg.Getenv(key)), Client: loginClient(cfg),
		User: cmp.Or(cfg.Getenv(user), "hermes-"+cfg.Home().Profile()), Agent: "hermes",
	}
}

// MemoryServices lists the external memory services.
func (a *App) MemoryServices() []MemoryService {
	cfg, err := a.config()
	if err != nil {
		return nil
	}
	var out []MemoryService
	for _, row := range a.memories(cfg) {
		out = append(out, row.MemoryService)
	}
	return out
}

// makeExternalMemory makes the configured service, nil if there is none or it cannot
// be used.
func (a *App) makeExternalMemory() hermes.MemoryProvider {
	cfg, err := a.config()
	if err != nil || cfg.Memory().Provider == "" {
		return nil
	}
	wanted := cfg.Memory().Provider
	for _, row := range a.memories(cfg) {
		if row.Name != wanted {
			continue
		}
		if row.Missing != "" {
			a.log().Warn("the memory service is not used", "service", wanted, "missing", row.Missing)
			return nil
		}
		return row.make()
	}
	a.log().Warn("memory.provider is not a known service; run `hermes memory setup` to list them", "service", wanted)
	return nil
}

// perUser reports whether each user has a separate memory.
func (a *App) perUser() bool {
	cfg, err := a.config()
	return err == nil && cfg.Memory().Scope == "user"
}

// externalMemoryFor returns the service for a user. It knows only the owner: if each
// user has a separate memory, it is nil for all others.
func (a *App) externalMemoryFor(user string) hermes.MemoryProvider {
	if user != "" && a.perUser() {
		return nil
	}
	return a.externalMemory()
}

// ownersOnly restricts the tools of a service to the owner.
type ownersOnly struct{ hermes.MemoryProvider }

// Tools returns the restricted tools of the service.
func (o ownersOnly) Tools() []hermes.Tool {
	var out []hermes.Tool
	for _, t := range o.MemoryProvider.Tools() {
		out = append(out, ownersTool{t})
	}
	return out
}

type ownersTool struct{ hermes.Tool }

// Run refuses sessions of other users.
func (t ownersTool) Run(ctx context.Context, c *hermes.Call) (hermes.Result, error) {
	if c.Host.Session().User != "" {
		return hermes.Result{}, errors.New("this memory belongs to the owner; say what you need to know, or use the memory tool")
	}
	return t.Tool.Run(ctx, c)
}

// recall returns the func that queries the service for a session; nil without one.
// What is sent out has no secrets.
func (a *App) recall(run hermes.RunSpec) func(context.Context, hermes.RecallQuery) (hermes.Recalled, error) {
	if p := a.externalMemoryFor(run.Origin.User); p != nil && remembers(run) {
		return func(ctx context.Context, q hermes.RecallQuery) (hermes.Recalled, error) {
			q.Text = a.Mask(q.Text)
			return p.Recall(ctx, q)
		}
	}
	return nil
}

// observe returns the func that sends a session's turns to the service; nil without
// one.
func (a *App) observe(run hermes.RunSpec) func(context.Context, hermes.MemoryTurn) error {
	if p := a.externalMemoryFor(run.Origin.User); p != nil && remembers(run) {
		return func(ctx context.Context, t hermes.MemoryTurn) error {
			t.Said, t.Answer = a.Mask(t.Said), a.Mask(t.Answer)
			return p.Observe(ctx, t)
		}
	}
	return nil
}
