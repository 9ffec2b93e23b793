package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/transport/base"
)

// The JSON format of a conversation.
type (
	turn struct {
		Role    string  `json:"role"`
		Content []block `json:"content"`
	}
	block struct {
		Type         string          `json:"type"`
		Text         string          `json:"text,omitempty"`
		Source       *source         `json:"source,omitempty"`
		Thinking     *string         `json:"thinking,omitempty"`
		Signature    string          `json:"signature,omitempty"`
		Data         string          `json:"data,omitempty"`
		ID           string          `json:"id,omitempty"`
		Name         string          `json:"name,omitempty"`
		Input        json.RawMessage `json:"input,omitempty"`
		ToolUseID    string          `json:"tool_use_id,omitempty"`
		Content      []block         `json:"content,omitempty"`
		IsError      bool            `json:"is_error,omitempty"`
		CacheControl *base.Mark      `json:"cache_control,omitempty"`
	}
	source struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type,omitempty"`
		Data      string `json:"data,omitempty"`
		URL       string `json:"url,omitempty"`
	}
)

// begun is the first user turn if the transcript begins with the model's.
const begun = "(the conversation begins here)"

func systemBlocks(system string) []block {
	if strings.TrimSpace(system) == "" {
		return nil
	}
	return []block{{Type: "text", Text: system}}
}

// turns brings a transcript into the order that the protocol requires: a user turn
// first, alternating roles, each result in the turn after its call. Calls without
// a result and results without a call are left out.
func turns(msgs []hermes.Message) []turn {
	msgs = base.Sendable(msgs)
	kept := base.PairsOf(msgs)
	var (
		out []turn
		ids base.IDs
	)
	for i, msg := range msgs {
		switch msg.Role {
		case hermes.RoleUser:
			out = join(out, "user", userBlocks(msg))
		case hermes.RoleTool:
			if kept.Results[i] {
				out = join(out, "user", []block{result(msg, &ids)})
			}
		case hermes.RoleAssistant:
			out = join(out, "assistant", assistantBlocks(msg, kept.Calls[i], &ids))
		}
	}
	if len(out) == 0 || out[0].Role == "assistant" {
		out = append([]turn{{"user", []block{{Type: "text", Text: begun}}}}, out...)
	}
	return out
}

// join adds blocks to the last turn if it has the same role. Results come first in
// a turn, as the service requires.
func join(turns []turn, role string, blocks []block) []turn {
	n := len(turns)
	if n == 0 || turns[n-1].Role != role {
		return append(turns, turn{role, blocks})
	}
	last := &turns[n-1]
	if blocks[0].Type != "tool_result" {
		last.Content = append(last.Content, blocks...)
		return turns
	}
	at := slices.IndexFunc(last.Content, func(b block) bool { return b.Type != "tool_result" })
	if at < 0 {
		at = len(last.Content)
	}
	last.Content = slices.Insert(last.Content, at, blocks...)
	return turns
}

func userBlocks(msg hermes.Message) []block {
	blocks := parts(msg)
	if len(blocks) == 0 {
		return []block{{Type: "text", Text: base.NoText}}
	}
	return blocks
}

// parts returns the texts and images of a message without blank texts.
func parts(msg hermes.Message) []block {
	var blocks []block
	for _, p := range msg.Parts {
		switch {
		case p.Image != nil:
			blocks = append(blocks, block{Type: "image", Source: imageSource(p.Image)})
		case strings.TrimSpace(p.Text) != "":
			blocks = append(blocks, block{Type: "text", Text: p.Text})
		}
	}
	return blocks
}

func imageSource(img *hermes.Image) *source {
	if len(img.Data) == 0 {
		return &source{Type: "url", URL: img.URL}
	}
	kind, data := base.Base64(img)
	return &source{Type: "base64", MediaType: kind, Data: data}
}

func result(msg hermes.Message, ids *base.IDs) block {
	content := parts(msg)
	if len(content) == 0 {
		content = []block{{Type: "text", Text: base.NoOutput}}
	}
	return block{Type: "tool_result", ToolUseID: ids.Of(msg.CallID), Content: content, IsError: msg.Failed}
}

// assistantBlocks puts thinking first, then the text, then the calls that have
// a result.
func assistantBlocks(msg hermes.Message, answered []bool, ids *base.IDs) []block {
	var blocks []block
	for _, r := range msg.Reasoning {
		if b, ok := thinkingBlock(r); ok {
			blocks = append(blocks, b)
		}
	}
	said := parts(msg)
	blocks = append(blocks, said...)
	used := 0
	for i, c := range msg.Calls {
		if answered[i] {
			used++
			blocks = append(blocks, block{Type: "tool_use", ID: ids.Of(c.ID), Name: c.Name, Input: base.Object(c.Arguments)})
		}
	}
	if len(said)+used == 0 {
		blocks = append(blocks, block{Type: "text", Text: base.NoText})
	}
	return blocks
}

// protocolName marks the reasoning blocks of this protocol.
const protocolName = "anthropic"

// thinkingBlock returns the service's own block, unchanged. Thinking without its
// signature, or from another protocol, would be refused.
func thinkingBlock(r hermes.Reasoning) (block, bool) {
	switch {
	case r.Protocol != protocolName:
		return block{}, false
	case r.Opaque != "":
		return block{Type: "redacted_thinking", Data: r.Opaque}, true
	case r.Signature != "":
		return block{Type: "thinking", Thinking: &r.Text, Signature: r.Signature}, true
	}
	return block{}, false
}
