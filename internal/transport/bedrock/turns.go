package bedrock

import (
	"encoding/base64"
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
		Text      string     `json:"text,omitempty"`
		Image     *image     `json:"image,omitempty"`
		Use       *use       `json:"toolUse,omitempty"`
		Result    *result    `json:"toolResult,omitempty"`
		Reasoning *reasoning `json:"reasoningContent,omitempty"`
		Cache     *point     `json:"cachePoint,omitempty"`
	}
	image struct {
		Format string `json:"format"`
		Source struct {
			Bytes []byte `json:"bytes"`
		} `json:"source"`
	}
	use struct {
		ID    string          `json:"toolUseId"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	result struct {
		ID      string  `json:"toolUseId"`
		Content []block `json:"content"`
		Status  string  `json:"status,omitempty"`
	}
	reasoning struct {
		Text     *reasoningText `json:"reasoningText,omitempty"`
		Redacted []byte         `json:"redactedContent,omitempty"`
	}
	reasoningText struct {
		Text      string `json:"text"`
		Signature string `json:"signature,omitempty"`
	}
	point struct {
		Type string `json:"type"`
		TTL  string `json:"ttl,omitempty"`
	}
)

const (
	protocolName = "bedrock"
	begun        = "(the conversation begins here)"
	// inWords ends the last turn if no calls are wanted: the protocol has no
	// other way to say it, and the tools must stay for the cache.
	inWords = "Answer in words now. Do not call a tool."
)

// turns brings a transcript into the order that the protocol requires: a user turn
// first, alternating roles, each result in the turn after its call. Calls without
// a result and results without a call are left out.
func turns(r *hermes.Request) []turn {
	msgs := base.Sendable(r.Messages)
	kept := base.PairsOf(msgs)
	var (
		out []turn
		ids base.IDs
	)
	for i, msg := range msgs {
		switch msg.Role {
		case hermes.RoleUser:
			out = add(out, "user", orElse(content(msg), base.NoText))
		case hermes.RoleTool:
			if kept.Results[i] {
				out = addResult(out, msg, ids.Of(msg.CallID))
			}
		case hermes.RoleAssistant:
			out = add(out, "assistant", spoken(msg, kept.Calls[i], &ids))
		}
	}
	if len(out) == 0 || out[0].Role == "assistant" {
		out = slices.Insert(out, 0, turn{"user", []block{{Text: begun}}})
	}
	if r.WordsOnly && len(r.Tools) > 0 {
		out = add(out, "user", []block{{Text: inWords}})
	}
	return out
}

// add joins blocks to the last turn if it has the same role.
func add(turns []turn, role string, blocks []block) []turn {
	if n := len(turns); n > 0 && turns[n-1].Role == role {
		turns[n-1].Content = append(turns[n-1].Content, blocks...)
		return turns
	}
	return append(turns, turn{role, blocks})
}

// addResult puts a result before the text of its turn, as the service requires.
func addResult(turns []turn, msg hermes.Message, id string) []turn {
	res := &result{ID: id, Content: orElse(content(msg), base.NoOutput)}
	if msg.Failed {
		res.Status = "error"
	}
	n := len(turns)
	if n == 0 || turns[n-1].Role != "user" {
		return append(turns, turn{"user", []block{{Result: res}}})
	}
	last := &turns[n-1]
	at := slices.IndexFunc(last.Content, func(b block) bool { return b.Result == nil })
	if at < 0 {
		at = len(last.Content)
	}
	last.Content = slices.Insert(last.Content, at, block{Result: res})
	return turns
}

// spoken puts reasoning first, then the text, then the calls that have a result.
func spoken(msg hermes.Message, answered []bool, ids *base.IDs) []block {
	var blocks []block
	for _, r := range msg.Reasoning {
		switch {
		case r.Protocol != protocolName:
		case r.Opaque != "":
			if raw, err := base64.StdEncoding.DecodeString(r.Opaque); err == nil {
				blocks = append(blocks, block{Reasoning: &reasoning{Redacted: raw}})
			}
		case r.Signature != "":
			blocks = append(blocks, block{Reasoning: &reasoning{Text: &reasoningText{r.Text, r.Signature}}})
		}
	}
	thoughts := len(blocks)
	blocks = append(blocks, content(msg)...)
	for i, c := range msg.Calls {
		if answered[i] {
			blocks = append(blocks, block{Use: &use{ids.Of(c.ID), c.Name, base.Object(c.Arguments)}})
		}
	}
	if len(blocks) == thoughts {
		return []block{{Text: base.NoText}}
	}
	return blocks
}

func orElse(blocks []block, text string) []block {
	if len(blocks) == 0 {
		return []block{{Text: text}}
	}
	return blocks
}

// content returns the texts and images of a message without blank texts. The
// service does not fetch addresses, so these are added as text.
func content(msg hermes.Message) []block {
	var blocks []block
	for _, p := range msg.Parts {
		switch {
		case p.Image != nil && len(p.Image.Data) > 0:
			img := &image{Format: format(p.Image)}
			img.Source.Bytes = p.Image.Data
			blocks = append(blocks, block{Image: img})
		case p.Image != nil:
			blocks = append(blocks, block{Text: "(an image that could not be loaded: " + p.Image.URL + ")"})
		case strings.TrimSpace(p.Text) != "":
			blocks = append(blocks, block{Text: p.Text})
		}
	}
	return blocks
}

func format(img *hermes.Image) string {
	switch kind := strings.TrimPrefix(strings.ToLower(img.MediaType), "image/"); kind {
	case "jpeg", "gif", "webp":
		return kind
	case "jpg":
		return "jpeg"
	}
	return "png"
}
