package config

import "strings"

// OwnPrompt returns the user's own text for the system prompt: agent.system_prompt and the
// chosen personality.
func (c *Config) OwnPrompt() string {
	agent := c.Agent()
	return strings.TrimSpace(strings.TrimSpace(agent.SystemPrompt) + "\n\n" + strings.TrimSpace(agent.Personalities[c.Display().Personality]))
}
