package demo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hermes/internal/chatserver"
	"hermes/internal/lazy"
)

// facts are the facts of a request, by the names that the script uses for them. A fact that the request
// does not contain is missing.
type facts map[string]string

// gather reads the facts from the prompt and the tool results.
func gather(r *chatserver.Request) facts {
	f := facts{}
	tools := map[string]string{} // by call id
	for _, m := range r.Messages {
		switch m.Role {
		case "system", "developer":
			f.prompt(m.Text())
		case "assistant":
			for _, c := range m.Calls {
				tools[c.ID] = c.Function.Name
			}
		case "tool":
			f.result(tools[m.ToolCallID], m.Text())
		}
	}
	return f
}

var inQuotes = lazy.Regexp("`([^`]+)`")

// prompt finds the note among the notes of memory, and the skill in the list of skills.
func (f facts) prompt(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, what, listed := strings.Cut(strings.TrimPrefix(line, "- "), ": ")
		switch {
		case strings.HasPrefix(line, noteBegins):
			f["note"] = line
			if m := inQuotes().FindStringSubmatch(line); m != nil {
				f["command"] = m[1]
			}
		case listed && strings.HasPrefix(what, skillFor):
			f["skill"] = name
		}
	}
}

func (f facts) result(tool, text string) {
	switch tool {
	case "skill_view":
		f.skill(text)
	case "session_search":
		f.search(text)
	case "terminal":
		f.output(text)
	}
}

var numbered = lazy.Regexp(`(?m)^\d+\. (.+)$`)

// skill takes the last step of the skill.
func (f facts) skill(text string) {
	if steps := numbered().FindAllStringSubmatch(text, -1); len(steps) > 0 {
		f["advice"] = steps[len(steps)-1][1]
	}
}

// search takes the best hit in another session, or the text of that message.
func (f facts) search(text string) {
	var found struct {
		Results []struct {
			Session string `json:"session_id"`
			Here    bool   `json:"this_session"`
			Message int64  `json:"match_message_id"`
		}
		Messages []struct {
			ID   int64
			Text string
		}
	}
	if json.NewDecoder(strings.NewReader(text)).Decode(&found) != nil {
		return
	}
	for _, hit := range slices.Backward(found.Results) {
		if !hit.Here {
			f["session"], f["message"] = hit.Session, fmt.Sprint(hit.Message)
		}
	}
	for _, m := range found.Messages {
		if lines := numbered().FindAllString(m.Text, -1); fmt.Sprint(m.ID) == f["message"] && len(lines) > 0 {
			f["found"] = "> " + strings.Join(lines, "\n> ")
		}
	}
}

var (
	verdict = lazy.Regexp(`all \d+ tests passed`)
	rate    = lazy.Regexp(`error rate: \d+ percent`)
)

// output takes the results of the tests and the report.
func (f facts) output(text string) {
	if v := verdict().FindString(text); v != "" {
		f["verdict"] = v
	}
	if v := rate().FindString(text); v != "" {
		f["rate"] = strings.Replace(v, ":", " of", 1)
	}
}

var named = lazy.Regexp(`\{[a-z]+\}`)

// fill puts the facts into a line of the script; missing names a missing fact.
func (f facts) fill(line string) (text, missing string) {
	return f.replace(line, func(v string) string { return v })
}

// fillJSON puts the facts into JSON arguments.
func (f facts) fillJSON(arguments string) (text, missing string) {
	return f.replace(arguments, func(v string) string {
		q := quote(v)
		return q[1 : len(q)-1]
	})
}

func (f facts) replace(line string, as func(string) string) (text, missing string) {
	text = named().ReplaceAllStringFunc(line, func(name string) string {
		name = strings.Trim(name, "{}")
		v, ok := f[name]
		if !ok {
			missing = name
		}
		return as(v)
	})
	return text, missing
}
