package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/auxiliary"
	"hermes/internal/config"
	"hermes/internal/provider"
)

// makeAuxiliary makes the client that calls models for side tasks.
func (a *App) makeAuxiliary() *auxiliary.Client {
	r := &reacher{app: a, made: map[[sha256.Size]byte]*provider.Catalogue{}}
	r.plain = sync.OnceValues(func() (*provider.Catalogue, error) {
		pc, err := r.config()
		if err != nil {
			return nil, err
		}
		return provider.New(pc)
	})
	c := auxiliary.Config{
		Task: a.auxiliaryTask, Reach: r.reach, Sees: a.sees, Local: a.ownServer, Log: a.log(),
		Text: func() []auxiliary.Choice { return a.lastResort("openrouter", "nous", "custom", "openai-codex", "*") },
		Vision: func() []auxiliary.Choice {
			return a.lastResort("openrouter", "nous", "openai-codex", "anthropic", "custom")
		},
	}
	if cfg, err := a.config(); err == nil && a.opts.BaseURL == "" {
		c.Fallback = choices(cfg.Fallback(), "fallback_providers", cfg.AddressFaults())
	}
	return auxiliary.New(c)
}

// ownServer reports whether a model's server is on this machine or in its network.
func (a *App) ownServer(ref string) bool {
	models, err := a.Models()
	return err == nil && models.OnOwnServer(ref)
}

// auxiliaryTask returns the configuration of a side task. A run with its own
// service, such as the demo, uses no other.
func (a *App) auxiliaryTask(name string) auxiliary.Task {
	cfg, err := a.config()
	if err != nil {
		return auxiliary.Task{}
	}
	t := cfg.Auxiliary(name)
	silence := name == auxiliary.Compression // it writes long, and has a limit of its own
	patient := silence && t.Timeout == 0 && cfg.EntriesBelow("compression", "context_timeout_seconds")[0].Source == config.FromDefault
	if silence {
		t.Timeout = cmp.Or(t.Timeout, cfg.Compression().ContextTimeout)
	}
	if name == replayTask && t.Model == "" && t.BaseURL == "" && (t.Provider == "" || t.Provider == "auto") {
		t = cfg.Auxiliary(reviewTask) // the model that writes drafts also replays them
	}
	if a.opts.BaseURL != "" {
		return auxiliary.Task{Timeout: t.Timeout, Silence: silence, Patient: patient, MaxTokens: t.MaxTokens}
	}
	section, faults := "auxiliary."+name, cfg.AddressFaults()
	return auxiliary.Task{
		Choice: auxiliary.Choice{
			Provider: t.Provider, Model: t.Model, BaseURL: t.BaseURL, Key: t.APIKey, Extra: t.ExtraBody, Fault: faults[section],
		},
		Timeout: t.Timeout, Silence: silence, Patient: patient, Effort: hermes.Effort(t.ReasoningEffort), MaxTokens: t.MaxTokens, Concurrency: t.MaxConcurrency,
		Fallback: choices(t.FallbackChain, section+".fallback_chain", faults),
	}
}

// choices returns the models of a list in the section of that path.
func choices(list []config.Fallback, section string, faults map[string]error) []auxiliary.Choice {
	out := make([]auxiliary.Choice, len(list))
	for i, f := range list {
		out[i] = auxiliary.Choice{
			Provider: f.Provider, Model: f.Model, BaseURL: f.BaseURL, Key: f.APIKey, KeyEnv: f.KeyEnv, APIMode: f.APIMode,
			Fault: faults[section+"."+strconv.Itoa(i)],
		}
	}
	return out
}

// lastResort lists those of the named services that have a key and a default model.
// "custom" means the configured base URL, "*" all services that were not named.
func (a *App) lastResort(names ...string) []auxiliary.Choice {
	models, err := a.Models()
	if err != nil || a.opts.BaseURL != "" {
		return nil
	}
	cfg, err := a.config()
	if err != nil {
		return nil
	}
	ready := map[string]bool{}
	var rest []string
	for _, row := range models.Rows() {
		if row.NoKey || row.Model == "" || models.Ready(row.Name) != "" {
			continue
		}
		ready[row.Name] = true
		if !slices.Contains(names, row.Name) {
			rest = append(rest, row.Name)
		}
	}
	if i := slices.Index(names, "*"); i >= 0 {
		names = slices.Replace(slices.Clone(names), i, i+1, rest...)
	}
	var out []auxiliary.Choice
	for _, n := range names {
		switch m := cfg.Model(); {
		case n == "custom" && m.BaseURL != "":
			out = append(out, auxiliary.Choice{Provider: "custom", Model: m.Default})
		case ready[n]:
			out = append(out, auxiliary.Choice{Provider: n})
		}
	}
	return out
}

// reacher makes the models of side tasks. They have no fallbacks of their own,
// because the auxiliary client tries the models of a task in order. A choice with its
// own base URL, key or extra fields gets its own catalogue.
type reacher struct {
	app   *App
	plain func() (*provider.Catalogue, error)

	mu   sync.Mutex
	made map[[sha256.Size]byte]*provider.Catalogue // by a hash of their settings
}

// config returns the configuration of the session's models, without fallbacks.
func (r *reacher) config() (provider.Config, error) {
	cfg, err := r.app.config()
	if err != nil {
		return provider.Config{}, err
	}
	pc, err := r.app.providerConfig(cfg)
	pc.Fallback, pc.StreamOnly = nil, cfg.StreamOnlyURLs()
	return pc, err
}

func (r *reacher) reach(ctx context.Context, c auxiliary.Choice) (hermes.Model, error) {
	if c.Fault != nil {
		return nil, c.Fault
	}
	models, err := r.plain()
	if err != nil {
		return nil, err
	}
	if c.BaseURL == "" && c.Key == "" && c.KeyEnv == "" && len(c.Extra) == 0 {
		return models.Model(ctx, c.Ref())
	}
	if c.BaseURL == "" && c.Provider == "" { // extra fields for the main model
		m, err := models.Model(ctx, c.Model)
		if err != nil {
			return nil, err
		}
		c.Provider, c.Model, _ = strings.Cut(m.ID(), ":")
		if name, rest, own := strings.Cut(c.Model, ":"); c.Provider == "custom" && own {
			c.Provider, c.Model = "custom:"+name, rest
		}
	}
	own, ref, err := r.own(c)
	if err != nil {
		return nil, err
	}
	return own.Model(ctx, ref)
}

// own returns the catalogue of a choice with its own settings, and the reference of
// the model in it.
func (r *reacher) own(c auxiliary.Choice) (*provider.Catalogue, string, error) {
	cfg, err := r.app.config()
	if err != nil {
		return nil, "", err
	}
	pc, err := r.config()
	if err != nil {
		return nil, "", err
	}
	models, err := r.plain()
	if err != nil {
		return nil, "", err
	}
	name := cmp.Or(models.Entry(c.Provider), strings.TrimPrefix(c.Provider, "custom:"))
	custom, ref := pc.Custom[name], c.Provider+":"+c.Model
	if c.BaseURL == "" && c.Provider == "custom" {
		c.BaseURL, c.APIMode, c.Key = pc.BaseURL, pc.APIMode, cmp.Or(c.Key, pc.Key)
	}
	key := cmp.Or(c.Key, hermes.Secret(cfg.Getenv(c.KeyEnv)))
	if c.BaseURL != "" { // it gets its own key or OPENAI_API_KEY, never that of another service
		name = "auxiliary"
		key = cmp.Or(key, hermes.Secret(cfg.Getenv("OPENAI_API_KEY")), "none")
		custom = provider.Custom{BaseURL: c.BaseURL, APIMode: c.APIMode, OnlyOwnKey: true}
		ref = "custom:" + name + ":" + cmp.Or(c.Model, pc.Model[strings.LastIndexByte(pc.Model, ':')+1:])
	}
	custom.Key = cmp.Or(key, custom.Key)
	if custom.Extra, err = withExtra(custom.Extra, c.Extra); err != nil {
		return nil, "", err
	}
	pc.Custom = maps.Clone(pc.Custom)
	if pc.Custom == nil {
		pc.Custom = map[string]provider.Custom{}
	}
	pc.Custom[name] = custom
	made, err := r.keep(name, custom, pc)
	return made, ref, err
}

// keep makes a catalogue, or returns the one made earlier from the same settings.
func (r *reacher) keep(name string, custom provider.Custom, pc provider.Config) (*provider.Catalogue, error) {
	extra, err := json.Marshal(custom.Extra) // sorted by name
	if err != nil {
		return nil, err
	}
	id := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %s", name, custom.BaseURL, custom.APIMode, custom.Key.Reveal(), extra))
	r.mu.Lock()
	defer r.mu.Unlock()
	if made := r.made[id]; made != nil {
		return made, nil
	}
	made, err := provider.New(pc)
	if err == nil {
		r.made[id] = made
	}
	return made, err
}

func withExtra(base map[string]json.RawMessage, over map[string]any) (map[string]json.RawMessage, error) {
	all := maps.Clone(base)
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	for k, v := range over {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("extra_body.%s of an auxiliary task in config.yaml cannot be sent as JSON: %w", k, err)
		}
		all[k] = raw
	}
	return all, nil
}

// sees reports whether a model accepts pictures: by the user's settings, else by
// what the catalogue knows.
func (a *App) sees(ref string) bool {
	cfg, err := a.config()
	if err != nil {
		return false
	}
	models, err := a.Models()
	if err != nil {
		return false
	}
	info := models.Info(ref)
	service, name, _ := strings.Cut(strings.TrimPrefix(info.ID, "custom:"), ":")
	return info.Vision || cfg.Providers()[service].Models[name].SupportsVision
}

// untitled reports whether a session needs no title, summary or review.
func untitled(o hermes.Origin) bool {
	return slices.Contains([]string{"oneshot", "subagent", "demo", "batch", "kanban", "tool", "cron", "eval"}, cmp.Or(o.Label, o.Platform))
}

// titles returns the func that finds a title for a session, nil if none is wanted.
func (a *App) titles(cfg *config.Config, run hermes.RunSpec) func(context.Context, string, []hermes.Message) (string, error) {
	t := cfg.Auxiliary(auxiliary.TitleTask)
	if !t.Enabled || a.opts.BaseURL != "" || untitled(run.Origin) {
		return nil
	}
	return func(ctx context.Context, model string, transcript []hermes.Message) (string, error) {
		return a.aux().Title(ctx, model, run.Session, t.Language, transcript)
	}
}

// judge returns the model of the smart mode, which reviews calls.
func (a *App) judge(policy string) func(context.Context, hermes.SessionRef, hermes.ApprovalRequest) (hermes.Decision, error) {
	if a.opts.BaseURL != "" {
		return nil
	}
	return func(ctx context.Context, s hermes.SessionRef, shown hermes.ApprovalRequest) (hermes.Decision, error) {
		return a.aux().Judge(ctx, a.modelOf(ctx, s.ID), s.ID, policy, shown)
	}
}
