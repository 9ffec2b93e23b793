package script

import (
	"encoding/json"
	"fmt"
	"maps"

	"hermes"
	"hermes/internal/patch"
)

// claudeTool says how a tool is called in Claude Code.
type claudeTool struct {
	name string
	keys map[string]string // arguments, from our name to theirs
}

// claudeName returns the tool of Claude Code that does what a call of ours does. Tools that it does not
// have keep their names.
func claudeName(tool string, args map[string]any) claudeTool {
	switch tool {
	case "terminal":
		return claudeTool{"Bash", map[string]string{"background": "run_in_background"}}
	case "read_file":
		return claudeTool{"Read", map[string]string{"path": "file_path"}}
	case "write_file":
		return claudeTool{"Write", map[string]string{"path": "file_path"}}
	case "patch":
		return claudeTool{"Edit", map[string]string{"path": "file_path"}}
	case "search_files":
		if args["target"] == "files" {
			return claudeTool{"Glob", nil}
		}
		return claudeTool{"Grep", map[string]string{"file_glob": "glob"}}
	case "delegate_task":
		return claudeTool{"Task", map[string]string{"goal": "prompt", "context": "description"}}
	case "todo":
		return claudeTool{"TodoWrite", nil}
	case "web_extract":
		return claudeTool{"WebFetch", map[string]string{"urls": "url"}}
	case "web_search":
		return claudeTool{"WebSearch", nil}
	}
	return claudeTool{name: tool}
}

// claudeViews returns how scripts of Claude Code see a call: a patch of several files is an edit of each,
// so that a script which protects files sees all of them.
func claudeViews(tool string, args map[string]any, resolve func(string) string) []asked {
	as := claudeName(tool, args)
	absolute := func(in map[string]any) map[string]any {
		if path, ok := in["file_path"].(string); ok && resolve != nil {
			in["file_path"] = resolve(path)
		}
		return in
	}
	var views []asked
	if text, ok := args["patch"].(string); ok && tool == "patch" && text != "" {
		p, err := patch.Parse(text)
		if err != nil { // the tool refuses it
			views = append(views, asked{tool: as.name, input: map[string]any{"patch": text}, fixed: "a patch"})
		} else {
			for _, path := range p.Paths() {
				views = append(views, asked{tool: as.name, input: absolute(map[string]any{"file_path": path, "old_string": "", "new_string": text}), fixed: "a patch"})
			}
		}
		if path, _ := args["path"].(string); path == "" {
			return views
		} // else which of both the tool does depends on more than is known here: a script sees both
	}
	in := map[string]any{}
	for key, value := range args {
		if theirs, ok := as.keys[key]; ok {
			key = theirs
		}
		in[key] = value
	}
	if as.name == "Bash" {
		if s, ok := in["timeout"].(float64); ok {
			in["timeout"] = s * 1000 // in milliseconds there
		}
	}
	view := asked{tool: as.name, input: absolute(in)}
	if len(views) > 0 {
		view.fixed = "a patch"
	}
	return append(views, view)
}

// fromClaude returns the arguments of our tool for those that a script returned in Claude Code's
// names.
func fromClaude(tool string, args, updated map[string]any) map[string]any {
	as := claudeName(tool, args)
	ours := map[string]string{}
	for our, theirs := range as.keys {
		ours[theirs] = our
	}
	out := map[string]any{}
	for key, value := range updated {
		if our, ok := ours[key]; ok {
			key = our
		}
		out[key] = value
	}
	if as.name == "Bash" {
		if ms, ok := out["timeout"].(float64); ok {
			out["timeout"] = max(1, int(ms/1000))
		}
		delete(out, "description") // Claude Code has it, and scripts may add it
	}
	return out
}

// claudeInput adds what scripts of Claude Code read besides.
func (o Occasion) claudeInput(in map[string]any, view asked) {
	maps.Copy(in, o.Extra)
	in["transcript_path"] = o.transcript
	mode := map[hermes.RightsMode]string{hermes.ModePlan: "plan", hermes.ModeAcceptEdits: "acceptEdits", hermes.ModeYolo: "bypassPermissions"}[o.Session.Mode]
	if mode == "" {
		mode = "default"
	}
	in["permission_mode"] = mode
	if o.Call != nil {
		in["tool_use_id"] = o.Call.ID
	}
	if o.Result != nil {
		in["tool_response"] = claudeResponse(view, o.Result)
		if o.Result.Failed {
			in["error"] = o.Result.Text
		}
	}
}

// claudeResponse is a result in the form that scripts of Claude Code expect.
func claudeResponse(view asked, r *hermes.Result) map[string]any {
	out := map[string]any{}
	if json.Unmarshal([]byte(r.Text), &out) != nil || out == nil {
		out = map[string]any{"content": r.Text}
	}
	switch view.tool {
	case "Bash":
		out["stdout"], out["stderr"], out["interrupted"] = fmt.Sprint(orEmpty(out["output"])), "", false
	case "Write", "Edit", "Read":
		out["filePath"], out["success"] = view.input["file_path"], !r.Failed
	}
	return out
}

func orEmpty(v any) any {
	if v == nil {
		return ""
	}
	return v
}
