package bedrock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/schema"
	"hermes/internal/transport/base"
)

// encode writes the whole body.
func (m *Model) encode(r *hermes.Request) ([]byte, error) {
	conversation := turns(r)
	var system []block
	if strings.TrimSpace(r.System) != "" {
		system = []block{{Text: r.System}}
	}
	if m.cfg.Quirks.CacheTTL != "" && m.caches() {
		system = setPoints(system, conversation, r.CacheTTL(m.cfg.Quirks.CacheTTL))
	}
	var b bytes.Buffer
	b.Grow(base.Size(r))
	b.WriteByte('{')
	list, err := m.tools.Encode(toolsOf(r), encodeTools)
	if err != nil {
		return nil, err
	}
	b.Write(list)
	if len(system) > 0 {
		b.WriteString(`"system":`)
		if err := base.JSON(&b, system); err != nil {
			return nil, err
		}
		b.WriteByte(',')
	}
	b.WriteString(`"messages":`)
	if err := base.List(&b, conversation); err != nil {
		return nil, fmt.Errorf("encode the conversation: %w", err)
	}
	if err := m.writeTail(&b, r); err != nil {
		return nil, err
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// writeTail writes what may differ from call to call.
func (m *Model) writeTail(b *bytes.Buffer, r *hermes.Request) error {
	var inference struct {
		MaxTokens   int      `json:"maxTokens,omitempty"`
		Temperature *float64 `json:"temperature,omitempty"`
	}
	inference.MaxTokens, inference.Temperature = r.MaxTokens, base.Temperature(m.cfg.Model, r.Temperature)
	extra, budget := m.thinking(r)
	if budget > 0 && inference.MaxTokens > 0 {
		const answerRoom = 4_096
		inference.MaxTokens = max(inference.MaxTokens, budget+answerRoom)
		if r.Ceiling > 0 {
			inference.MaxTokens = min(inference.MaxTokens, r.Ceiling)
		}
	}
	if extra != "" && m.claude.Claude || m.claude.NoSample {
		inference.Temperature = nil // thinking needs the default
	}
	if inference.MaxTokens > 0 || inference.Temperature != nil {
		b.WriteString(`,"inferenceConfig":`)
		if err := base.JSON(b, inference); err != nil {
			return err
		}
	}
	if extra != "" {
		b.WriteString(`,"additionalModelRequestFields":` + extra)
	}
	return nil
}

// thinking returns the fields that request an effort, in the form of the model's
// family, and the budget in them.
func (m *Model) thinking(r *hermes.Request) (fields string, budget int) {
	on := r.Effort != "" && r.Effort != hermes.EffortNone
	name := strings.ToLower(m.cfg.Model)
	switch {
	case r.Effort == "":
	case m.claude.Claude && on && m.claude.Adaptive:
		return fmt.Sprintf(`{"thinking":{"type":"adaptive"},"output_config":{"effort":%q}}`, m.claude.EffortWord(r.Effort)), 0
	case m.claude.Claude && on && m.claude.Thinks && thinkingMayBegin(r.Messages):
		n := min(base.ThinkingBudget(r.Effort), m.claude.Output/2)
		if r.Ceiling > 0 {
			if n = min(n, r.Ceiling-r.Ceiling/4); n < base.LeastThinking {
				return "", 0
			}
		}
		return fmt.Sprintf(`{"thinking":{"type":"enabled","budget_tokens":%d}}`, n), n
	case m.claude.Claude:
	case strings.Contains(name, "gpt-oss"):
		return fmt.Sprintf(`{"reasoning_effort":%q}`, level(r.Effort)), 0
	case strings.Contains(name, "nova-2"):
		if !on {
			return `{"reasoningConfig":{"type":"disabled"}}`, 0
		}
		return fmt.Sprintf(`{"reasoningConfig":{"type":"enabled","maxReasoningEffort":%q}}`, strings.Replace(level(r.Effort), "high", "medium", 1)), 0 // high does not allow a token limit
	}
	return "", 0
}

// level returns the nearest of the three levels that most models know.
func level(e hermes.Effort) string {
	switch e {
	case hermes.EffortNone, hermes.EffortMinimal, hermes.EffortLow:
		return "low"
	case hermes.EffortMedium:
		return "medium"
	}
	return "high"
}

// thinkingMayBegin reports whether a thinking budget is allowed. After tool
// results, the service requires that the assistant's turn began with thinking,
// which is not so if another model began it.
func thinkingMayBegin(msgs []hermes.Message) bool {
	for _, msg := range slices.Backward(msgs) {
		switch msg.Role {
		case hermes.RoleUser:
			return true
		case hermes.RoleAssistant:
			return slices.ContainsFunc(msg.Reasoning, func(r hermes.Reasoning) bool {
				return r.Protocol == protocolName && r.Signature+r.Opaque != ""
			})
		}
	}
	return true
}

// toolsOf returns the tools of the request. If it has none but the conversation
// contains calls, the service still requires their tools to be declared.
func toolsOf(r *hermes.Request) []hermes.Spec {
	if len(r.Tools) > 0 {
		return r.Tools
	}
	var names []string
	for _, msg := range r.Messages {
		for _, c := range msg.Calls {
			if !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
		}
	}
	slices.Sort(names)
	var list []hermes.Spec
	for _, name := range names {
		list = append(list, hermes.Spec{Name: name, Description: "No longer available: do not call it."})
	}
	return list
}

func encodeTools(tools []hermes.Spec) ([]byte, error) {
	type input struct {
		JSON json.RawMessage `json:"json"`
	}
	type spec struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Input       input  `json:"inputSchema"`
	}
	type tool struct {
		Spec spec `json:"toolSpec"`
	}
	var list []tool
	for _, t := range tools {
		list = append(list, tool{spec{t.Name, t.Description, input{schema.Clean(t.Schema)}}})
	}
	var b bytes.Buffer
	b.WriteString(`"toolConfig":{"tools":`)
	if err := base.JSON(&b, list); err != nil {
		return nil, fmt.Errorf("encode tools: %w", err)
	}
	b.WriteString("},")
	return b.Bytes(), nil
}

// caches reports whether the model takes cache points.
func (m *Model) caches() bool {
	return m.claude.Claude || strings.Contains(strings.ToLower(m.cfg.Model), "amazon.nova")
}

// setPoints puts a cache point after the system prompt, which also covers the
// tools, and after the last three turns (four without a system prompt). A point
// must not follow reasoning.
func setPoints(system []block, turns []turn, ttl string) []block {
	p := &point{Type: "default"}
	if ttl == "1h" {
		p.TTL = ttl
	}
	left := 4
	if len(system) > 0 {
		system = append(system, block{Cache: p})
		left--
	}
	for i := len(turns) - 1; i >= 0 && left > 0; i-- {
		if last := turns[i].Content[len(turns[i].Content)-1]; last.Reasoning == nil {
			turns[i].Content = append(turns[i].Content, block{Cache: p})
			left--
		}
	}
	return system
}
