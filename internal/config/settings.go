package config

import "time"

// Settings is every known setting. Each field is one key; its tags describe it.
//
//	key      its name in config.yaml; the keys of a struct without it belong to its parent
//	default  the value if it is not set, written as in config.yaml
//	oneof    the texts allowed
//	min, max the smallest and the largest number allowed; seconds for a time
//	wrong    the value in place of a wrong one, if the default would be less careful
//	env      a variable that gives the value if config.yaml does not
//	prefix   (sections) the variable of every key is the prefix and its name in capitals
//	scalar   (sections) the key that is set by a single value in place of the section
//	also     another name of the key, which other programs write
//	planned  what the key waits for, one of capabilities; on a section, for all its keys
//	promises the value of a planned key that promises safety, or any
//	test     (approvals, security, privacy, spend) the test of internal/app or internal/cmd
//	         that shows the effect of the key; on a section, of all its keys
//
// Durations are written as seconds, or as 90s, 5m, 2h, 7d. Zero means "no limit" or
// "off" where a comment says so; null, none and off are read as zero there.
type Settings struct {
	General

	Model            Model                 `key:"model" scalar:"default"`
	Providers        map[string]Provider   `key:"providers"`
	Fallback         []Fallback            `key:"fallback_providers"`
	ModelAliases     map[string]ModelAlias `key:"model_aliases"`
	PoolStrategies   map[string]string     `key:"credential_pool_strategies"`
	Routing          Routing               `key:"provider_routing"`
	OpenRouter       OpenRouter            `key:"openrouter"`
	PromptCaching    PromptCaching         `key:"prompt_caching"`
	Auxiliary        AuxiliaryTasks        `key:"auxiliary"`
	MoA              MoA                   `key:"moa"`
	Agent            Agent                 `key:"agent"`
	Guardrails       Guardrails            `key:"tool_loop_guardrails"`
	Goals            Goals                 `key:"goals" planned:"goals"`
	Terminal         Terminal              `key:"terminal" prefix:"TERMINAL_"`
	CodeExecution    CodeExecution         `key:"code_execution"`
	ToolOutput       ToolOutput            `key:"tool_output"`
	ToolBudget       ToolBudget            `key:"tool_budget"`
	Compression      Compression           `key:"compression"`
	Context          Context               `key:"context"`
	Memory           Memory                `key:"memory"`
	Skills           Skills                `key:"skills"`
	Curator          Curator               `key:"curator"`
	Delegation       Delegation            `key:"delegation"`
	Checkpoints      Checkpoints           `key:"checkpoints"`
	Display          Display               `key:"display"`
	Approvals        Approvals             `key:"approvals"`
	Security         Security              `key:"security"`
	Audit            Audit                 `key:"audit"`
	Evidence         Evidence              `key:"evidence"`
	Privacy          Privacy               `key:"privacy" planned:"gateway"`
	Secrets          map[string]any        `key:"secrets" planned:"secret managers"`
	Proxy            map[string]any        `key:"proxy" planned:"external proxy"`
	Network          Network               `key:"network"`
	Database         Database              `key:"database"`
	Sessions         Sessions              `key:"sessions"`
	Session          Session               `key:"session"`
	Logging          Logging               `key:"logging"`
	Updates          Updates               `key:"updates" planned:"update"`
	Onboarding       Onboarding            `key:"onboarding" planned:"setup"`
	LSP              LSP                   `key:"lsp" planned:"language servers"`
	Streaming        Streaming             `key:"streaming" planned:"gateway"`
	Platforms        map[string]Platform   `key:"platforms" planned:"gateway"`
	Discord          Discord               `key:"discord" planned:"gateway"`
	HumanDelay       HumanDelay            `key:"human_delay" planned:"gateway"`
	QuickCommands    map[string]any        `key:"quick_commands" planned:"quick commands"`
	PlatformToolsets map[string][]string   `key:"platform_toolsets"`
	CustomToolsets   map[string]any        `key:"custom_toolsets"`
	MCP              MCP                   `key:"mcp"`
	MCPServers       map[string]any        `key:"mcp_servers"`
	Plugins          Plugins               `key:"plugins"`
	Hooks            map[string]any        `key:"hooks"`
	Spend            Spend                 `key:"spend"`
	Cron             Cron                  `key:"cron" planned:"cron"`
	Kanban           map[string]any        `key:"kanban" planned:"kanban"`
	BotPeers         map[string]any        `key:"bot_peers" planned:"gateway"`
	Dashboard        map[string]any        `key:"dashboard" planned:"web page"`
	Web              Web                   `key:"web"`
	Browser          Browser               `key:"browser"`
	STT              STT                   `key:"stt" planned:"speech"`
	TTS              TTS                   `key:"tts" planned:"speech"`
	Voice            Voice                 `key:"voice" planned:"speech"`
	Timeouts         Timeouts              `key:"timeouts"`
}

// General is the settings at the top level of the file.
type General struct {
	ContextFileMaxChars    int           `key:"context_file_max_chars"` // of a project file or SOUL.md; 0: 20,000
	ContextFileReadTimeout time.Duration `key:"context_file_read_timeout" default:"5"`
	FileReadMaxChars       int           `key:"file_read_max_chars" default:"100000" min:"1000"`
	MaxConcurrentSessions  int           `key:"max_concurrent_sessions" planned:"gateway"` // 0: no limit
	GroupSessionsPerUser   bool          `key:"group_sessions_per_user" default:"true" planned:"gateway"`
	ThreadSessionsPerUser  bool          `key:"thread_sessions_per_user" planned:"gateway"`
	UnauthorizedDM         string        `key:"unauthorized_dm_behavior" default:"pair" oneof:"pair ignore" planned:"gateway"`
	Timezone               string        `key:"timezone"` // "": the system's
	CommandAllowlist       []string      `key:"command_allowlist"`
	Toolsets               []string      `key:"toolsets"` // empty: the preset of the frontend
	HooksAutoAccept        bool          `key:"hooks_auto_accept" env:"HERMES_ACCEPT_HOOKS"`
	HooksIdleAfter         time.Duration `key:"hooks_idle_after_seconds" default:"60"` // 0: off
	Worktree               bool          `key:"worktree"`
	WorktreeSync           bool          `key:"worktree_sync" default:"true"`
}

// Location returns the time zone of days and months: the machine's own if the setting is
// empty or unknown.
func (g General) Location() *time.Location {
	if g.Timezone == "" {
		return time.Local
	}
	l, err := time.LoadLocation(g.Timezone)
	if err != nil {
		return time.Local
	}
	return l
}
