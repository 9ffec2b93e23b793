package demo_test

import (
	"encoding/json"
	"fmt"
	"strings"
)

// kept is what the minimal agent keeps between sessions: a note, a skill and the answers.
type kept struct {
	note, skill        string
	sessions           []string // the last words of each
	noMemory, noSkills bool     // omit them from the prompt
	broken             string   // a tool that reports success and keeps nothing
}

// prompt is the system prompt of a new session.
func (k *kept) prompt() string {
	var b strings.Builder
	if k.note != "" && !k.noMemory {
		fmt.Fprintf(&b, "MEMORY\n%s\n", k.note)
	}
	if k.skill != "" && !k.noSkills {
		_, what, _ := strings.Cut(k.skill, "description: ")
		what, _, _ = strings.Cut(what, "\n")
		fmt.Fprintf(&b, "<available_skills>\n- fix-failing-tests: %s\n</available_skills>\n", what)
	}
	return b.String()
}

// run runs the calls of memory, skills and search; ok is false for others.
func (k *kept) run(c call) (text string, ok bool) {
	var in struct {
		Content, Name, Query string
		Around               int64 `json:"around_message_id"`
	}
	if json.Unmarshal([]byte(c.Function.Arguments), &in) != nil {
		return "", false
	}
	works := c.Function.Name != k.broken
	switch c.Function.Name {
	case "memory":
		if works {
			k.note = in.Content
		}
		return `{"success":true}`, true
	case "skill_manage":
		if works {
			k.skill = in.Content
		}
		return `{"action":"create"}`, true
	case "skill_view":
		return k.skill, in.Name == "fix-failing-tests"
	case "session_search":
		return k.search(in.Query, in.Around), true
	}
	return "", false
}

// search finds the current session first, as a real search may.
func (k *kept) search(query string, around int64) string {
	type object = map[string]any
	out := object{"messages": []object{{"id": around, "text": k.sessions[0]}}}
	if query != "" {
		out = object{"results": []object{{"session_id": "here", "this_session": true, "match_message_id": 9}}}
		if strings.Contains(k.sessions[0], query) {
			out["results"] = append(out["results"].([]object), object{"session_id": "20261120-demo-1", "match_message_id": 7})
		}
	}
	data, err := json.Marshal(out)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
