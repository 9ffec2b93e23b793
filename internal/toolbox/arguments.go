package toolbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/argument"
	"hermes/internal/order"
	"hermes/internal/text"
	"hermes/internal/toolset"
)

// prepare finds the tool of a call and fits the arguments to its schema. The
// problem is a text for the model that says why the call cannot run.
func (b *Toolbox) prepare(c *hermes.Call) (ready *call, problem string) {
	m, ok := b.set().Find(c.Name)
	if !ok {
		return nil, b.unknown(c.Name)
	}
	arguments, problem := fitted(m, c.Arguments)
	if problem != "" {
		return nil, problem
	}
	return &call{Call: &hermes.Call{ID: c.ID, Name: m.Spec.Name, Arguments: arguments, Host: c.Host}, Entry: m}, ""
}

// fitted returns arguments in canonical form. The problem is a text for the
// model that says why they are refused: two readers could understand them in two
// ways, they are no object, or a required one is missing.
func fitted(m toolset.Entry, raw json.RawMessage) (json.RawMessage, string) {
	arguments, problem := object(m.Spec.Name, raw)
	if problem != "" {
		return nil, problem
	}
	fit, problem := argument.Fit(arguments, m.Shape())
	if problem != "" {
		return nil, fmt.Sprintf("%s, so %s was not run; send each argument once, spelled as in the schema", problem, m.Spec.Name)
	}
	if problem = missing(m, raw, fit); problem != "" {
		return nil, problem
	}
	return fit, ""
}

// object checks that arguments are one JSON object. Empty arguments become an
// empty object, and an object sent as a JSON string is unpacked.
func object(tool string, arguments json.RawMessage) (json.RawMessage, string) {
	text := bytes.TrimSpace(arguments)
	if len(text) == 0 || string(text) == "null" || string(text) == `""` {
		return json.RawMessage("{}"), ""
	}
	var inner string
	if text[0] == '"' && json.Unmarshal(text, &inner) == nil {
		text = []byte(strings.TrimSpace(inner))
	}
	if !json.Valid(text) {
		return nil, fmt.Sprintf("the arguments of %s are not valid JSON, so the call was not run; send it again with one JSON object", tool)
	}
	if text[0] != '{' {
		return nil, fmt.Sprintf("the arguments of %s must be one JSON object, such as {\"name\": value}, so the call was not run", tool)
	}
	return text, ""
}

// missing returns a text that names the required arguments that the call lacks
// in canonical form, or "". sent is what the model wrote.
func missing(m toolset.Entry, sent, arguments json.RawMessage) string {
	required, _ := m.Shape()["required"].([]any)
	if len(required) == 0 {
		return ""
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(arguments, &given) != nil {
		return ""
	}
	var lacking, strange []string
	for _, r := range required {
		name, _ := r.(string)
		if _, ok := given[name]; !ok && name != "" {
			lacking = append(lacking, name)
		}
	}
	if len(lacking) == 0 {
		return ""
	}
	properties, _ := m.Shape()["properties"].(map[string]any)
	if object, _ := object(m.Spec.Name, sent); object != nil {
		_ = json.Unmarshal(object, &given) // it is valid: the names that were dropped
	}
	for name := range given {
		if _, ok := properties[name]; !ok {
			strange = append(strange, name)
		}
	}
	slices.Sort(strange)
	text := fmt.Sprintf("%s needs %s, which the call lacks", m.Spec.Name, quoted(lacking))
	if len(strange) > 0 {
		text += fmt.Sprintf(" (it has %s, which %s does not accept)", quoted(strange), m.Spec.Name)
	}
	return text + "; it was not run: send it again with all required arguments"
}

// unknown tells the model that a tool does not exist and lists those that do.
func (b *Toolbox) unknown(name string) string {
	names := b.set().Names()
	all := slices.Clone(names)
	for _, g := range b.set().Groups() {
		for _, s := range g.Tools {
			all = append(all, s.Name)
		}
	}
	if len(all) == 0 {
		return fmt.Sprintf("there is no tool %q: this session has no tools; answer in text", name)
	}
	text := fmt.Sprintf("there is no tool %q", name)
	slices.Sort(all)
	if near := nearest(name, slices.Compact(all)); len(near) > 0 {
		text += "; did you mean " + quoted(near) + "?"
	}
	const many = 40
	if len(names) <= many {
		text += " The tools are: " + strings.Join(names, ", ")
	}
	return text
}

// nearest lists up to three names that a misspelled name may mean.
func nearest(name string, names []string) []string {
	type guess struct {
		name string
		far  int
	}
	plain := func(s string) string {
		s = strings.ToLower(s)
		if _, after, ok := strings.Cut(s, "."); ok {
			s = after
		}
		return strings.NewReplacer("-", "", "_", "", " ", "").Replace(s)
	}
	word := plain(name)
	if word == "" {
		return nil
	}
	var guesses []guess
	for _, n := range names {
		p := plain(n)
		far := text.Edits(word, p)
		if strings.Contains(p, word) || strings.Contains(word, p) {
			far = min(far, 1)
		}
		if far <= max(1, len(p)/3) {
			guesses = append(guesses, guess{n, far})
		}
	}
	order.By(guesses, func(a, b guess) int { return a.far - b.far })
	var near []string
	for _, g := range guesses[:min(3, len(guesses))] {
		near = append(near, g.name)
	}
	return near
}

func quoted(names []string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(list, ", ")
}
