package app

import (
	"hermes"
	"hermes/internal/config"
)

// efforts tells how hard each model is asked to think: reasoning_effort, or
// what stands for the model under reasoning_overrides.
func efforts(agent config.Agent) func(model string) hermes.Effort {
	return func(model string) hermes.Effort {
		return hermes.EffortOf(model, agent.ReasoningEffort, agent.ReasoningOverrides)
	}
}
