package codeexecution

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/order"
)

// positions is the order of arguments that scripts may leave unnamed. The others are by name.
var positions = map[string][]string{
	"browser_act":      {"action", "ref", "text", "to"},
	"browser_click":    {"ref"},
	"browser_navigate": {"url"},
	"browser_press":    {"key"},
	"browser_scroll":   {"direction", "ref"},
	"browser_tabs":     {"action", "id"},
	"browser_type":     {"ref", "text"},
	"patch":            {"path", "old_string", "new_string", "replace_all"},
	"read_file":        {"path", "offset", "limit"},
	"search_files":     {"pattern", "target", "path", "file_glob", "limit", "offset"},
	"terminal":         {"command", "timeout", "workdir"},
	"web_extract":      {"urls"},
	"web_search":       {"query", "limit"},
	"write_file":       {"path", "content"},
}

// parameter is one argument of a tool.
type parameter struct {
	Name     string
	Type     string
	Required bool
}

// parameters returns the arguments of a tool that scripts can use, in the order of a call.
func parameters(s hermes.Spec) []parameter {
	var schema struct {
		Properties map[string]struct {
			Type json.RawMessage `json:"type"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if json.Unmarshal(s.Schema, &schema) != nil {
		return nil
	}
	var all []parameter
	for name, p := range schema.Properties {
		if s.Name == "terminal" && slices.Contains(foreground[:], name) {
			continue
		}
		var kind string
		_ = json.Unmarshal(p.Type, &kind) // a list of types gets none
		all = append(all, parameter{name, kind, slices.Contains(schema.Required, name)})
	}
	rank := func(p parameter) int {
		if i := slices.Index(positions[s.Name], p.Name); i >= 0 {
			return i
		}
		return len(positions[s.Name])
	}
	order.By(all, func(a, b parameter) int {
		if a.Required != b.Required && a.Required {
			return -1
		} else if a.Required != b.Required {
			return 1
		}
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all
}

// pythonTypes are the types of JSON Schema in Python.
var pythonTypes = map[string]string{"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}

// pythonModule is the source of hermes_tools: a function for each tool that scripts of the
// session can call. _call is put into it by boot.py.
func pythonModule(h hermes.Host) string {
	var b strings.Builder
	b.WriteString("\"\"\"The tools of this session. Each returns the tool's result as parsed JSON.\"\"\"\n")
	for _, s := range scriptTools(h) {
		var given, named []string
		for _, p := range parameters(s) {
			text := p.Name
			if t := pythonTypes[p.Type]; t != "" {
				text += ": " + t
			}
			if !p.Required {
				text += " = None"
			}
			given = append(given, text)
			named = append(named, fmt.Sprintf("%s: %s", quoted(p.Name), p.Name))
		}
		fmt.Fprintf(&b, "\ndef %s(%s):\n    %s\n    return _call(%s, {%s})\n",
			s.Name, strings.Join(given, ", "), quoted(s.Description), quoted(s.Name), strings.Join(named, ", "))
	}
	why := map[string]string{}
	for _, s := range sessionTools(h) {
		if text := unavailable(s.Name, h); text != "" {
			why[s.Name] = text
		}
	}
	reasons, err := json.Marshal(why)
	if err != nil { // a map of strings always has a JSON form
		reasons = []byte("{}")
	}
	fmt.Fprintf(&b, "\n_why = %s\n\ndef __getattr__(name):\n    if name.startswith('__'):\n        raise AttributeError(name)\n    raise ImportError(_why.get(name) or %s.replace('\"?\"', repr(name)))\n", reasons, quoted(unavailable("?", h)))
	return b.String()
}

// quoted is a text as a literal of Python and JavaScript.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil { // a string always has a JSON form
		return `""`
	}
	return string(b)
}
