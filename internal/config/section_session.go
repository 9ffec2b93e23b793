package config

import "time"

// Database is the section database.
type Database struct {
	JournalMode       string `key:"journal_mode" default:"wal" oneof:"wal delete"`
	Synchronous       string `key:"synchronous" oneof:"off normal full extra"` // "": the driver's choice
	WALAutocheckpoint int    `key:"wal_autocheckpoint"`                        // pages; 0: SQLite's own
	JournalSizeLimit  int    `key:"journal_size_limit"`                        // bytes; 0: none
	Backups           int    `key:"backups" default:"3" min:"0"`               // copies that are kept; 0: none
	BackupHours       int    `key:"backup_interval_hours" default:"24" min:"1"`
}

// Sessions is the section sessions: what is kept, and for how long.
type Sessions struct {
	AutoPrune             bool `key:"auto_prune" default:"true"`
	RetentionDays         int  `key:"retention_days" default:"90" min:"1"`
	MinIntervalHours      int  `key:"min_interval_hours" default:"24" min:"0"`
	VacuumAfterPrune      bool `key:"vacuum_after_prune" default:"true"`
	MinVacuumIntervalDays int  `key:"min_vacuum_interval_days" default:"30" min:"0"`
	Summaries             bool `key:"summaries" default:"true"`                    // what longer sessions were about
	MaxResumeMessages     int  `key:"max_resume_messages" default:"20000" min:"1"` // of its transcript: longer sessions are not resumed
	MaxExportMessages     int  `key:"max_export_messages" default:"20000" min:"1"`
}

// Session is the section session.
type Session struct {
	TerminalContinue bool `key:"terminal_continue" default:"true" planned:"terminal breadcrumbs"`
}

// Logging is the section logging.
type Logging struct {
	Level       string `key:"level" default:"info" oneof:"debug info warn error" env:"HERMES_LOG_LEVEL"`
	MaxSizeMB   int    `key:"max_size_mb" default:"5" min:"1"`
	BackupCount int    `key:"backup_count" default:"3" min:"0"`
}

// Updates is the section updates.
type Updates struct {
	PreUpdateBackup            string `key:"pre_update_backup" default:"quick" oneof:"quick full off"`
	BackupKeep                 int    `key:"backup_keep" default:"5" min:"0"`
	NonInteractiveLocalChanges string `key:"non_interactive_local_changes" default:"stash" oneof:"stash discard"`
	AutoSwitchParkedBranch     bool   `key:"auto_switch_parked_branch" default:"true"`
}

// Onboarding is the section onboarding.
type Onboarding struct {
	ProfileBuild string `key:"profile_build" default:"ask"`
}

// Cron is the section cron: scheduled jobs.
type Cron struct {
	Model                string        `key:"model"`
	WrapResponse         bool          `key:"wrap_response" default:"true"`
	MirrorDelivery       bool          `key:"mirror_delivery"`
	AllowAgentScheduling bool          `key:"allow_agent_scheduling"`
	MaxParallel          int           `key:"max_parallel" default:"4" min:"1" env:"HERMES_CRON_MAX_PARALLEL"`
	Timeout              time.Duration `key:"timeout" default:"600" env:"HERMES_CRON_TIMEOUT"`
	ScriptTimeout        time.Duration `key:"script_timeout_seconds" default:"3600"`
	Delivery             CronDelivery  `key:"delivery"`
}

// CronDelivery says how a job's result is delivered.
type CronDelivery struct {
	Notify       bool          `key:"notify" default:"true"`
	MediaTimeout time.Duration `key:"media_timeout" default:"300"`
}

// General returns the settings at the top level of the file.
func (c *Config) General() General { return section[General](c) }

// Database returns the section database.
func (c *Config) Database() Database { return section[Database](c, "database") }

// Sessions returns the section sessions.
func (c *Config) Sessions() Sessions { return section[Sessions](c, "sessions") }

// Session returns the section session.
func (c *Config) Session() Session { return section[Session](c, "session") }

// Logging returns the section logging.
func (c *Config) Logging() Logging { return section[Logging](c, "logging") }

// Updates returns the section updates.
func (c *Config) Updates() Updates { return section[Updates](c, "updates") }

// Onboarding returns the section onboarding.
func (c *Config) Onboarding() Onboarding { return section[Onboarding](c, "onboarding") }

// Cron returns the section cron.
func (c *Config) Cron() Cron { return section[Cron](c, "cron") }
