package toolbox

import (
	"encoding/json"
	"fmt"
	"strings"

	"hermes/internal/text"
)

// mainArguments names, for each tool, the arguments that best describe a call:
// the first one present is shown.
var mainArguments = map[string][]string{
	"browser_click":    {"ref"},
	"browser_navigate": {"url"},
	"browser_type":     {"text"},
	"clarify":          {"question"},
	"cronjob":          {"name", "job_id", "prompt"},
	"delegate_task":    {"goal"},
	"execute_code":     {"code"},
	"ha_call_service":  {"service"},
	"ha_get_state":     {"entity_id"},
	"image_generate":   {"prompt"},
	"memory":           {"content", "old_text"},
	"patch":            {"path", "patch"},
	"process":          {"session_id"},
	"read_file":        {"path"},
	"restore":          {"checkpoint"},
	"search_files":     {"pattern"},
	"send_message":     {"target", "message"},
	"session_search":   {"query", "session_id"},
	"skill_manage":     {"name"},
	"skill_view":       {"name"},
	"terminal":         {"command"},
	"text_to_speech":   {"text"},
	"vision_analyze":   {"question", "image_url"},
	"web_extract":      {"urls"},
	"web_search":       {"query"},
	"write_file":       {"path"},
}

// usual are the arguments to show for tools that are not in the table.
var usual = []string{"query", "command", "path", "url", "name", "prompt", "text", "content", "id", "action"}

// preview is the main argument of a call in one line of at most limit
// characters, "" if there is none.
func preview(tool string, arguments json.RawMessage, limit int) string {
	var given map[string]any
	if json.Unmarshal(arguments, &given) != nil {
		return ""
	}
	if tool == "todo" {
		return todoPreview(given)
	}
	shown := first(given, mainArguments[tool])
	if _, known := mainArguments[tool]; !known {
		shown = first(given, usual)
	}
	if tool == "patch" && strings.HasPrefix(strings.TrimSpace(shown), "***") {
		shown = strings.Join(filesOfPatch(shown), ", ")
	}
	if action, ok := given["action"].(string); ok && shown != action {
		shown = strings.TrimSpace(action + " " + shown)
	}
	if limit <= 0 {
		limit = len(shown)
	}
	return text.Line(shown, limit)
}

func first(given map[string]any, names []string) string {
	for _, name := range names {
		switch v := given[name].(type) {
		case string:
			if strings.TrimSpace(v) != "" {
				return v
			}
		case float64, bool:
			return fmt.Sprint(v)
		case []any:
			if len(v) == 0 {
				continue
			}
			if s, ok := v[0].(string); ok && len(v) > 1 {
				return fmt.Sprintf("%s (+%d)", s, len(v)-1)
			} else if ok {
				return s
			}
		}
	}
	return ""
}

func todoPreview(given map[string]any) string {
	items, ok := given["todos"].([]any)
	if !ok {
		return "read"
	}
	verb := "plan"
	if given["merge"] == true {
		verb = "update"
	}
	if len(items) == 1 {
		return verb + " 1 item"
	}
	return fmt.Sprintf("%s %d items", verb, len(items))
}
