package config

import (
	"fmt"
	"maps"
	"slices"
)

// Display is the section display: what the user sees.
type Display struct {
	ToolProgress         string         `key:"tool_progress" default:"all" oneof:"off new all verbose"`
	ToolProgressCommand  bool           `key:"tool_progress_command" planned:"gateway"`
	Platforms            map[string]any `key:"platforms" planned:"gateway"`
	InterimMessages      bool           `key:"interim_assistant_messages" default:"true" planned:"gateway"`
	ShowCommentary       bool           `key:"show_commentary" default:"true" planned:"display options"`
	Skin                 string         `key:"skin" default:"default" planned:"skins"`
	Interface            string         `key:"interface" oneof:"cli tui" planned:"classic interface"`
	Compact              bool           `key:"compact" planned:"display options"`
	ResumeDisplay        string         `key:"resume_display" default:"full" oneof:"full minimal" planned:"display options"`
	BellOnComplete       bool           `key:"bell_on_complete"`
	BellOnPrompt         bool           `key:"bell_on_prompt"`
	ShowReasoning        bool           `key:"show_reasoning" default:"true"`
	Streaming            bool           `key:"streaming" planned:"display options"`
	ShowCost             bool           `key:"show_cost" planned:"display options"`
	VimMode              bool           `key:"vim_mode" planned:"vim keys"`
	Timestamps           bool           `key:"timestamps" planned:"display options"`
	TimestampFormat      string         `key:"timestamp_format" default:"%H:%M" planned:"display options"`
	ToolPreviewLength    int            `key:"tool_preview_length" min:"0"` // 0: what fits
	TurnSummary          bool           `key:"turn_summary" default:"true"`
	SpinnerTokenFlow     bool           `key:"spinner_token_flow" default:"true" planned:"display options"`
	RuntimeFooter        RuntimeFooter  `key:"runtime_footer" planned:"display options"`
	StatusBar            StatusBar      `key:"status_bar" planned:"display options"`
	FileMutationVerifier bool           `key:"file_mutation_verifier" default:"true" planned:"verification"`
	FocusView            bool           `key:"focus_view" planned:"display options"`
	Language             string         `key:"language" default:"en" planned:"translations"`
	MultilineShortcuts   bool           `key:"cli_multiline_shortcuts" default:"true" planned:"display options"`
	BackgroundProcesses  string         `key:"background_process_notifications" default:"all" oneof:"off result error all" planned:"gateway"`
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

// checkPersonality reports a personality that has no text.
func (c *Config) checkPersonality(add func(Problem)) {
	personalities := c.Agent().Personalities
	for _, e := range c.EntriesBelow("display", "personality") {
		name, _ := e.Value.(string)
		if _, known := personalities[name]; known || slices.Contains([]string{"", "none", "default", "neutral"}, name) {
			continue
		}
		p := Problem{Severity: Warning, File: e.File, Line: e.Line, Key: e.Key, Text: fmt.Sprintf("is %q, which is not in agent.personalities", name),
			Served: "it is ignored", Do: "Add it with `hermes config set agent.personalities." + name + " TEXT`"}
		if near := nearest(name, slices.Sorted(maps.Keys(personalities))); near != "" {
			p.Do = "Did you mean " + near + "?"
		}
		add(p)
	}
}
