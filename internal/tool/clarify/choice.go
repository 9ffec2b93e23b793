package clarify

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strings"
)

// choice is a choice as the user sees it and as the model gets it back.
type choice struct{ shown, answer string }

// choices also accepts the list as a JSON string, as some models send it.
type choices []choice

// UnmarshalJSON reads a list, or a string with one.
func (l *choices) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		data = []byte(cmp.Or(strings.TrimSpace(text), "null"))
	}
	return json.Unmarshal(data, (*[]choice)(l))
}

// UnmarshalJSON reads a text, a number, true or false, or an object with a label.
// null is an empty choice.
func (c *choice) UnmarshalJSON(data []byte) error {
	switch data = bytes.TrimSpace(data); {
	case len(data) == 0 || data[0] == '[':
		return errors.New("a choice is a text, not a list")
	case data[0] == '{':
		return c.fromObject(data)
	}
	*c = textChoice(scalar(data), "")
	return nil
}

// textChoice makes a choice of a label and what explains it.
func textChoice(label, detail string) choice {
	label, detail = strings.TrimSpace(label), strings.TrimSpace(detail)
	c := choice{shown: label, answer: plain(label)}
	if detail != "" && label != "" {
		c.shown += " — " + detail
	}
	return c
}

// Names that models give to the parts of a choice, in the order of preference.
var (
	labelFields  = [...]string{"label", "title", "name", "text", "choice", "option", "value", "answer", "id", "key"}
	detailFields = [...]string{"description", "detail", "details", "explanation", "hint"}
)

func (c *choice) fromObject(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	label, detail := firstField(fields, labelFields[:]), firstField(fields, detailFields[:])
	if label == "" && len(fields) == 1 { // {"uv": "the fast one"}
		for name, raw := range fields {
			label, detail = name, scalar(raw)
		}
	}
	if label == "" && len(fields) > 0 {
		return errors.New("a choice without a label; send choices as texts")
	}
	*c = textChoice(label, detail)
	if scalar(fields["recommended"]) == "true" && c.answer != "" && plain(c.shown) == c.shown {
		c.shown += " (recommended)"
	}
	return nil
}

func firstField(fields map[string]json.RawMessage, names []string) string {
	for _, name := range names {
		if text := strings.TrimSpace(scalar(fields[name])); text != "" {
			return text
		}
	}
	return ""
}

// scalar returns a JSON text, number or truth value as text, and "" for others.
func scalar(raw json.RawMessage) string {
	var text string
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return text
	case len(raw) == 0, raw[0] == '{', raw[0] == '[', string(raw) == "null":
		return ""
	}
	return string(raw)
}
