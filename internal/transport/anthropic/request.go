package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"

	"hermes"
	"hermes/internal/schema"
	"hermes/internal/transport/base"
)

// encode writes the whole body.
func (m *Model) encode(r *hermes.Request) ([]byte, error) {
	conversation := turns(r.Messages)
	system := systemBlocks(r.System)
	if m.cfg.Quirks.CacheTTL != "" && !base.AskedOnce(r) {
		setMarks(system, conversation, r.CacheTTL(m.cfg.Quirks.CacheTTL))
	}
	var b bytes.Buffer
	b.Grow(base.Size(r))
	b.WriteString(`{"model":`)
	if err := base.JSON(&b, m.cfg.Model); err != nil {
		return nil, err
	}
	if !m.cfg.Quirks.NoStream {
		b.WriteString(`,"stream":true`)
	}
	list, err := m.tools.Encode(r.Tools, encodeTools)
	if err != nil {
		return nil, err
	}
	b.Write(list)
	if len(system) > 0 {
		b.WriteString(`,"system":`)
		if err := base.JSON(&b, system); err != nil {
			return nil, err
		}
	}
	b.WriteString(`,"messages":`)
	if err := base.List(&b, conversation); err != nil {
		return nil, fmt.Errorf("encode the conversation: %w", err)
	}
	m.writeTail(&b, r, thinkingMayBegin(conversation))
	b.WriteByte('}')
	return b.Bytes(), nil
}

// writeTail writes what may differ from call to call.
func (m *Model) writeTail(b *bytes.Buffer, r *hermes.Request, mayBegin bool) {
	if r.WordsOnly && len(r.Tools) > 0 {
		b.WriteString(`,"tool_choice":{"type":"none"}`)
	}
	limit := r.MaxTokens
	if limit <= 0 {
		limit = m.outputLimit()
	}
	temperature := base.Temperature(m.cfg.Model, r.Temperature)
	if m.thinks(r) && (m.caps.Adaptive || mayBegin) {
		limit, temperature = m.writeThinking(b, r, limit, temperature)
	}
	fmt.Fprintf(b, `,"max_tokens":%d`, limit)
	if temperature != nil && !m.caps.NoSample {
		fmt.Fprintf(b, `,"temperature":%v`, *temperature)
	}
	if m.cfg.Quirks.Tier != "" {
		fmt.Fprintf(b, `,"service_tier":%q`, m.cfg.Quirks.Tier)
	}
}

// outputLimit is the model's own limit, reduced to what its server reports and to
// fit a smaller context window.
func (m *Model) outputLimit() int {
	limit := m.caps.Output
	if m.cfg.Quirks.MaxTokens > 0 {
		limit = m.cfg.Quirks.MaxTokens
	}
	window, output := m.cfg.Limits()
	if output > 0 {
		limit = min(limit, output)
	}
	if window > 0 && limit >= window {
		limit = window / 2
	}
	return limit
}

// thinks reports whether thinking is requested.
func (m *Model) thinks(r *hermes.Request) bool {
	if r.Effort == "" || r.Effort == hermes.EffortNone {
		return false
	}
	return !m.caps.Claude || m.caps.Thinks
}

// thinkingMayBegin reports whether a thinking budget is allowed. After tool
// results, the service requires that the assistant's turn began with thinking,
// which is not so if another model began it.
func thinkingMayBegin(turns []turn) bool {
	n := len(turns)
	if n < 2 || turns[n-1].Content[0].Type != "tool_result" {
		return true
	}
	first := turns[n-2].Content[0].Type
	return first == "thinking" || first == "redacted_thinking"
}

// writeThinking requests thinking, by effort or by a budget. A budget must fit in
// max_tokens and needs temperature 1. Where not even the least budget fits under
// the ceiling, there is no thinking.
func (m *Model) writeThinking(b *bytes.Buffer, r *hermes.Request, limit int, temperature *float64) (int, *float64) {
	if m.caps.Adaptive {
		fmt.Fprintf(b, `,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":%q}`, m.caps.EffortWord(r.Effort))
		return limit, nil
	}
	const answerRoom = 4_096
	n := base.ThinkingBudget(r.Effort)
	longest := m.outputLimit()
	if r.Ceiling > 0 {
		longest = min(longest, r.Ceiling)
		if longest-longest/4 < base.LeastThinking {
			return min(limit, longest), temperature
		}
	}
	limit = min(max(limit, n+answerRoom), longest)
	n = min(n, limit-limit/4)
	fmt.Fprintf(b, `,"thinking":{"type":"enabled","budget_tokens":%d}`, n)
	one := 1.0
	return limit, &one
}

// encodeTools writes the list of tools.
func encodeTools(tools []hermes.Spec) ([]byte, error) {
	type tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		InputSchema json.RawMessage `json:"input_schema"`
	}
	var list []tool
	for _, t := range tools {
		list = append(list, tool{t.Name, t.Description, schema.Clean(t.Schema)})
	}
	var b bytes.Buffer
	b.WriteString(`,"tools":`)
	if err := base.JSON(&b, list); err != nil {
		return nil, fmt.Errorf("encode tools: %w", err)
	}
	return b.Bytes(), nil
}
