package config

import (
	"strings"
	"time"

	"hermes"
)

// Agent is the section agent: the loop and how the agent works.
type Agent struct {
	MaxTurns           Limit             `key:"max_turns" default:"90" env:"HERMES_MAX_ITERATIONS"` // steps of a turn; 0: no limit
	BudgetWarningRatio float64           `key:"budget_warning_ratio" planned:"run budgets"`         // 0: no warning
	APIMaxRetries      int               `key:"api_max_retries" default:"3" min:"0"`
	RunBudget          time.Duration     `key:"run_budget_seconds" planned:"run budgets"` // 0: none
	ReasoningEffort    string            `key:"reasoning_effort"`                         // "": medium
	ReasoningOverrides map[string]string `key:"reasoning_overrides"`
	ServiceTier        string            `key:"service_tier" oneof:"auto default fast flex normal on_demand performance priority scale standard_only"` // for services that know it; "": none. fast is priority, normal is default
	FastAuto           time.Duration     `key:"fast_auto_seconds" default:"60" planned:"fast mode"`
	ToolUseEnforcement string            `key:"tool_use_enforcement" default:"auto" oneof:"auto on off"`
	ExecutionGuidance  string            `key:"execution_guidance" default:"auto" oneof:"auto on off" planned:"execution guidance"`
	StallGuards        bool              `key:"stall_guards" default:"true" planned:"stall guards"`
	TurnLiveness       TurnLiveness      `key:"turn_liveness" planned:"gateway"`
	VerifyOnStop       bool              `key:"verify_on_stop" planned:"verification"`
	VerifyGuidance     bool              `key:"verify_guidance" default:"true" planned:"verification"`
	MaxVerifyNudges    int               `key:"max_verify_nudges" default:"3" min:"0" planned:"verification"`
	CodingInstructions string            `key:"coding_instructions" planned:"coding instructions"`
	DisabledToolsets   []string          `key:"disabled_toolsets"`
	PlanReminders      bool              `key:"plan_reminders" default:"true"` // lines about a task list that is out of date
	ClarifyTimeout     time.Duration     `key:"clarify_timeout" default:"3600"`
	GatewayTimeout     time.Duration     `key:"gateway_timeout" planned:"gateway"` // without activity; 0: never
	TurnLeaseTimeout   time.Duration     `key:"gateway_turn_lease_timeout" default:"5" planned:"gateway"`
	StallTimeout       time.Duration     `key:"session_stall_timeout" default:"300" planned:"gateway"`
	ReconnectAttention time.Duration     `key:"reconnect_attention_after" default:"7200" planned:"gateway"`
	LocalStreamStale   time.Duration     `key:"local_stream_stale_timeout" default:"900"`
	Cache              AgentCache        `key:"agent_cache" planned:"gateway"`
	Personalities      map[string]string `key:"personalities"`
	SystemPrompt       string            `key:"system_prompt"`
}

// TurnLiveness says when a turn without activity is checked.
type TurnLiveness struct {
	Timeout time.Duration `key:"timeout_s" default:"600"`
	Poll    time.Duration `key:"poll_s" default:"15"`
}

// AgentCache limits the sessions that a gateway keeps in memory.
type AgentCache struct {
	MaxSize       int           `key:"max_size" default:"128" min:"1"`
	IdleTTL       time.Duration `key:"idle_ttl_secs" default:"3600"`
	MemoryHigh    string        `key:"memory_high_mb" default:"auto"`
	MaxEvictions  int           `key:"max_evictions_per_pass" default:"16" min:"1"`
	ProtectRecent int           `key:"protect_recent" default:"8" min:"0"`
}

// Guardrails is the section tool_loop_guardrails.
type Guardrails struct {
	Warnings               bool       `key:"warnings_enabled" default:"true"`
	HardStop               bool       `key:"hard_stop_enabled"`
	NonInteractiveHardStop bool       `key:"non_interactive_hard_stop_enabled" default:"true"`
	WarnAfter              WarnCounts `key:"warn_after"`
	StopAfter              StopCounts `key:"hard_stop_after"`
	LoopCaps               LoopCaps   `key:"loop_caps"`
}

// WarnCounts are the repetitions after which the model is warned.
type WarnCounts struct {
	Exact      int `key:"exact_failure" default:"2" min:"1"`
	SameTool   int `key:"same_tool_failure" default:"3" min:"1"`
	NoProgress int `key:"idempotent_no_progress" default:"2" min:"1"`
	Success    int `key:"repeated_success" default:"15" min:"2"` // of any call, while nothing else is new
}

// StopCounts are the repetitions after which the turn is stopped.
type StopCounts struct {
	Exact      int `key:"exact_failure" default:"5" min:"1"`
	SameTool   int `key:"same_tool_failure" default:"8" min:"1"`
	NoProgress int `key:"idempotent_no_progress" default:"5" min:"1"`
	Success    int `key:"repeated_success" default:"25" min:"2"`
}

// LoopCaps limit costly calls in one turn.
type LoopCaps struct {
	WebSearches int `key:"max_web_searches" default:"50" min:"0"`
	Subagents   int `key:"max_subagents" default:"50" min:"0"`
}

// Goals is the section goals.
type Goals struct {
	MaxTurns         int  `key:"max_turns" default:"20" min:"1"`
	ModelToolEnabled bool `key:"model_tool_enabled"`
}

// Delegation is the section delegation: subagents.
type Delegation struct {
	Model             string        `key:"model"`
	Provider          string        `key:"provider"`
	BaseURL           string        `key:"base_url"`
	APIKey            hermes.Secret `key:"api_key"`
	APIMode           string        `key:"api_mode"`
	MaxConcurrent     int           `key:"max_concurrent_children" default:"3" min:"1"` // of one session
	MaxDepth          int           `key:"max_spawn_depth" default:"1" min:"1" max:"3"` // a child of a conversation has depth 1
	Orchestrator      bool          `key:"orchestrator_enabled" default:"true"`
	WorktreeIsolation bool          `key:"worktree_isolation"`           // each child works in a worktree of its own
	CompressionTokens int           `key:"compression_threshold_tokens"` // 0: the parent's
	MaxIterations     Limit         `key:"max_iterations" default:"50"`  // steps of a child; 0: what its parent has left
	ChildTimeout      time.Duration `key:"child_timeout_seconds"`        // 0: none
	DefaultToolsets   []string      `key:"default_toolsets"`
}

// Agent returns the section agent.
func (c *Config) Agent() Agent { return section[Agent](c, "agent") }

// Guardrails returns the section tool_loop_guardrails.
func (c *Config) Guardrails() Guardrails { return section[Guardrails](c, "tool_loop_guardrails") }

// Goals returns the section goals.
func (c *Config) Goals() Goals { return section[Goals](c, "goals") }

// Delegation returns the section delegation.
func (c *Config) Delegation() Delegation { return section[Delegation](c, "delegation") }

// OwnPrompt returns the user's own text for the system prompt: agent.system_prompt and the
// chosen personality.
func (c *Config) OwnPrompt() string {
	agent := c.Agent()
	return strings.TrimSpace(strings.TrimSpace(agent.SystemPrompt) + "\n\n" + strings.TrimSpace(agent.Personalities[c.Display().Personality]))
}
