package chat

import (
	"encoding/json"
	"strings"

	"hermes"
)

// thinking keeps the reasoning of an answer that must be sent back.
type thinking struct {
	text    strings.Builder
	details []json.RawMessage
	came    bool
}

func (t *thinking) any() bool { return t.came }

func (t *thinking) add(replay, text string, details []json.RawMessage) {
	t.came = t.came || text != "" || len(details) > 0
	switch replay {
	case "reasoning_content":
		t.text.WriteString(text)
	case "reasoning_details":
		t.details = append(t.details, details...)
	}
}

// blocks returns what must be sent back with the message.
func (t *thinking) blocks(replay string) []hermes.Reasoning {
	if replay == "reasoning_content" && t.text.Len() > 0 {
		return []hermes.Reasoning{{Protocol: protocolName, Text: t.text.String()}}
	}
	var out []hermes.Reasoning
	for _, d := range joinDetails(t.details) {
		raw, err := json.Marshal(d)
		if err != nil {
			continue
		}
		text, _ := d["text"].(string)
		summary, _ := d["summary"].(string)
		out = append(out, hermes.Reasoning{Protocol: protocolName, Text: text + summary, Opaque: string(raw)})
	}
	return out
}

// detail returns the part of a reasoning detail that is shown.
type detail struct {
	Text    string `json:"text"`
	Summary string `json:"summary"`
}

// joinDetails joins the pieces of reasoning details: neighbours with the same type
// and index are one block. Their texts are joined; of other fields (signature, id,
// format) the last value counts. Unknown fields are kept.
func joinDetails(raw []json.RawMessage) []map[string]any {
	var out []map[string]any
	for _, r := range raw {
		var d map[string]any
		if json.Unmarshal(r, &d) != nil || d == nil {
			continue
		}
		if n := len(out); n > 0 && out[n-1]["type"] == d["type"] && out[n-1]["index"] == d["index"] && d["type"] != "reasoning.encrypted" {
			join(out[n-1], d)
			continue
		}
		out = append(out, d)
	}
	return out
}

func join(into, from map[string]any) {
	for k, v := range from {
		old, _ := into[k].(string)
		piece, isText := v.(string)
		switch {
		case (k == "text" || k == "summary") && isText:
			into[k] = old + piece
		case v != nil:
			into[k] = v
		}
	}
}
