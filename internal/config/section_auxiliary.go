package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"hermes"
)

// Auxiliary is one task of the section auxiliary: the model of a side task such
// as vision, compression or title_generation. Config.Auxiliary fills in the
// defaults of the task.
type Auxiliary struct {
	Enabled         bool           `key:"enabled" default:"true"`
	Provider        string         `key:"provider" default:"auto"` // auto: the main model
	Model           string         `key:"model"`
	BaseURL         string         `key:"base_url"`
	APIKey          hermes.Secret  `key:"api_key"`
	Timeout         time.Duration  `key:"timeout"` // 0: the task's default
	DownloadTimeout time.Duration  `key:"download_timeout" default:"30" planned:"vision"`
	ReasoningEffort string         `key:"reasoning_effort"`
	Language        string         `key:"language"`
	ExtraBody       map[string]any `key:"extra_body"`
	FallbackChain   []Fallback     `key:"fallback_chain"`
	MaxConcurrency  int            `key:"max_concurrency"`    // 0: no limit
	MaxInputTokens  int            `key:"max_input_tokens"`   // 0: the task's default
	MaxTokens       int            `key:"max_tokens" min:"0"` // of an answer, thinking included; 0: the task's default
	ExtraTools      []string       `key:"extra_tools"`
	Defer           string         `key:"defer" default:"auto" oneof:"auto never"`
	DeferMaxAge     time.Duration  `key:"defer_max_age_s" default:"1800"`
}

// AuxiliaryTasks is the section auxiliary.
type AuxiliaryTasks struct {
	StreamOnlyURLs []string             `key:"stream_only_base_urls"`
	Tasks          map[string]Auxiliary `key:"*"`
}

// sideTask is what is known of a side task: its timeout, 0 for the general one, and
// the capability that it waits for.
type sideTask struct {
	timeout time.Duration
	planned string
}

// sideTasks lists the side tasks that the section auxiliary may name.
var sideTasks = map[string]sideTask{
	"approval":          {timeout: 30 * time.Second},
	"background_review": {},
	"compression":       {},
	"curator":           {planned: "side tasks"},
	"evidence":          {timeout: 15 * time.Second},
	"goal_judge":        {planned: "goals"},
	"hook":              {},
	"kanban_decomposer": {timeout: 120 * time.Second, planned: "kanban"},
	"mcp":               {timeout: 30 * time.Second},
	"moa_aggregator":    {timeout: 180 * time.Second},
	"moa_reference":     {timeout: 120 * time.Second},
	"plugin":            {timeout: 30 * time.Second},
	"profile_describer": {planned: "side tasks"},
	"review":            {planned: "side tasks"},
	"session_summary":   {timeout: 20 * time.Second},
	"skill_replay":      {},
	"skills_hub":        {timeout: 30 * time.Second, planned: "side tasks"},
	"title_generation":  {timeout: 30 * time.Second},
	"triage_specifier":  {timeout: 120 * time.Second, planned: "kanban"},
	"tts_audio_tags":    {timeout: 30 * time.Second, planned: "speech"},
	"vision":            {timeout: 120 * time.Second, planned: "vision"},
	"web_extract":       {},
}

// auxiliaryTimeout is the timeout of the other side tasks.
const auxiliaryTimeout = 60 * time.Second

// StreamOnlyURLs returns the base URLs whose side tasks stream although model.streaming
// is off.
func (c *Config) StreamOnlyURLs() []string {
	return section[AuxiliaryTasks](c, "auxiliary").StreamOnlyURLs
}

// Auxiliary returns the settings of one side task with defaults filled in. The
// timeout of compression may be 0: compression.context_timeout_seconds is its default. That of hook may be 0: the
// timeout of the hook holds.
func (c *Config) Auxiliary(task string) Auxiliary {
	aux := section[Auxiliary](c, "auxiliary", task)
	if aux.Timeout == 0 && task != "compression" && task != "hook" {
		aux.Timeout = cmp.Or(sideTasks[task].timeout, auxiliaryTimeout)
	}
	return aux
}

// checkSideTasks reports side tasks that do not exist.
func (c *Config) checkSideTasks(at []layeredNode, add func(Problem)) {
	known := append(slices.Sorted(maps.Keys(sideTasks)), "stream_only_base_urls")
	for _, p := range at {
		for i := 0; p.node.Kind == yaml.MappingNode && i+1 < len(p.node.Content); i += 2 {
			key := p.node.Content[i]
			if key.Value == "<<" || slices.Contains(known, key.Value) {
				continue
			}
			if problem, ok := unknownKey(*p.layer, key, p.node.Content[i+1], []string{"auxiliary", key.Value}, known); ok {
				add(problem)
			}
		}
	}
}

// MoA is the section moa: mixtures of models that answer together.
type MoA struct {
	DefaultPreset string               `key:"default_preset"` // empty: the first one by name
	Presets       map[string]MoAPreset `key:"presets"`
}

// MoAPreset is one mixture.
type MoAPreset struct {
	References []MoASlot `key:"reference_models"` // they answer independently
	Aggregator MoASlot   `key:"aggregator"`       // it makes one answer of theirs
}

// MoASlot is a model of a mixture.
type MoASlot struct {
	Provider        string `key:"provider"`
	Model           string `key:"model"` // or a reference, such as openrouter:vendor/name
	ReasoningEffort string `key:"reasoning_effort"`
}

// checkMoA reports settings of mixtures that cannot be meant: an unknown default, a reference without a model, and
// an unknown effort.
func (c *Config) checkMoA(add func(Problem)) {
	presets := c.MoA().Presets
	for _, e := range c.EntriesBelow("moa") {
		text := fmt.Sprint(e.Value)
		p := Problem{Severity: Warning, File: e.File, Line: e.Line, Key: e.Key, Served: "it is not used"}
		switch {
		case e.Key == "moa.default_preset":
			if _, known := presets[text]; known || text == "" {
				continue
			}
			p.Text, p.Do = fmt.Sprintf("is %q, which is not in moa.presets", text), "Name one of moa.presets"
			if near := nearest(text, slices.Sorted(maps.Keys(presets))); near != "" {
				p.Do = "Did you mean " + near + "?"
			}
		case strings.HasSuffix(e.Key, ".reasoning_effort"):
			if _, known := hermes.ParseEffort(text); known || text == "" {
				continue
			}
			p.Text, p.Do = fmt.Sprintf("is %q, which is no level", text), "Use none, minimal, low, medium, high, xhigh or max"
		default:
			continue
		}
		add(p)
	}
	for _, name := range slices.Sorted(maps.Keys(presets)) {
		refs := presets[name].References
		if len(refs) > 0 && !slices.ContainsFunc(refs, func(s MoASlot) bool { return s.Model == "" }) {
			continue
		}
		p := Problem{Severity: Warning, Key: "moa.presets." + name + ".reference_models", Text: "names no model in one of its entries, or has none", Served: "the preset is refused", Do: "Set model in each entry"}
		for _, e := range c.EntriesBelow("moa", "presets", name) {
			p.File, p.Line = e.File, e.Line
			break
		}
		add(p)
	}
}

// MoA returns the section moa.
func (c *Config) MoA() MoA { return section[MoA](c, "moa") }
