package config

import "time"

// Compression is the section compression: when and how a transcript is made
// shorter. Changes take effect on a running gateway.
type Compression struct {
	Enabled                bool               `key:"enabled" default:"true"`
	Threshold              float64            `key:"threshold" default:"0.50" max:"1"`             // share of the window
	ThresholdTokens        int                `key:"threshold_tokens"`                             // 0: no cap
	ModelThresholds        map[string]float64 `key:"model_thresholds" max:"1"`                     // threshold of single models: part of a name, or provider:part; the longest wins
	SmallWindowFloor       float64            `key:"small_window_floor" max:"1"`                   // least threshold of windows below 512K tokens; 0: none
	TargetRatio            float64            `key:"target_ratio" default:"0.20" min:"0"`          // size of the tail as a share of the threshold, in tail mode legacy
	TailMode               string             `key:"tail_mode" default:"lean" oneof:"lean legacy"` // lean: the tail is a fortieth of the window, 10,000 to 25,000 tokens, at most a fifth, and two fifths of the threshold
	ProtectLast            int                `key:"protect_last_n" default:"20" min:"0"`          // messages that stay as far as one and a half times the tail allows; at least 3 stay
	ProtectFirst           int                `key:"protect_first_n" default:"3" min:"0"`
	InPlace                bool               `key:"in_place" default:"true" planned:"session chains"`
	IdleAfter              time.Duration      `key:"idle_compact_after_seconds"` // without a turn; 0: off
	ProgressNotices        bool               `key:"progress_notices" planned:"gateway"`
	CheckpointRequired     bool               `key:"checkpoint_required" planned:"memory checkpoints"`
	HygieneMessageLimit    int                `key:"hygiene_hard_message_limit" default:"5000" min:"4" planned:"gateway"`
	HygieneTimeout         time.Duration      `key:"hygiene_timeout_seconds" default:"30" planned:"gateway"`
	HygieneTotalCeiling    time.Duration      `key:"hygiene_total_ceiling_seconds" default:"600" planned:"gateway"`
	HygieneMaxTurnHold     time.Duration      `key:"hygiene_max_turn_hold_seconds" default:"10" planned:"gateway"`
	HygieneFailureCooldown time.Duration      `key:"hygiene_failure_cooldown_seconds" default:"300" planned:"gateway"`
	ContextTimeout         time.Duration      `key:"context_timeout_seconds" default:"120"`                     // silence of a model that writes a summary, unless auxiliary.compression.timeout is set
	ContextTotalCeiling    time.Duration      `key:"context_total_ceiling_seconds" default:"600"`               // all models that are tried for one summary; 0: no limit
	PruneTokens            int                `key:"proactive_prune_tokens"`                                    // shorten old tool results from this size on; 0: off
	PruneMinResultChars    int                `key:"proactive_prune_min_result_chars" default:"8000" min:"0"`   // only results of at least this size
	PruneMinReclaimTokens  int                `key:"proactive_prune_min_reclaim_tokens" default:"4096" min:"0"` // only if this much is saved
}

// Context is the section context: what fills the window.
type Context struct {
	Engine      string         `key:"engine" default:"compressor"`         // compressor is the built-in one, else the name of a plugin
	PromptShare float64        `key:"prompt_share" default:"0.25" min:"0"` // share of the window that the system prompt may take
	Layers      map[string]int `key:"layers"`                              // maximum characters of single layers of the prompt; 0: no limit
}

// Memory is the section memory.
type Memory struct {
	Enabled       bool   `key:"memory_enabled" default:"true"`
	UserProfile   bool   `key:"user_profile_enabled" default:"true"`
	CharLimit     int    `key:"memory_char_limit" default:"2200" min:"100"`
	UserCharLimit int    `key:"user_char_limit" default:"1375" min:"100"`
	WriteApproval bool   `key:"write_approval"`
	Provider      string `key:"provider"`                            // "": only the built-in one
	NudgeInterval int    `key:"nudge_interval" default:"10" min:"0"` // user turns; 0: off
	FlushMinTurns int    `key:"flush_min_turns" default:"6" min:"0"` // 0: always
	// Scope user gives each user of a messenger their own USER.md.
	Scope    string `key:"scope" default:"shared" oneof:"shared user"`
	WhenFull string `key:"when_full" default:"error" oneof:"error archive"`
}

// Skills is the section skills.
type Skills struct {
	Config                map[string]any      `key:"config" planned:"skill settings"`
	GuardAgentCreated     bool                `key:"guard_agent_created"`
	WriteApproval         bool                `key:"write_approval"`
	Disabled              []string            `key:"disabled"`
	PlatformDisabled      map[string][]string `key:"platform_disabled"`
	ExternalDirs          []string            `key:"external_dirs"`
	CreateDir             string              `key:"create_dir"`
	CreationNudgeInterval int                 `key:"creation_nudge_interval" default:"10" min:"0"` // steps; 0: off
	Replay                string              `key:"replay" default:"auto" oneof:"auto off"`
	ReplayLosers          string              `key:"replay_losers" default:"pending" oneof:"pending drop"`
	ReplayMaxTokens       int                 `key:"replay_max_tokens" default:"60000" min:"1000"` // of one replay
}

// Curator is the section curator: what happens to unused skills.
type Curator struct {
	Enabled          bool          `key:"enabled" default:"true"`
	IntervalHours    int           `key:"interval_hours" default:"168" min:"1"`
	MinIdleHours     float64       `key:"min_idle_hours" default:"2" min:"0"`
	StaleAfterDays   int           `key:"stale_after_days" default:"30" min:"1"`
	ArchiveAfterDays int           `key:"archive_after_days" default:"90" min:"1"`
	Consolidate      bool          `key:"consolidate"`
	PruneBuiltins    bool          `key:"prune_builtins" default:"true"`
	ArchiveTTLDays   int           `key:"archive_ttl_days"` // 0: forever
	Backup           CuratorBackup `key:"backup"`
}

// CuratorBackup says how many snapshots the curator keeps.
type CuratorBackup struct {
	Enabled bool `key:"enabled" default:"true"`
	Keep    int  `key:"keep" default:"5" min:"1"`
}

// Compression returns the section compression.
func (c *Config) Compression() Compression { return section[Compression](c, "compression") }

// Context returns the section context.
func (c *Config) Context() Context { return section[Context](c, "context") }

// Memory returns the section memory.
func (c *Config) Memory() Memory { return section[Memory](c, "memory") }

// Skills returns the section skills.
func (c *Config) Skills() Skills { return section[Skills](c, "skills") }

// Curator returns the section curator.
func (c *Config) Curator() Curator { return section[Curator](c, "curator") }
