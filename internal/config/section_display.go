package config

// Display is the section display: what the user sees.
type Display struct {
	ToolProgress         string         `key:"tool_progress" default:"all" oneof:"off new all verbose"`
	ToolProgressCommand  bool           `key:"tool_progress_command"`
	Platforms            map[string]any `key:"platforms"`
	InterimMessages      bool           `key:"interim_assistant_messages" default:"true"`
	ShowCommentary       bool           `key:"show_commentary" default:"true"`
	Skin                 string         `key:"skin" default:"default"`
	Interface            string         `key:"interface" oneof:"cli tui"`
	Compact              bool           `key:"compact"`
	ResumeDisplay        string         `key:"resume_display" default:"full" oneof:"full minimal"`
	BellOnComplete       bool           `key:"bell_on_complete"`
	BellOnPrompt         bool           `key:"bell_on_prompt"`
	ShowReasoning        bool           `key:"show_reasoning" default:"true"`
	Streaming            bool           `key:"streaming"`
	ShowCost             bool           `key:"show_cost"`
	VimMode              bool           `key:"vim_mode"`
	Timestamps           bool           `key:"timestamps"`
	TimestampFormat      string         `key:"timestamp_format" default:"%H:%M"`
	ToolPreviewLength    int            `key:"tool_preview_length" min:"0"` // 0: what fits
	TurnSummary          bool           `key:"turn_summary" default:"true"`
	SpinnerTokenFlow     bool           `key:"spinner_token_flow" default:"true"`
	RuntimeFooter        RuntimeFooter  `key:"runtime_footer"`
	StatusBar            StatusBar      `key:"status_bar"`
	FileMutationVerifier bool           `key:"file_mutation_verifier" default:"true"`
	FocusView            bool           `key:"focus_view"`
	Language             string         `key:"language" default:"en"`
	MultilineShortcuts   bool           `key:"cli_multiline_shortcuts" default:"true"`
	BackgroundProcesses  string         `key:"background_process_notifications" default:"all" oneof:"off result error all"`
	BusyInputMode        string         `key:"busy_input_mode" default:"queue" oneof:"queue steer interrupt"`
	MemoryNotifications  string         `key:"memory_notifications" default:"on" oneof:"off on verbose"`
	Personality          string         `key:"personality"`
}

// RuntimeFooter is the line below an answer.
type RuntimeFooter struct {
	Enabled bool     `key:"enabled"`
	Fields  []string `key:"fields" default:"[model, context_pct, cwd]"`
}

// StatusBar is the line at the bottom of the screen.
type StatusBar struct {
	Fields []string `key:"fields"`
}

// Display returns the section display.
func (c *Config) Display() Display { return section[Display](c, "display") }
