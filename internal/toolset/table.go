package toolset

import (
	"slices"
	"strings"

	"hermes"
)

// row is a toolset of the table: tools, and other toolsets it includes.
type row struct {
	name     string
	tools    []string
	includes []string
	// optIn rows must be enabled by name; "all" does not include them.
	optIn bool
	// hint says in a few words what the tools are for, so that a model looks for them: a session is not
	// offered the tools of such a row, unless its run names it. They are found by a search.
	hint string
	// later rows are toolsets that this version does not have. Settings may name them, with no effect.
	later bool
}

// table lists the known toolsets: core toolsets first, then composites, then
// the presets of platforms. It names no tool that this program does not have.
var table = []row{
	{name: "browser", hint: "for pages that need clicks or input", tools: []string{
		"browser_act", "browser_back", "browser_cdp", "browser_click", "browser_console", "browser_dialog", "browser_files", "browser_get_images",
		"browser_navigate", "browser_press", "browser_scroll", "browser_snapshot", "browser_tabs", "browser_type", "browser_vision",
	}},
	{name: "browser-cdp", tools: []string{"browser_cdp", "browser_dialog"}},
	{name: "checkpoint", hint: "to save and restore files", tools: []string{"checkpoint", "restore"}},
	{name: "clarify", tools: []string{"clarify"}},
	{name: "code_execution", tools: []string{"execute_code"}},
	{name: "computer_use", later: true},
	{name: "connections", later: true},
	{name: "context_engine"},
	{name: "cronjob", later: true},
	{name: "delegation", tools: []string{"delegate_task"}},
	{name: "desktop_ui", optIn: true, later: true},
	{name: "discord", later: true},
	{name: "discord_admin", later: true},
	{name: "feishu_doc", later: true},
	{name: "feishu_drive", later: true},
	{name: "file", tools: []string{"patch", "read_file", "search_files", "write_file"}},
	{name: "homeassistant", later: true},
	{name: "image_gen", later: true},
	{name: "kanban", optIn: true, later: true},
	{name: "matrix_read", later: true},
	{name: "matrix_admin", optIn: true, later: true},
	{name: "learning", hint: "for fixes of errors", tools: []string{"learning"}},
	{name: "memory", tools: []string{"memory", "memory_search"}},
	{name: "messaging", hint: "to send the user or others a message in a chat app", tools: []string{"send_message"}},
	{name: "moa", hint: "to ask several models one hard question", tools: []string{"mixture_of_agents"}},
	{name: "project", optIn: true, later: true},
	{name: "rl", optIn: true, later: true},
	{name: "search", tools: []string{"web_search"}},
	{name: "session_search", tools: []string{"session_search"}},
	{name: "sessions", hint: "to ask other sessions", tools: []string{"sessions_list", "sessions_send"}},
	{name: "setup", later: true},
	{name: "skills", tools: []string{"skill_manage", "skill_view", "skills_list"}},
	{name: "terminal", tools: []string{"process", "terminal"}},
	{name: "todo", tools: []string{"todo"}},
	{name: Search, tools: []string{"tool_call", "tool_search"}},
	{name: "tts", later: true},
	{name: "video", optIn: true, later: true},
	{name: "video_gen", later: true},
	{name: "vision", later: true},
	{name: "web", tools: []string{"web_extract", "web_search"}},
	{name: "x_search", optIn: true, later: true},
	{name: "yuanbao", later: true},

	{name: "coding", includes: []string{
		"file", "checkpoint", "terminal", "search", "web", "skills", "browser", "todo", "memory", "learning", "session_search", "clarify",
		"code_execution", "delegation", "vision",
	}},
	{name: "debugging", includes: []string{"file", "terminal", "web"}},
	{name: "safe", includes: []string{"image_gen", "vision", "web"}},

	{name: "hermes-cli", includes: []string{
		"browser", "checkpoint", "clarify", "code_execution", "computer_use", "cronjob", "delegation", "file", "homeassistant", "image_gen", "kanban",
		"learning", "memory", "messaging", "moa", "session_search", "sessions", "skills", "terminal", "todo", "tts", "video_gen", "vision", "web",
	}},
	{name: "hermes-acp", includes: []string{
		"browser", "checkpoint", "code_execution", "delegation", "file", "learning", "memory", "messaging", "moa", "session_search", "sessions", "skills",
		"terminal", "todo", "video_gen", "vision", "web",
	}},
	{name: "hermes-api-server", includes: []string{
		"browser", "checkpoint", "code_execution", "cronjob", "delegation", "file", "homeassistant", "image_gen", "learning", "memory", "messaging", "moa",
		"session_search", "sessions", "skills", "terminal", "todo", "video_gen", "vision", "web",
	}},
	{name: "hermes-webhook", includes: []string{"clarify", "vision", "web"}},
	{name: "hermes-discord", includes: []string{"hermes-cli", "discord", "discord_admin"}},
	{name: "hermes-matrix", includes: []string{"hermes-cli", "matrix_read"}},
	{name: "hermes-feishu", includes: []string{"hermes-cli", "feishu_doc", "feishu_drive"}},
	{name: "hermes-yuanbao", includes: []string{"hermes-cli", "yuanbao"}},
	{name: "hermes-gateway", includes: []string{"hermes-cli", "hermes-discord", "hermes-feishu", "hermes-matrix", "hermes-yuanbao"}},
}

// likeCLI are the platforms that use the preset of the command line.
var likeCLI = []string{
	"bluebubbles", "cron", "dingtalk", "email", "homeassistant", "mattermost", "qqbot", "signal", "slack", "sms", "telegram", "wecom",
	"wecom-callback", "weixin", "whatsapp",
}

// renamed maps old toolset names, which config files may still have, to new ones.
func renamed(name string) string {
	switch name {
	case "image_tools", "image_gen_tools":
		return "image_gen"
	case "process":
		return "terminal"
	case "spotify":
		return "plugin-spotify"
	case "web_tools", "terminal_tools", "vision_tools", "moa_tools", "skills_tools", "browser_tools", "cronjob_tools", "rl_tools",
		"file_tools", "tts_tools", "todo_tools", "memory_tools", "session_search_tools", "clarify_tools", "delegation_tools",
		"code_execution_tools", "homeassistant_tools", "messaging_tools":
		return name[:len(name)-len("_tools")]
	}
	return name
}

// Canonical returns the name of a tool that is used here, also for a newer name.
func Canonical(tool string) string {
	switch tool {
	case "todo_list":
		return "todo"
	case "process_manage":
		return "process"
	case "cronjob_manage":
		return "cronjob"
	}
	return tool
}

// Coming reports whether a name is that of a toolset which this program does not have, but a later version
// will. Settings may name it, with no effect.
func (c *Catalogue) Coming(name string) bool {
	name = renamed(strings.TrimSpace(name))
	r, ok := find(name)
	return ok && r.later && !slices.ContainsFunc(c.all(), func(s hermes.Toolset) bool { return s.Name() == name })
}

// find returns the row of a toolset by its name or an old name.
func find(name string) (row, bool) {
	name = renamed(name)
	if platform, ok := cutPreset(name); ok && slices.Contains(likeCLI, platform) {
		return row{name: name, includes: []string{"hermes-cli"}}, true
	}
	for _, r := range table {
		if r.name == name {
			return r, true
		}
	}
	return row{}, false
}

// preset names the default toolset of a platform.
func preset(platform string) string {
	if _, ok := find("hermes-" + platform); ok {
		return "hermes-" + platform
	}
	return "hermes-cli"
}

func cutPreset(name string) (string, bool) {
	const prefix = "hermes-"
	if len(name) <= len(prefix) || name[:len(prefix)] != prefix {
		return "", false
	}
	return name[len(prefix):], true
}
