package chat

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/transport/base"
)

// The JSON format of messages.
type (
	message struct {
		Role             string            `json:"role"`
		Content          any               `json:"content"` // string, []part or null
		ReasoningContent *string           `json:"reasoning_content,omitempty"`
		ReasoningDetails []json.RawMessage `json:"reasoning_details,omitempty"`
		ToolCalls        []toolCall        `json:"tool_calls,omitempty"`
		ToolCallID       string            `json:"tool_call_id,omitempty"`
	}
	part struct {
		Type         string     `json:"type"`
		Text         string     `json:"text,omitempty"`
		ImageURL     *imageURL  `json:"image_url,omitempty"`
		CacheControl *base.Mark `json:"cache_control,omitempty"`
	}
	imageURL struct {
		URL string `json:"url"`
	}
	toolCall struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
		Extra    *extra   `json:"extra_content,omitempty"`
	}
	extra struct {
		Google google `json:"google"`
	}
	google struct {
		Signature string `json:"thought_signature"`
	}
	function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
)

// messages converts the system prompt and the transcript.
func (m *Model) messages(r *hermes.Request) []message {
	msgs := base.Sendable(r.Messages)
	kept := base.PairsOf(msgs)
	out := make([]message, 0, len(msgs)+2)
	if r.System != "" {
		out = append(out, message{Role: systemRole(m.cfg.Model), Content: r.System})
	}
	var shown []part // images of results, which a tool message cannot carry
	for i, msg := range msgs {
		switch msg.Role {
		case hermes.RoleUser:
			out = append(out, message{Role: "user", Content: userContent(msg)})
		case hermes.RoleAssistant:
			out = append(out, m.assistant(msg, kept.Calls[i]))
		case hermes.RoleTool:
			if kept.Results[i] {
				out = append(out, message{Role: "tool", ToolCallID: callID(msg.CallID), Content: cmp.Or(msg.Text(), base.NoOutput)})
				shown = append(shown, images(msg)...)
			}
			if last := i+1 == len(msgs) || msgs[i+1].Role != hermes.RoleTool; last && len(shown) > 0 {
				out = append(out, message{Role: "user", Content: slices.Insert(shown, 0, part{Type: "text", Text: "Images returned by the tools:"})})
				shown = nil
			}
		}
	}
	if m.marks() && !base.AskedOnce(r) {
		setMarks(out, r.CacheTTL(m.cfg.Quirks.CacheTTL))
	}
	return out
}

// callID keeps an id unchanged, since some services read it, unless it is longer
// than the strictest of them allow.
func callID(id string) string {
	const longest = 40
	if id != "" && len(id) <= longest {
		return id
	}
	return base.HashID(id)
}

// assistant converts a message of the model, with the calls that have a result.
func (m *Model) assistant(msg hermes.Message, answered []bool) message {
	w := message{Role: "assistant"}
	if text := msg.Text(); text != "" {
		w.Content = text
	}
	for i, c := range msg.Calls {
		if !answered[i] {
			continue
		}
		call := toolCall{ID: callID(c.ID), Type: "function", Function: function{c.Name, string(base.Object(c.Arguments))}}
		if m.cfg.Quirks.CallSignature && c.Signature != "" {
			call.Extra = &extra{google{c.Signature}}
		}
		w.ToolCalls = append(w.ToolCalls, call)
	}
	if w.Content == nil && len(w.ToolCalls) == 0 {
		w.Content = base.NoText
	}
	switch m.cfg.Quirks.Replay {
	case "reasoning_content":
		// Required only with calls; there it must be present, even if empty.
		if len(msg.Calls) > 0 {
			text := reasoningText(msg)
			w.ReasoningContent = &text
		}
	case "reasoning_details":
		for _, b := range msg.Reasoning {
			if b.Protocol == protocolName && json.Valid([]byte(b.Opaque)) {
				w.ReasoningDetails = append(w.ReasoningDetails, json.RawMessage(base.WellFormed(b.Opaque)))
			}
		}
	}
	return w
}

// protocolName marks the reasoning blocks of this protocol.
const protocolName = "chat"

func reasoningText(msg hermes.Message) string {
	var texts []string
	for _, b := range msg.Reasoning {
		if b.Text != "" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func userContent(msg hermes.Message) any {
	pictures := images(msg)
	if len(pictures) == 0 {
		return cmp.Or(msg.Text(), base.NoText)
	}
	var parts []part
	if text := msg.Text(); text != "" {
		parts = append(parts, part{Type: "text", Text: text})
	}
	return append(parts, pictures...)
}

func images(msg hermes.Message) []part {
	var parts []part
	for _, img := range base.Images(msg) {
		parts = append(parts, part{Type: "image_url", ImageURL: &imageURL{base.ImageURL(img)}})
	}
	return parts
}

// marks reports whether requests carry cache marks.
func (m *Model) marks() bool { return m.cfg.Quirks.CacheTTL != "" && isClaude(m.cfg.Model) }

// setMarks turns every content into a list of parts and marks the last part of
// the system prompt and of the last three other messages that have content
// (four without a system prompt).
func setMarks(list []message, ttl string) {
	for i := range list {
		if text, ok := list[i].Content.(string); ok {
			list[i].Content = []part{{Type: "text", Text: text}}
		}
	}
	mk := base.NewMark(ttl)
	left := 4
	for i := len(list) - 1; i >= 0 && left > 0; i-- {
		parts, _ := list[i].Content.([]part)
		if len(parts) == 0 {
			continue
		}
		if i > 0 && left == 1 && list[0].Role == "system" {
			continue // the last mark is the system prompt's
		}
		parts[len(parts)-1].CacheControl = mk
		left--
	}
}
