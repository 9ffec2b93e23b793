package contextengine

import (
	"encoding/json"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/text"
)

const (
	prunedFrom = 400 // results shorter than this many bytes stay
	argsFrom   = 600 // arguments shorter than this many bytes stay
	keepValue  = 160 // bytes of a long text that stay in shortened arguments
)

// prune shortens the messages before the tail without a model: results of at
// least so many bytes become one line, long texts in arguments are cut within their
// JSON, and pictures are removed. The newest plan stays, because it has no other
// copy.
func (w *work) prune(tail, from int) {
	calls := w.callsByID()
	planned := false
	for i := len(w.entries) - 1; i >= 0; i-- {
		m := w.entries[i].m
		if m.Role == hermes.RoleTool {
			text := m.Text()
			_, plan := planOf(m)
			newest := plan && !planned
			planned = planned || plan
			if i < tail && !newest {
				w.pruneResult(i, m, text, calls[m.CallID], from)
			}
			continue
		}
		if i < tail && len(m.Calls) > 0 {
			w.pruneArguments(i, m)
		}
	}
}

func (w *work) callsByID() map[string]hermes.ToolCall {
	out := map[string]hermes.ToolCall{}
	for i := range w.entries {
		for _, c := range w.entries[i].m.Calls {
			out[c.ID] = c
		}
	}
	return out
}

func (w *work) pruneResult(i int, m hermes.Message, text string, c hermes.ToolCall, from int) {
	image := false
	for _, p := range m.Parts {
		image = image || p.Image != nil
	}
	if len(text) < from && !image || strings.HasPrefix(text, "[") && len(text) < 2*prunedFrom {
		return
	}
	m.Parts = []hermes.Part{{Text: oneLine(c, m, text)}}
	w.replace(i, m)
}

// oneLine says what a call did, in a form for its tool.
func oneLine(c hermes.ToolCall, m hermes.Message, result string) string {
	var args map[string]any
	_ = json.Unmarshal([]byte(c.Arguments), &args) // without arguments the line is only shorter
	arg := func(keys ...string) string {
		for _, k := range keys {
			if s, ok := args[k].(string); ok && s != "" {
				return text.Line(s, 120)
			}
		}
		return ""
	}
	lines := strings.Count(result, "\n") + strings.Count(result, `\n`) + 1
	state := ""
	if m.Failed {
		state = ", failed: " + text.Line(result, 160)
	}
	name := c.Name
	if name == "" {
		name = m.ToolName
	}
	switch name {
	case "terminal":
		return fmt.Sprintf("[terminal ran `%s`: %d lines of output%s]", arg("command"), lines, exitState(result, state))
	case "read_file":
		return fmt.Sprintf("[read_file %s: %d lines, read it again if needed%s]", arg("path"), lines, state)
	case "write_file", "patch":
		return fmt.Sprintf("[%s %s: done%s]", name, arg("path"), state)
	case "search_files":
		return fmt.Sprintf("[search_files for %q in %s: %d lines of results%s]", arg("pattern"), arg("path"), lines, state)
	case "web_search":
		return fmt.Sprintf("[web_search for %q: %d bytes of results%s]", arg("query"), len(result), state)
	}
	main := arg("path", "url", "query", "name", "command", "goal", "action")
	return fmt.Sprintf("[%s %s: %d bytes of result, shortened%s]", name, main, len(result), state)
}

// exitState returns the non-zero exit status of a result, else the state.
func exitState(text, state string) string {
	var r struct {
		Exit *int `json:"exit_code"`
	}
	if json.Unmarshal([]byte(text), &r) == nil && r.Exit != nil && *r.Exit != 0 {
		return fmt.Sprintf(", exit code %d", *r.Exit)
	}
	return state
}

func (w *work) pruneArguments(i int, m hermes.Message) {
	calls := append([]hermes.ToolCall(nil), m.Calls...)
	changed := false
	for k := range calls {
		if len(calls[k].Arguments) < argsFrom {
			continue
		}
		if short, ok := shrink(calls[k].Name, calls[k].Arguments); ok {
			calls[k].Arguments, changed = short, true
		}
	}
	if changed {
		m.Calls = calls
		w.replace(i, m)
	}
}

// shrink cuts long texts in JSON arguments. The JSON stays valid and keeps its
// structure, and a patch still names its files.
func shrink(name, arguments string) (string, bool) {
	var v any
	if json.Unmarshal([]byte(arguments), &v) != nil {
		return "", false
	}
	v = shrinkPatch(name, v)
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return "", false
	}
	out := strings.TrimSpace(b.String())
	return out, len(out) < len(arguments)
}

// shrinkPatch is shrinkValue for the arguments of a call. It keeps the lines of
// a patch that name files.
func shrinkPatch(name string, v any) any {
	args, _ := v.(map[string]any)
	text, _ := args["patch"].(string)
	v = shrinkValue(v, 0)
	if heads := patchHeads(text); name == "patch" && len(heads) > 0 && len(text) > 2*keepValue {
		args["patch"] = strings.Join(heads, "\n") + fmt.Sprintf("\n[%d bytes shortened]", len(text))
	}
	return v
}

func shrinkValue(v any, depth int) any {
	switch v := v.(type) {
	case string:
		if len(v) > 2*keepValue {
			return text.Clip(v, keepValue) + fmt.Sprintf(" [%d bytes shortened]", len(v)-keepValue)
		}
	case []any:
		if len(v) > 20 {
			v = v[:20]
		}
		for i := range v {
			v[i] = shrinkValue(v[i], depth+1)
		}
		return v
	case map[string]any:
		for k := range v {
			v[k] = shrinkValue(v[k], depth+1)
		}
	}
	return v
}
