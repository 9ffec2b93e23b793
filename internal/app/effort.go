package app

import (
	"hermes"
	"hermes/internal/config"
)

// efforts returns the reasoning effort of each model: reasoning_overrides for that
// model, else reasoning_effort.
func efforts(agent config.Agent) func(model string) hermes.Effort {
	return func(model string) hermes.Effort {
		return hermes.EffortOf(model, agent.ReasoningEffort, agent.ReasoningOverrides)
	}
}
