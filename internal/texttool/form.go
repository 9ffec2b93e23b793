package texttool

import (
	"encoding/json"
	"strings"

	"hermes/internal/lazy"
)

// tag is a form of call that begins with a fixed text at the start of a line
// and ends with another, or with the answer.
type tag struct {
	open, close string
	parse       func(body string, known func(string) bool) []Call
}

// tags are the forms, as the model families write them.
func tags() []tag {
	return []tag{
		{"<tool_call>", "</tool_call>", inside},
		{"<function_call>", "</function_call>", inside},
		{"<tools>", "</tools>", inside},
		{"<|python_tag|>", "", inside},
		{"[TOOL_CALLS]", "", inside},
		{"<function=", "</function>", func(body string, known func(string) bool) []Call { return parameters("<function="+body, known) }},
	}
}

// openTag checks whether text begins with a form. Undecided means that more text
// is needed.
func openTag(text string) (t *tag, decided bool) {
	decided = true
	for _, candidate := range tags() {
		if strings.HasPrefix(text, candidate.open) {
			return &candidate, true
		}
		if strings.HasPrefix(candidate.open, text) {
			decided = false
		}
	}
	return nil, decided
}

// inside reads the content between tags: JSON, or named parameters.
func inside(body string, known func(string) bool) []Call {
	if calls := list(body, known); len(calls) > 0 {
		return calls
	}
	return parameters(body, known)
}

// bare reads an answer that is only JSON, perhaps in a code fence.
func bare(text string, known func(string) bool) []Call {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		_, rest, _ = strings.Cut(rest, "\n")
		text = strings.TrimSuffix(strings.TrimSpace(rest), "```")
	}
	return list(text, known)
}

// mayBeBare reports whether text may be the beginning of an answer that is only
// a call.
func mayBeBare(text string) bool {
	text = strings.TrimLeft(text, " \r\n\t")
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		_, after, broken := strings.Cut(rest, "\n")
		if !broken {
			return len(rest) < 8
		}
		text = strings.TrimLeft(after, " \r\n\t")
	} else if strings.HasPrefix("```", text) {
		return true
	}
	text = strings.TrimLeft(text, "[ \r\n\t")
	if text == "" || text == "{" {
		return true
	}
	rest, ok := strings.CutPrefix(text, "{")
	if !ok {
		return false
	}
	rest = strings.TrimLeft(rest, " \r\n\t")
	for _, key := range []string{`"name"`, `"function"`, `"tool"`, `"type"`, `"arguments"`, `"parameters"`, `"id"`} {
		if strings.HasPrefix(rest, key) || strings.HasPrefix(key, rest) {
			return true
		}
	}
	return false
}

// spelled is a call as JSON, under the names that models use.
type spelled struct {
	Name       string          `json:"name"`
	Tool       string          `json:"tool"`
	Function   json.RawMessage `json:"function"`
	Arguments  json.RawMessage `json:"arguments"`
	Parameters json.RawMessage `json:"parameters"`
	Input      json.RawMessage `json:"input"`
}

// list reads one call or an array of them, or several objects in a row. It returns
// none unless all are calls of known tools.
func list(text string, known func(string) bool) []Call {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "[") {
		var items []json.RawMessage
		if json.Unmarshal([]byte(text), &items) != nil {
			return nil
		}
		return each(items, known)
	}
	var items []json.RawMessage
	d := json.NewDecoder(strings.NewReader(text))
	for d.More() {
		var item json.RawMessage
		if d.Decode(&item) != nil {
			return nil
		}
		items = append(items, item)
	}
	return each(items, known)
}

func each(items []json.RawMessage, known func(string) bool) []Call {
	var out []Call
	for _, item := range items {
		c, ok := one(item, known, 2)
		if !ok {
			return nil
		}
		out = append(out, c)
	}
	return out
}

func one(item json.RawMessage, known func(string) bool, depth int) (Call, bool) {
	var s spelled
	if depth == 0 || json.Unmarshal(item, &s) != nil {
		return Call{}, false
	}
	name := first(s.Name, s.Tool)
	if len(s.Function) > 0 && name == "" {
		var plain string
		if json.Unmarshal(s.Function, &plain) != nil {
			return one(s.Function, known, depth-1)
		}
		name = plain
	}
	if name == "" || !known(name) {
		return Call{}, false
	}
	arguments, ok := object(s.Arguments, s.Parameters, s.Input)
	return Call{Name: name, Arguments: arguments}, ok
}

// object returns the first candidate that is present, as a JSON object; the empty
// object if there is none.
func object(candidates ...json.RawMessage) (string, bool) {
	for _, c := range candidates {
		if len(c) == 0 || string(c) == "null" {
			continue
		}
		var inner string
		if json.Unmarshal(c, &inner) == nil {
			c = json.RawMessage(inner)
		}
		c = json.RawMessage(strings.TrimSpace(string(c)))
		return string(c), len(c) > 0 && c[0] == '{' && json.Valid(c)
	}
	return "{}", true
}

var (
	functionForm  = lazy.Regexp(`(?s)^\s*<function=([A-Za-z0-9_.\-]+)>(.*?)(?:</function>)?\s*$`)
	parameterForm = lazy.Regexp(`(?s)<parameter=([A-Za-z0-9_.\-]+)>(.*?)</parameter>`)
)

// parameters reads <function=name><parameter=key>value</parameter></function>.
// A value that is JSON other than a string is kept as JSON; the tool chain
// coerces the rest to the schema.
func parameters(body string, known func(string) bool) []Call {
	m := functionForm().FindStringSubmatch(body)
	if m == nil || !known(m[1]) {
		return nil
	}
	values := map[string]any{}
	for _, p := range parameterForm().FindAllStringSubmatch(m[2], -1) {
		values[p[1]] = strings.TrimSuffix(strings.TrimPrefix(p[2], "\n"), "\n")
	}
	text, err := json.Marshal(values)
	if err != nil {
		return nil
	}
	return []Call{{Name: m[1], Arguments: string(text)}}
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
