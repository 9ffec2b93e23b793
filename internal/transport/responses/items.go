package responses

import (
	"cmp"
	"strings"

	"hermes"
	"hermes/internal/wire"
)

// The wire form of a conversation. No item has an id: nothing is stored at the
// service, so there would be nothing to find under it.
type (
	item struct {
		Type      string  `json:"type"`
		Role      string  `json:"role,omitempty"`
		Content   []part  `json:"content,omitempty"`
		Phase     string  `json:"phase,omitempty"`
		Summary   *[]part `json:"summary,omitempty"`
		Encrypted string  `json:"encrypted_content,omitempty"`
		CallID    string  `json:"call_id,omitempty"`
		Name      string  `json:"name,omitempty"`
		Arguments string  `json:"arguments,omitempty"`
		Output    any     `json:"output,omitempty"` // string or []part
	}
	part struct {
		Type     string `json:"type"`
		Text     string `json:"text,omitempty"`
		ImageURL string `json:"image_url,omitempty"`
	}
)

// wireName marks the reasoning blocks of this protocol; commentary marks those
// that are words of the model on the way, not reasoning.
const (
	wireName   = "responses"
	commentary = "commentary"
)

// items returns the wire form of system prompt and transcript.
func (m *Model) items(r *hermes.Request) []item {
	kept := wire.PairsOf(r.Messages)
	out := make([]item, 0, 2*len(r.Messages)+1)
	if r.System != "" && !m.cfg.Quirks.Codex {
		out = append(out, item{Type: "message", Role: systemRole(m.cfg.Model), Content: []part{{Type: "input_text", Text: r.System}}})
	}
	var ids wire.IDs
	for i, msg := range r.Messages {
		switch msg.Role {
		case hermes.RoleUser:
			out = append(out, item{Type: "message", Role: "user", Content: orElse(inputs(msg), wire.NoText)})
		case hermes.RoleAssistant:
			out = append(out, m.said(msg, kept.Calls[i], &ids)...)
		case hermes.RoleTool:
			if kept.Results[i] {
				out = append(out, item{Type: "function_call_output", CallID: ids.Of(msg.CallID), Output: output(msg)})
			}
		}
	}
	return out
}

// said puts reasoning first, then the words, then the calls that have a result.
func (m *Model) said(msg hermes.Message, answered []bool, ids *wire.IDs) []item {
	var rest []item
	if text := msg.Text(); strings.TrimSpace(text) != "" {
		rest = append(rest, message(text, ""))
	}
	for i, c := range msg.Calls {
		if answered[i] {
			rest = append(rest, item{Type: "function_call", CallID: ids.Of(c.ID), Name: c.Name, Arguments: string(wire.Object(c.Arguments))})
		}
	}
	if len(rest) == 0 {
		// Reasoning must be followed by what came of it, so it goes as well.
		return []item{message(wire.NoText, "")}
	}
	return append(m.thought(msg), rest...)
}

func message(text, phase string) item {
	return item{Type: "message", Role: "assistant", Phase: phase, Content: []part{{Type: "output_text", Text: text}}}
}

// thought gives back what the service wrote, in its order. Reasoning without
// its encrypted form, or from another protocol, would be refused.
func (m *Model) thought(msg hermes.Message) []item {
	var out []item
	for _, b := range msg.Reasoning {
		switch {
		case b.Wire != wireName:
		case b.Signature == commentary:
			out = append(out, message(b.Text, commentary))
		case b.Opaque != "" && m.reasons():
			summary := []part{}
			if b.Text != "" {
				summary = append(summary, part{Type: "summary_text", Text: b.Text})
			}
			out = append(out, item{Type: "reasoning", Summary: &summary, Encrypted: b.Opaque})
		}
	}
	return out
}

func inputs(msg hermes.Message) []part {
	var parts []part
	if text := msg.Text(); text != "" {
		parts = append(parts, part{Type: "input_text", Text: text})
	}
	for _, img := range wire.Images(msg) {
		parts = append(parts, part{Type: "input_image", ImageURL: wire.ImageURL(img)})
	}
	return parts
}

func orElse(parts []part, text string) []part {
	if len(parts) == 0 {
		return []part{{Type: "input_text", Text: text}}
	}
	return parts
}

// output is a result: a text, or parts where there are pictures.
func output(msg hermes.Message) any {
	if len(wire.Images(msg)) > 0 {
		return inputs(msg)
	}
	return cmp.Or(msg.Text(), wire.NoOutput)
}
