package chat

import (
	"bytes"
	"encoding/json"
	"strings"

	"hermes"
	"hermes/internal/transport/base"
)

// The JSON format of answers, the same for a chunk and a whole answer.
type (
	chunk struct {
		Choices []choice        `json:"choices"`
		Usage   *usage          `json:"usage"`
		Error   json.RawMessage `json:"error"`
		Object  string          `json:"object"`
		Detail  json.RawMessage `json:"detail"`
		Message json.RawMessage `json:"message"`
	}
	choice struct {
		Index        int             `json:"index"`
		Delta        *said           `json:"delta"`
		Message      *said           `json:"message"`
		FinishReason string          `json:"finish_reason"`
		Error        json.RawMessage `json:"error"`
	}
	said struct {
		Content          content           `json:"content"`
		Reasoning        string            `json:"reasoning"`
		ReasoningContent string            `json:"reasoning_content"`
		ReasoningDetails []json.RawMessage `json:"reasoning_details"`
		Refusal          string            `json:"refusal"`
		ToolCalls        []callPiece       `json:"tool_calls"`
		FunctionCall     *functionPiece    `json:"function_call"`
	}
	callPiece struct {
		Index    *int          `json:"index"`
		ID       string        `json:"id"`
		Function functionPiece `json:"function"`
		Extra    *extra        `json:"extra_content"`
	}
	functionPiece struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	}
	usage struct {
		PromptTokens     base.Count `json:"prompt_tokens"`
		CompletionTokens base.Count `json:"completion_tokens"`
		TotalTokens      base.Count `json:"total_tokens"`
		InputTokens      base.Count `json:"input_tokens"`
		OutputTokens     base.Count `json:"output_tokens"`
		CachedTokens     base.Count `json:"cached_tokens"`
		CacheHit         base.Count `json:"prompt_cache_hit_tokens"`
		CacheRead        base.Count `json:"cache_read_input_tokens"`
		CacheCreation    base.Count `json:"cache_creation_input_tokens"`
		Prompt           *struct {
			Cached   *base.Count `json:"cached_tokens"`
			Written  *base.Count `json:"cache_write_tokens"`
			Creation *base.Count `json:"cache_creation_tokens"`
		} `json:"prompt_tokens_details"`
		Completion *struct {
			Reasoning base.Count `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
		Cost        base.Dollars `json:"cost"`
		BYOK        *bool        `json:"is_byok"`
		CostDetails struct {
			Upstream base.Dollars `json:"upstream_inference_cost"`
		} `json:"cost_details"`
	}
)

// failed reports whether the chunk is an error instead of an answer.
func (c *chunk) failed() bool {
	if len(c.Error) > 0 && !isNothing(c.Error) {
		return true
	}
	if len(c.Choices) > 0 || c.Usage != nil {
		return false
	}
	return c.Object == "error" || len(c.Detail) > 0 || len(c.Message) > 0
}

func isNothing(raw json.RawMessage) bool {
	switch string(raw) {
	case "null", "false", `""`, "{}", "[]":
		return true
	}
	return false
}

// thought returns the reasoning of a delta. Services that fill several fields put
// the same text in each.
func (s *said) thought() string {
	if s.Reasoning != "" {
		return s.Reasoning
	}
	if s.ReasoningContent != "" {
		return s.ReasoningContent
	}
	var b strings.Builder
	for _, raw := range s.ReasoningDetails {
		var d detail
		if json.Unmarshal(raw, &d) == nil {
			b.WriteString(d.Text + d.Summary)
		}
	}
	return b.String()
}

// content is a text, null, or a list of parts, some of which are thinking.
type content struct{ text, thought string }

func (c *content) UnmarshalJSON(raw []byte) error {
	if len(raw) == 0 || raw[0] == '"' {
		return json.Unmarshal(raw, &c.text)
	}
	if raw[0] != '[' {
		return nil
	}
	var parts []struct {
		Type     string  `json:"type"`
		Text     string  `json:"text"`
		Thinking content `json:"thinking"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		c.text += p.Text
		c.thought += p.Thinking.text + p.Thinking.thought
	}
	return nil
}

// arguments is a piece of text, or, from some services, the object itself.
type arguments string

func (a *arguments) UnmarshalJSON(raw []byte) error {
	switch {
	case len(raw) > 0 && raw[0] == '"':
		var s string
		err := json.Unmarshal(raw, &s)
		*a = arguments(s)
		return err
	case string(raw) == "null":
		return nil
	}
	var b bytes.Buffer
	err := json.Compact(&b, raw)
	*a = arguments(b.String())
	return err
}

// tokens maps the usage: nested fields win over top-level ones, and the input
// excludes what went through the cache.
func (u *usage) tokens() *hermes.Usage {
	out := base.Tokens{
		Prompt: max(u.PromptTokens, u.InputTokens), Output: max(u.CompletionTokens, u.OutputTokens), Total: u.TotalTokens,
		CacheRead: max(u.CachedTokens, u.CacheHit, u.CacheRead), CacheWrite: u.CacheCreation,
	}
	if u.Prompt != nil {
		if u.Prompt.Cached != nil {
			out.CacheRead = *u.Prompt.Cached
		}
		if u.Prompt.Written != nil {
			out.CacheWrite = *u.Prompt.Written
		} else if u.Prompt.Creation != nil {
			out.CacheWrite = *u.Prompt.Creation
		}
	}
	if u.Completion != nil {
		out.Reasoning = u.Completion.Reasoning
	}
	return out.Usage()
}

// cost returns what the service says that the answer costs, nil if nothing.
func (u *usage) cost() *hermes.Money { return base.Cost(u.Cost, u.CostDetails.Upstream, u.BYOK) }
