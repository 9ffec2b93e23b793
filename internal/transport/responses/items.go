package responses

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/transport/base"
)

// The JSON format of a conversation. Items have no ids, since nothing is stored at
// the service.
type (
	item struct {
		Type      string  `json:"type"`
		Role      string  `json:"role,omitempty"`
		Content   []part  `json:"content,omitempty"`
		Summary   *[]part `json:"summary,omitempty"`
		Encrypted string  `json:"encrypted_content,omitempty"`
		CallID    string  `json:"call_id,omitempty"`
		Output    []part  `json:"output,omitempty"`
	}
	part struct {
		Type     string `json:"type"`
		Text     string `json:"text,omitempty"`
		ImageURL string `json:"image_url,omitempty"`
	}
)

// protocolName marks the reasoning blocks of this protocol. commentary marks those
// that are the model's comments before its answer, not reasoning.
const (
	protocolName = "responses"
	commentary   = "commentary"
)

// writer writes the items of a conversation, each as soon as it is known, since a
// long session is sent with every step. Frequent items are written by hand, with
// the fields in the order of encoding/json.
type writer struct {
	b       *bytes.Buffer
	reasons bool // reasoning is sent back
	ids     base.IDs
	written int
}

// writeItems writes system prompt and transcript as a list.
func (m *Model) writeItems(b *bytes.Buffer, r *hermes.Request) error {
	msgs := base.Sendable(r.Messages)
	kept := base.PairsOf(msgs)
	w := writer{b: b, reasons: m.reasons()}
	b.WriteByte('[')
	if r.System != "" && !m.cfg.Quirks.Codex {
		w.message(systemRole(m.cfg.Model), "input_text", r.System, "")
	}
	for i, msg := range msgs {
		var err error
		switch msg.Role {
		case hermes.RoleUser:
			err = w.asked(msg)
		case hermes.RoleAssistant:
			err = w.said(msg, kept.Calls[i])
		case hermes.RoleTool:
			if kept.Results[i] {
				err = w.result(msg)
			}
		}
		if err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

// next begins an item.
func (w *writer) next() {
	if w.written > 0 {
		w.b.WriteByte(',')
	}
	w.written++
}

// item writes an item with encoding/json.
func (w *writer) item(it item) error {
	w.next()
	return base.JSON(w.b, it)
}

// message writes a message with one text.
func (w *writer) message(role, kind, text, phase string) {
	w.next()
	w.b.WriteString(`{"type":"message","role":"`)
	w.b.WriteString(role)
	w.b.WriteString(`","content":[{"type":"`)
	w.b.WriteString(kind)
	w.b.WriteByte('"')
	if text != "" {
		w.b.WriteString(`,"text":`)
		base.Text(w.b, text)
	}
	w.b.WriteString(`}]`)
	if phase != "" {
		w.b.WriteString(`,"phase":`)
		base.Text(w.b, phase)
	}
	w.b.WriteByte('}')
}

func (w *writer) asked(msg hermes.Message) error {
	if base.HasImages(msg) {
		return w.item(item{Type: "message", Role: "user", Content: inputs(msg)})
	}
	w.message("user", "input_text", cmp.Or(msg.Text(), base.NoText), "")
	return nil
}

// said writes reasoning first, then the text, then the calls that have a result.
// Reasoning must be followed by a text or a call; otherwise it is left out.
func (w *writer) said(msg hermes.Message, answered []bool) error {
	text := msg.Text()
	words := strings.TrimSpace(text) != ""
	said := words || slices.ContainsFunc(msg.Reasoning, isCommentary)
	if !said && !slices.Contains(answered, true) {
		w.message("assistant", "output_text", base.NoText, "")
		return nil
	}
	if err := w.thought(msg); err != nil {
		return err
	}
	if words {
		w.message("assistant", "output_text", text, "")
	}
	for i, c := range msg.Calls {
		if answered[i] {
			w.call(c)
		}
	}
	return nil
}

func (w *writer) call(c hermes.ToolCall) {
	w.next()
	w.b.WriteString(`{"type":"function_call","call_id":`)
	base.Text(w.b, w.ids.Of(c.ID))
	if c.Name != "" {
		w.b.WriteString(`,"name":`)
		base.Text(w.b, c.Name)
	}
	w.b.WriteString(`,"arguments":`)
	base.Text(w.b, base.ObjectText(c.Arguments))
	w.b.WriteByte('}')
}

// result writes the result of a call: a text, or parts if it has images.
func (w *writer) result(msg hermes.Message) error {
	if base.HasImages(msg) {
		return w.item(item{Type: "function_call_output", CallID: w.ids.Of(msg.CallID), Output: inputs(msg)})
	}
	w.next()
	w.b.WriteString(`{"type":"function_call_output","call_id":`)
	base.Text(w.b, w.ids.Of(msg.CallID))
	w.b.WriteString(`,"output":`)
	base.Text(w.b, cmp.Or(msg.Text(), base.NoOutput))
	w.b.WriteByte('}')
	return nil
}

// isCommentary reports a text before the answer, which needs no other text after it.
func isCommentary(t hermes.Reasoning) bool {
	return t.Protocol == protocolName && t.Signature == commentary
}

// thought writes the service's own reasoning, in its order. Reasoning without its
// encrypted form, or from another protocol, would be refused.
func (w *writer) thought(msg hermes.Message) error {
	for _, t := range msg.Reasoning {
		switch {
		case t.Protocol != protocolName:
		case t.Signature == commentary:
			w.message("assistant", "output_text", t.Text, commentary)
		case t.Opaque != "" && w.reasons:
			summary := []part{}
			if t.Text != "" {
				summary = append(summary, part{Type: "summary_text", Text: t.Text})
			}
			if err := w.item(item{Type: "reasoning", Summary: &summary, Encrypted: t.Opaque}); err != nil {
				return err
			}
		}
	}
	return nil
}

func inputs(msg hermes.Message) []part {
	var parts []part
	if text := msg.Text(); text != "" {
		parts = append(parts, part{Type: "input_text", Text: text})
	}
	for _, img := range base.Images(msg) {
		parts = append(parts, part{Type: "input_image", ImageURL: base.ImageURL(img)})
	}
	return parts
}
