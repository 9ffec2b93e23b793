package app

import (
	"cmp"
	"context"
	"errors"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/memory"
)

// memoryRow is an outside service that can remember: at most one is used, the
// one that memory.provider names.
type memoryRow struct {
	MemoryService
	make func() hermes.MemoryProvider
}

// MemoryService is how people see an outside service.
type MemoryService struct {
	Name, Title string
	Missing     string // what it needs first; "" for nothing
}

// memories is the list of the services there are.
func (a *App) memories(cfg *config.Config) []memoryRow {
	return []memoryRow{
		{
			MemoryService{Name: "local", Title: "by words and likeness, in the database of this profile, offline"},
			func() hermes.MemoryProvider {
				return memory.NewLocal(func(ctx context.Context) (hermes.Recollections, error) { return a.Database(ctx) })
			},
		},
		{
			MemoryService{Name: "honcho", Title: "Honcho, a service that forms a picture of you", Missing: missingKey(cfg, "HONCHO_API_KEY", "HONCHO_BASE_URL")},
			func() hermes.MemoryProvider {
				return memory.NewHoncho(a.memoryService(cfg, "HONCHO_API_KEY", "HONCHO_BASE_URL", "HONCHO_PEER_ID"), cfg.Getenv("HONCHO_WORKSPACE_ID"))
			},
		},
		{
			MemoryService{Name: "mem0", Title: "Mem0, a service that keeps facts", Missing: missingKey(cfg, "MEM0_API_KEY", "MEM0_BASE_URL")},
			func() hermes.MemoryProvider {
				return memory.NewMem0(a.memoryService(cfg, "MEM0_API_KEY", "MEM0_BASE_URL", "MEM0_USER_ID"))
			},
		},
		{
			MemoryService{Name: "supermemory", Title: "Supermemory, a service that keeps a profile and memories", Missing: missingKey(cfg, "SUPERMEMORY_API_KEY", "SUPERMEMORY_BASE_URL")},
			func() hermes.MemoryProvider {
				return memory.NewSupermemory(a.memoryService(cfg, "SUPERMEMORY_API_KEY", "SUPERMEMORY_BASE_URL", "SUPERMEMORY_CONTAINER_TAG"))
			},
		},
	}
}

// missingKey says that neither a key nor an address of one's own is set.
func missingKey(cfg *config.Config, key, address string) string {
	if cfg.Getenv(key) != "" || cfg.Getenv(address) != "" {
		return ""
	}
	return "set " + key + " with `hermes config set " + key + " …`"
}

// memoryService is how a service is reached. Each profile is another person
// to it, unless a variable names one.
func (a *App) memoryService(cfg *config.Config, key, address, user string) memory.Service {
	return memory.Service{
		BaseURL: cfg.Getenv(address), Key: hermes.Secret(cfg.Getenv(key)), Client: loginClient(cfg),
		User: cmp.Or(cfg.Getenv(user), "hermes-"+cfg.Home().Profile()), Agent: "hermes",
	}
}

// MemoryServices are the outside services there are.
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

// makeExternalMemory makes the service that is configured, nil if there is none or it
// cannot be used.
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
	a.log().Warn("memory.provider names no service that is known; `hermes memory setup` lists them", "service", wanted)
	return nil
}

// perUser reports that what is known of one person is not for another.
func (a *App) perUser() bool {
	cfg, err := a.config()
	return err == nil && cfg.Memory().Scope == "user"
}

// externalMemoryFor is the service for who speaks. It knows one person, the owner:
// where memory is kept for each person alone, nobody else has it.
func (a *App) externalMemoryFor(user string) hermes.MemoryProvider {
	if user != "" && a.perUser() {
		return nil
	}
	return a.externalMemory()
}

// ownersOnly keeps the tools of a service from all but the owner.
type ownersOnly struct{ hermes.MemoryProvider }

// Tools are those of the service.
func (o ownersOnly) Tools() []hermes.Tool {
	var out []hermes.Tool
	for _, t := range o.MemoryProvider.Tools() {
		out = append(out, ownersTool{t})
	}
	return out
}

type ownersTool struct{ hermes.Tool }

// Run refuses sessions of others.
func (t ownersTool) Run(ctx context.Context, c *hermes.Call) (hermes.Result, error) {
	if c.Host.Session().User != "" {
		return hermes.Result{}, errors.New("this memory is of the owner alone; say what you need to know, or use the tool memory")
	}
	return t.Tool.Run(ctx, c)
}

// recall is how a session asks the service; nil without one.
func (a *App) recall(row hermes.Session) func(context.Context, hermes.RecallQuery) (hermes.Recalled, error) {
	if p := a.externalMemoryFor(row.User); p != nil && a.remembers(row) {
		return p.Recall
	}
	return nil
}

// observe is how a session tells the service of its turns; nil without one.
func (a *App) observe(row hermes.Session) func(context.Context, hermes.MemoryTurn) error {
	if p := a.externalMemoryFor(row.User); p != nil && a.remembers(row) {
		return p.Observe
	}
	return nil
}
