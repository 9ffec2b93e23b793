package services

import (
	"cmp"
	"strconv"

	"hermes"
	"hermes/internal/auxiliary"
	"hermes/internal/config"
)

// Task returns the settings of a side task.
func Task(cfg *config.Config, name string) auxiliary.Task {
	t := cfg.Auxiliary(name)
	silence := name == auxiliary.Compression // it writes long, and has a limit of its own
	patient := silence && t.Timeout == 0 && cfg.EntriesBelow("compression", "context_timeout_seconds")[0].Source == config.FromDefault
	if silence {
		t.Timeout = cmp.Or(t.Timeout, cfg.Compression().ContextTimeout)
	}
	if name == auxiliary.Replay && t.Model == "" && t.BaseURL == "" && (t.Provider == "" || t.Provider == "auto") {
		t = cfg.Auxiliary(auxiliary.Review) // the model that writes drafts also replays them
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

// FallbackChoices returns the fallback models of conversations, for side tasks.
func FallbackChoices(cfg *config.Config) []auxiliary.Choice {
	return choices(cfg.Fallback(), "fallback_providers", cfg.AddressFaults())
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
