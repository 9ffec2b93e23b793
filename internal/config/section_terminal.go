package config

import "time"

// Terminal is the section terminal: where commands run. Each key has a variable
// TERMINAL_<KEY>.
type Terminal struct {
	Backend             string            `key:"backend" default:"local" oneof:"local docker ssh modal daytona vercel_sandbox singularity e2b runloop plugin:NAME" env:"TERMINAL_ENV"`
	PlatformBackends    map[string]string `key:"platform_backends"` // by platform, such as telegram; others have backend
	Cwd                 string            `key:"cwd" default:"."`
	TempDir             string            `key:"temp_dir"` // "": TMPDIR or the cache folder
	Timeout             time.Duration     `key:"timeout" default:"180" min:"1"`
	Sandbox             string            `key:"sandbox" default:"auto" oneof:"auto strict off" wrong:"strict"` // auto: the strongest walls that the host allows; strict: layer A or no commands
	HomeMode            string            `key:"home_mode" default:"auto" oneof:"auto real profile" planned:"command homes"`
	EnvPassthrough      []string          `key:"env_passthrough"`
	CredentialFiles     []string          `key:"credential_files"` // below ~, or in the home of Hermes
	PersistentShell     bool              `key:"persistent_shell" default:"true" planned:"persistent shell"`
	LocalPersistent     bool              `key:"local_persistent" planned:"persistent shell"`
	Lifetime            time.Duration     `key:"lifetime_seconds" default:"300"`
	OneshotWait         time.Duration     `key:"oneshot_completion_wait_seconds" planned:"finite runs"` // 0: do not wait
	SSHHost             string            `key:"ssh_host"`
	SSHUser             string            `key:"ssh_user"`
	SSHPort             int               `key:"ssh_port" default:"22"`
	SSHKey              string            `key:"ssh_key"`
	DockerImage         string            `key:"docker_image" default:"nikolaik/python-nodejs:python3.11-nodejs20"`
	SingularityImage    string            `key:"singularity_image" default:"docker://nikolaik/python-nodejs:python3.11-nodejs20"`
	ModalImage          string            `key:"modal_image" default:"nikolaik/python-nodejs:python3.11-nodejs20"`
	DaytonaImage        string            `key:"daytona_image" default:"nikolaik/python-nodejs:python3.11-nodejs20"`
	VercelRuntime       string            `key:"vercel_runtime" default:"node24"`
	E2BTemplate         string            `key:"e2b_template"`
	RunloopBlueprint    string            `key:"runloop_blueprint"`
	ContainerCPU        float64           `key:"container_cpu" default:"1" min:"0"`
	ContainerMemory     int               `key:"container_memory" default:"5120" min:"0"` // MB
	ContainerDisk       int               `key:"container_disk" default:"51200" min:"0"`  // MB
	ContainerPersistent bool              `key:"container_persistent" default:"true"`
	DockerVolumes       []string          `key:"docker_volumes"`
	DockerEnv           map[string]string `key:"docker_env"`
	DockerForwardEnv    []string          `key:"docker_forward_env"`
	DockerExtraArgs     []string          `key:"docker_extra_args"`
	DockerNetwork       bool              `key:"docker_network" default:"true"`
	DockerMountCwd      bool              `key:"docker_mount_cwd_to_workspace"`
	DockerRunAsHostUser bool              `key:"docker_run_as_host_user"`
	DockerSnapCompat    bool              `key:"docker_snap_compat"`
	DockerPersist       bool              `key:"docker_persist_across_processes" default:"true"`
	DockerContainerName string            `key:"docker_shared_container_key"`
	DockerOrphanReaper  bool              `key:"docker_orphan_reaper" default:"true"`
}

// CodeExecution is the section code_execution.
type CodeExecution struct {
	Mode              string        `key:"mode" default:"project" oneof:"project strict"`
	Timeout           time.Duration `key:"timeout" default:"300" min:"1"`
	MaxToolCalls      int           `key:"max_tool_calls" default:"50" min:"0"`
	KernelIdleTimeout time.Duration `key:"kernel_idle_timeout" default:"1800"`
	MaxSessionKernels int           `key:"max_session_kernels" default:"4" min:"1"`
}

// ToolOutput is the section tool_output: how much of a command's output the
// model sees.
type ToolOutput struct {
	MaxBytes      int `key:"max_bytes" default:"50000" min:"1000"`
	MaxLines      int `key:"max_lines" default:"2000" min:"10"`
	MaxLineLength int `key:"max_line_length" default:"2000" min:"80"`
}

// ToolBudget is the section tool_budget.
type ToolBudget struct {
	MCPResultChars int `key:"mcp_result_size_chars" default:"50000" min:"1000"`
	SpillChars     int `key:"spill_threshold_chars" default:"100000" min:"1000"`
}

// Checkpoints is the section checkpoints: snapshots of files before writes.
type Checkpoints struct {
	Enabled          bool `key:"enabled" default:"true"`
	MaxSnapshots     int  `key:"max_snapshots" default:"20" min:"1"`
	MaxTotalSizeMB   int  `key:"max_total_size_mb" default:"500" min:"1"`
	MaxFileSizeMB    int  `key:"max_file_size_mb" default:"10" min:"1"`
	AutoPrune        bool `key:"auto_prune" default:"true"`
	RetentionDays    int  `key:"retention_days" default:"7" min:"0"`
	MinIntervalHours int  `key:"min_interval_hours" default:"24" min:"0"`
}

// LSP is the section lsp: diagnostics of language servers after edits.
type LSP struct {
	Enabled         bool           `key:"enabled" default:"true"`
	WaitMode        string         `key:"wait_mode" default:"document" oneof:"document full"`
	WaitTimeout     time.Duration  `key:"wait_timeout" default:"5"`
	InstallStrategy string         `key:"install_strategy" default:"auto" oneof:"auto manual"`
	PackageManager  string         `key:"package_manager" default:"npm" oneof:"npm pnpm yarn"`
	IdleTimeout     time.Duration  `key:"idle_timeout" default:"600"` // 0: never
	Servers         map[string]any `key:"servers"`
}

// Terminal returns the section terminal.
func (c *Config) Terminal() Terminal { return section[Terminal](c, "terminal") }

// CodeExecution returns the section code_execution.
func (c *Config) CodeExecution() CodeExecution { return section[CodeExecution](c, "code_execution") }

// ToolOutput returns the section tool_output.
func (c *Config) ToolOutput() ToolOutput { return section[ToolOutput](c, "tool_output") }

// ToolBudget returns the section tool_budget.
func (c *Config) ToolBudget() ToolBudget { return section[ToolBudget](c, "tool_budget") }

// Checkpoints returns the section checkpoints.
func (c *Config) Checkpoints() Checkpoints { return section[Checkpoints](c, "checkpoints") }

// LSP returns the section lsp.
func (c *Config) LSP() LSP { return section[LSP](c, "lsp") }
